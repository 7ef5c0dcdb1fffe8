"""One process of a site at a time."""

import subprocess
import sys
import time
from threading import Timer

import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated.sites.state_lock import StateLock


def test_second_holder_is_refused_until_the_first_releases(tmp_path):
    first = StateLock(tmp_path)
    with pytest.raises(ExchangeError, match="Another process still works with the same state folder"):
        StateLock(tmp_path, patience=0)
    first.release()
    first.release()  # nothing happens
    StateLock(tmp_path, patience=0).release()


def test_second_holder_waits(tmp_path):
    first = StateLock(tmp_path)
    begin = time.monotonic()
    Timer(0.3, first.release).start()
    StateLock(tmp_path, patience=60).release()
    assert 0.3 <= time.monotonic() - begin < 60


def test_lock_of_a_process_that_ends_is_free(tmp_path):
    take = (
        "import sys; from pathlib import Path; from sklearn_deid.federated.sites.state_lock import StateLock; "
        "StateLock(Path(sys.argv[1]), patience=0)"
    )
    subprocess.run([sys.executable, "-c", take, str(tmp_path)], check=True)
    StateLock(tmp_path, patience=0).release()


def test_file_is_its_owners_alone_and_empty(tmp_path):
    lock = StateLock(tmp_path)
    file = tmp_path / "lock"
    assert (file.stat().st_mode & 0o777, file.read_bytes()) == (0o600, b"")
    lock.release()
