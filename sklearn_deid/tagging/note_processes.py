"""Tag batches of texts in several processes, and return the results in the order of the batches."""

from __future__ import annotations

import gc
import io
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend.reduction import get_loky_pickler

from ..exceptions import DeidError
from .note_batches import NoteBatch
from .note_tagger import NoteTagger

# Smaller arrays are sent with the model: a file for each small array would cost more than it saves.
_LEAST_SHARED_BYTES = 2**16
# Batches for each other process: one to tag, and two that wait, so that the process never waits.
_BATCHES_A_PROCESS = 3
# Finished batches of this process behind a batch that another process tags. With one less, this process waited for a
# quarter of the time.
_BATCHES_AHEAD = 3
# Seconds after which a process notices that its parent was killed.
_PARENT_SECONDS = 1.0


def tag_batches(tagger: NoteTagger, batches: Iterable[NoteBatch], n_jobs: int) -> Generator[list[Any], None, None]:
    """Yield the results of the batches in their order.

    This process tags batches as well, and alone until another process has started. At most three batches for each other
    process are read ahead, and three for this process.

    Parameters
    ----------
    tagger : NoteTagger
        Function of a batch.
    batches : iterable of NoteBatch
        Texts. This process reads the batches.
    n_jobs : int
        Number of processes, this process included, at least 1.

    Raises
    ------
    DeidError
        If a process ends, for example because no memory is left. Results of earlier batches have already been yielded.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> batch = NoteBatch(["Mail to roe@example.org"], None)
    >>> found = tag_batches(NoteTagger(RuleTagger().fit([]), {}), [batch], n_jobs=2)
    >>> [[span.label for span in spans] for spans in next(found)]
    [['EMAIL']]
    """
    stream = iter(batches)
    first = list(islice(stream, 1 if n_jobs == 1 else 2))
    if len(first) < 2:
        yield from starmap(tagger, chain(first, stream))
    else:
        yield from _in_processes(tagger, chain(first, stream), n_jobs)


def _in_processes(tagger: NoteTagger, batches: Iterator[NoteBatch], n_jobs: int) -> Iterator[list[Any]]:
    n_threads = _threads(n_jobs)
    with tempfile.TemporaryDirectory(prefix="sklearn-deid-") as folder:
        packed = _packed(tagger, Path(folder))
        # joblib's processes need no guard of the main module and take classes that a notebook defines.
        pool = ProcessPoolExecutor(n_jobs - 1, initializer=_start, initargs=(packed, n_threads, os.getpid(), folder))
        try:
            yield from _in_order(tagger, batches, pool, n_jobs, n_threads)
        finally:
            # Also after an error and an interruption: results that are not yielded are not needed.
            pool.shutdown(wait=True, kill_workers=True)


def _in_order(
    tagger: NoteTagger, batches: Iterator[NoteBatch], pool: ProcessPoolExecutor, n_jobs: int, n_threads: int | None
) -> Iterator[list[Any]]:
    # This process is one of the jobs. With all batches in other processes, one more process has to start, and takes
    # turns with this one, which reads and writes, on the same core.
    waiting: deque[tuple[NoteBatch, Any]] = deque()
    most = _BATCHES_A_PROCESS * (n_jobs - 1)
    started = pool.submit(os.getpid)
    for batch in batches:
        # A process takes seconds to start. Until then, no result is waited for.
        n_free = most - sum(not found.done() for _, found in waiting) if started.done() else 0
        waiting.append((batch, _sent(pool, batch) if n_free > 0 else _tag_here(tagger, batch, n_threads)))
        while waiting and (waiting[0][1].done() or len(waiting) > most + _BATCHES_AHEAD):
            yield _result(waiting.popleft()[1])
    # This process would only wait for the last batches: it tags them as well, from the end.
    while waiting:
        left = [i for i, (_, found) in enumerate(waiting) if i > 0 and not found.done()]
        if left:
            batch = waiting[left[-1]][0]
            waiting[left[-1]] = batch, _tag_here(tagger, batch, n_threads)
        else:
            yield _result(waiting.popleft()[1])


def _sent(pool: ProcessPoolExecutor, batch: NoteBatch) -> Any:
    try:
        return pool.submit(_tag, batch)
    except BrokenExecutor as error:
        # The error is raised in the turn of the batch: the results before are not lost.
        broken: Future[list[Any]] = Future()
        broken.set_exception(error)
        return broken


