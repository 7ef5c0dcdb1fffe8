"""Releases of new processes, which import all modules again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from pickle import PicklingError
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

from ...exceptions import AttackError


def released_in_new_processes(estimators: Sequence[Any], method: str, *arguments: Any) -> list[Any]:
    """Call a method of each estimator in a separate new process, which receives the estimator as a pickle.

    All copies in this process share its modules. A generator that a module created with a fixed seed continues in this
    process, but starts from its first state in each new process.

    Parameters
    ----------
    estimators : sequence of estimator
        Fitted estimators, usually the same estimator twice.
    method : str
        Name of the method, such as "transform".
    *arguments : object
        Arguments of the call.

    Returns
    -------
    list of object
        Result of each process, in the order of the estimators.

    Raises
    ------
    AttackError
        If an estimator cannot be pickled, or a process ends.
    """
    # One pool could give both calls to one process. joblib's processes need no guard of the main module.
    pools = [ProcessPoolExecutor(max_workers=1) for _ in estimators]
    try:
        calls = [pool.submit(_called, one, method, arguments) for pool, one in zip(pools, estimators, strict=True)]
        return [call.result() for call in calls]
    except (PicklingError, BrokenExecutor) as error:
        raise AttackError(
            f"The audit compares two processes, and {type(estimators[0]).__name__} could not be called in a new one "
            f"({type(error).__name__})."
        ) from None
    finally:
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)


def _called(estimator: Any, method: str, arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        # The same call in this process has warned already.
        warnings.simplefilter("ignore")
        return getattr(estimator, method)(*arguments)
