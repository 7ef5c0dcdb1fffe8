"""A file or folder is under its name when it is complete, and nothing else is left, whatever fails."""

import errno
import os
import stat

import pytest

from sklearn_deid._atomic import new_file, new_folder, write_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("existing", [None, b"old"])
def test_a_failure_leaves_the_old_file_or_none(tmp_path, error, existing):
    path = tmp_path / "state"
    if existing is not None:
        path.write_bytes(existing)
    with pytest.raises(error), new_file(path) as stream:
        stream.write(b"half")
        raise error
    assert names(tmp_path) == ([] if existing is None else ["state"])
    assert existing is None or path.read_bytes() == existing


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_file(tmp_path / "state", b"12345")
    assert caught.value.filename == str(tmp_path / "state")
    # The joined pieces of a table are written through the stream.
    with pytest.raises(OSError, match="No space") as caught, new_file(tmp_path / "table") as stream:
        stream.write(b"12345")
    assert caught.value.filename == str(tmp_path / "table")
    assert names(tmp_path) == []


def test_bytes_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    order, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append(os.fstat(fd).st_size), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("name"), replace(a, b)))
    write_file(tmp_path / "state", b"12345")
    assert order == [5, "name"]
    assert (tmp_path / "state").read_bytes() == b"12345"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_a_private_file_is_for_its_owner_from_the_first_byte_on(tmp_path, private, mode):
    before = os.umask(0o022)
    try:
        with new_file(tmp_path / "state", private=private):
            (work,) = tmp_path.iterdir()
            assert stat.S_IMODE(work.stat().st_mode) == mode
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == mode


def test_a_link_under_the_temporary_name_is_not_followed(tmp_path):
    victim, work = tmp_path / "victim", tmp_path / "state.part"
    victim.write_bytes(b"keep")
    work.symlink_to(victim)
    write_file(tmp_path / "state", b"new", work=work)
    assert victim.read_bytes() == b"keep" and names(tmp_path) == ["state", "victim"]


@pytest.mark.parametrize("replace", [True, False])
def test_a_folder_that_is_there_is_replaced_or_stays(tmp_path, replace):
    target = tmp_path / "made" / "model"
    for content in (b"old", b"new"):
        with new_folder(target, replace=replace) as work:
            (work / "weights").write_bytes(content)
    assert (target / "weights").read_bytes() == (b"new" if replace else b"old")
    assert names(target.parent) == ["model"]


def test_a_folder_made_meanwhile_by_another_process_stays(tmp_path, monkeypatch):
    target, rename = tmp_path / "corpus", os.replace

    def slower(source, goal):
        goal.mkdir()
        (goal / "theirs").write_bytes(b"same")
        rename(source, goal)

    monkeypatch.setattr(os, "replace", slower)
    with new_folder(target, replace=False) as work:
        (work / "ours").write_bytes(b"same")
    assert names(target) == ["theirs"] and names(tmp_path) == ["corpus"]


@pytest.mark.parametrize("existing", [True, False])
def test_a_failing_rename_brings_the_old_folder_back(tmp_path, monkeypatch, existing):
    target, rename = tmp_path / "model", os.replace
    if existing:
        with new_folder(target) as work:
            (work / "weights").write_bytes(b"old")

    def fail(source, goal):
        if goal == target and not str(source).endswith("-old"):
            raise OSError("no")
        rename(source, goal)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"), new_folder(target) as work:
        (work / "weights").write_bytes(b"new")
    assert names(tmp_path) == (["model"] if existing else [])
    assert not existing or (target / "weights").read_bytes() == b"old"
