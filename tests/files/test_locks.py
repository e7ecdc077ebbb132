"""Locks: one writer at a time, and none once the process has ended."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.atomic import atomic_path, lock, only_writer

HOLDS = """
import sys
from pathlib import Path
from muse.files.atomic import only_writer
with only_writer(Path("space")):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_folder_that_is_read_only_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refused)
    with (
        pytest.raises(BadFile, match=f"{tmp_path}: expected a writable folder, got Permission denied"),
        only_writer(tmp_path / "out"),
    ):
        pass


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(BadFile, match=rf"space: .*got another at it \(process {first.pid} on "):
            with only_writer(tmp_path / "space"):
                pytest.fail("there are two writers")
        first.kill()
        first.wait()
        with only_writer(tmp_path / "space"):  # the kill left the file, and no lock
            assert (tmp_path / ".space.lock").read_text().startswith(f"process {os.getpid()} on ")
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_another_account_left_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, opened = tmp_path / ".out.lock", os.open
    left.write_text("process 1 on another")

    def open_(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path) == left and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, mode)

    def unlink(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as in a folder such as /tmp

    monkeypatch.setattr("os.open", open_)
    monkeypatch.setattr("os.unlink", unlink)
    for _ in range(2):
        with only_writer(tmp_path / "out"):
            assert lock(left) is None
    assert left.read_text() == "process 1 on another"


def test_a_lock_ends_with_its_descriptor(tmp_path: Path) -> None:
    descriptor = lock(tmp_path)
    assert descriptor is not None
    assert lock(tmp_path) is None
    os.close(descriptor)
    again = lock(tmp_path)
    assert again is not None
    os.close(again)


def test_where_the_file_system_has_no_locks_nothing_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("muse.files.atomic.lock_descriptor", unknown)
    with only_writer(tmp_path / "out"), only_writer(tmp_path / "out"):
        pass
    # Nobody knows then whether another writer of the same name has ended.
    with atomic_path(tmp_path / "out") as first:
        first.write_text("first")
        with atomic_path(tmp_path / "out") as second:
            second.write_text("second")
    assert (tmp_path / "out").read_text() == "first"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