def _tag_here(tagger: NoteTagger, batch: NoteBatch, n_threads: int | None) -> Future[list[Any]]:
    """Tag a batch in this process, with as many threads as each of the other processes has."""
    found: Future[list[Any]] = Future()
    torch = sys.modules.get("torch") if n_threads is not None else None
    n_before = None if torch is None else torch.get_num_threads()
    try:
        if torch is not None:
            torch.set_num_threads(n_threads)
        found.set_result(tagger(*batch))
    finally:
        if torch is not None:
            torch.set_num_threads(n_before)
    return found


def _result(future: Any) -> list[Any]:
    try:
        return future.result()
    except BrokenExecutor:
        pass
    raise DeidError(
        "A process that tags notes has ended, perhaps because the memory is used up. Use fewer jobs or smaller batches."
    )


def _threads(n_jobs: int) -> int | None:
    """Threads of each process; None if torch, which loads slowly, is not loaded."""
    torch = sys.modules.get("torch")
    return None if torch is None else max(1, torch.get_num_threads() // n_jobs)


# ---- in the other process

_taggers: list[NoteTagger] = []


def _start(packed: _Packed | NoteTagger, n_threads: int | None, parent: int, folder: str) -> None:
    """Prepare a new process. In the new process, ``packed`` is unpickled as the tagger."""
    threading.Thread(target=_end_with, args=(parent, folder), daemon=True).start()
    if n_threads is not None:
        import torch

        torch.set_num_threads(n_threads)
    # Ctrl-C reaches all processes of a terminal. The parent ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert isinstance(packed, NoteTagger)
    _taggers[:] = [packed]
    # joblib makes a process collect garbage once a second. Through all objects of torch and spaCy, this took as much
    # processor time as the notes.
    gc.freeze()


def _end_with(parent: int, folder: str) -> None:
    """End this process if its parent was killed. Otherwise, this process would wait for the next batch forever."""
    # Windows keeps the number of a parent that has ended.
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _tag(batch: NoteBatch) -> list[Any]:
    return _taggers[0](*batch)


# ---- the tagger, as a file beside the files of its large arrays, which all processes map


class _Packed(NamedTuple):
    """Bytes of an object in a file. In another process, unpickling returns the object.

    Without the file, processes would start one after another: each process would start only after the previous process
    has loaded its modules and read the bytes.
    """

    path: str

    def __reduce__(self) -> tuple[Any, ...]:
        return (pickle.loads, (_ArrayFile(self.path),))


class _ArrayFile(NamedTuple):
    """File of an array. In another process, unpickling returns the memory-mapped array."""

    path: str

    def __reduce__(self) -> tuple[Any, ...]:
        return (_mapped_array, (self.path,))


class _ArrayFiles:
    """Functions for pickling that write large arrays and tensors to files of a folder instead of the pickle."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.n_files = folder, 0

    def array(self, array: np.ndarray) -> Any:
        if array.dtype.kind not in "fiub" or array.nbytes < _LEAST_SHARED_BYTES:
            return array.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
        return _mapped_array, (self.write(array),)

    def tensor(self, tensor: Any) -> Any:
        import torch

        # numpy has no bfloat16, and a tensor with a gradient is more than its numbers.
        is_plain = tensor.device.type == "cpu" and tensor.layout is torch.strided and not tensor.requires_grad
        is_known = is_plain and tensor.dtype in (torch.float32, torch.float64, torch.int64)
        if not is_known or tensor.nbytes < _LEAST_SHARED_BYTES:
            return tensor.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
        return _mapped_tensor, (self.write(tensor.contiguous().numpy()),)

    def write(self, array: np.ndarray) -> str:
        path = self.folder / f"{self.n_files}.npy"
        self.n_files += 1
        np.save(path, array, allow_pickle=False)
        return str(path)


def _packed(tagger: NoteTagger, folder: Path) -> _Packed:
    stream, files = io.BytesIO(), _ArrayFiles(folder)
    reducers: dict[type, Any] = {np.ndarray: files.array}
    if "torch" in sys.modules:
        reducers[sys.modules["torch"].Tensor] = files.tensor
    get_loky_pickler()(stream, reducers=reducers).dump(tagger)
    return _Packed(files.write(np.frombuffer(stream.getbuffer(), np.uint8)))


def _mapped_array(path: str) -> np.ndarray:
    # Copy on write: no process can change the array of another one.
    return np.load(path, mmap_mode="c", allow_pickle=False)


def _mapped_tensor(path: str) -> Any:
    import torch

    return torch.from_numpy(_mapped_array(path))
