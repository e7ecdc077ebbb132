"""Atomic writes: whole under the name or not at all, whatever happens in between."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from muse.errors import BadFile
from muse.files import atomic
from muse.files.writing import check_place
from muse.sentences.encoders.saving import check_out as check_encoder_out
from muse.space import check_out
from tests.support.command import tree

FAULTS = [KeyboardInterrupt, SystemExit, MemoryError, OSError, ValueError]


@pytest.mark.parametrize("before", [{}, {"f": b"old"}])
def test_a_file_appears_whole(tmp_path: Path, before: dict[str, bytes]) -> None:
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with atomic.atomic_path(tmp_path / "f") as partial:
        partial.write_text("new")
        assert partial.parent == tmp_path
        assert {name: one for name, one in tree(tmp_path).items() if name[0] != "."} == before
    assert tree(tmp_path) == {"f": b"new"}


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o600)
    with atomic.atomic_path(path) as partial:
        partial.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the names of descriptors are in /proc")
def test_all_that_is_written_reaches_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def sync(descriptor: int) -> None:
        assert not any((tmp_path / name).exists() for name in ("file", "folder"))
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr("os.fsync", sync)
    with atomic.atomic_path(tmp_path / "file") as partial:
        partial.write_text("all")
    (tmp_path / "file").unlink()
    with atomic.atomic_folder(tmp_path / "folder") as partial:
        (partial / "in").mkdir()
        (partial / "in" / "a").write_text("all")
    assert [name.startswith(".file.") or name for name in synced] == [True, "a"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("write", [atomic.atomic_path, atomic.atomic_folder])
def test_a_fault_leaves_what_was_there(
    tmp_path: Path, fault: type[BaseException], before: bool, write: Callable[[Path], Any]
) -> None:
    inner = "x" if write is atomic.atomic_folder else ""
    if before:
        with write(tmp_path / "d") as partial:
            (partial / inner).write_text("old")
    was = tree(tmp_path)
    with pytest.raises(fault), write(tmp_path / "d") as partial:
        (partial / inner).write_text("half")
        raise fault
    assert tree(tmp_path) == was


def test_a_folder_that_cannot_take_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("old")
    was, rename = tree(tmp_path), Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.suffix == ".partial":
            raise OSError("busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="busy"), atomic.atomic_folder(tmp_path / "d") as partial:
        (partial / "x").write_text("new")
    assert tree(tmp_path) == was


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("renames", "left"), [(1, b"old"), (2, b"new")])
def test_a_ctrl_c_while_one_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException], renames: int, left: bytes
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("old")
    rename, calls = Path.rename, list[Path]()

    def interrupted(path: Path, target: Path) -> Path:
        renamed = rename(path, target)
        calls.append(path)
        if len(calls) == renames:
            raise fault
        return renamed

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(fault), atomic.atomic_folder(tmp_path / "d") as partial:
        (partial / "x").write_text("new")
    assert tree(tmp_path) == {"d": None, "d/x": left}


def test_folders_above_are_made_and_go_again(tmp_path: Path) -> None:
    for error in (KeyboardInterrupt, OSError):
        with pytest.raises(error), atomic.atomic_folder(tmp_path / "a" / "b" / "d"):
            raise error
        assert tree(tmp_path) == {}
    with atomic.atomic_folder(tmp_path / "a" / "b" / "d"):
        pass
    assert tree(tmp_path) == {"a": None, "a/b": None, "a/b/d": None}


def test_parents_are_made_and_removed_as_far_as_they_are_empty(tmp_path: Path) -> None:
    made = atomic.make_parents(tmp_path / "a" / "b" / "c.txt")
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    assert made[0].is_dir() and atomic.make_parents(tmp_path / "a" / "b" / "c.txt") == []
    (tmp_path / "a" / "mine.txt").touch()
    atomic.remove_empty(made)
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "mine.txt"]


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic.atomic_path(tmp_path / "f") as file, atomic.atomic_folder(tmp_path / "d") as folder:
        assert [one.stat().st_mode & 0o777 for one in (file, folder)] == [0o600, 0o700]
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "d").stat().st_mode & 0o777 != 0o700


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_without_modes_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("os.chmod", refused)
    with atomic.atomic_path(tmp_path / "file") as partial:
        partial.write_text("all")
    with atomic.atomic_folder(tmp_path / "folder") as partial:
        (partial / "a").write_text("all")
    assert tree(tmp_path) == {"file": b"all", "folder": None, "folder/a": b"all"}


def test_what_another_account_keeps_in_a_shared_folder_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").write_text("")
    tmp_path.chmod(0o1777)  # as /tmp
    for account in (0, tmp_path.stat().st_uid):
        monkeypatch.setattr("os.geteuid", lambda account=account: account)
        atomic.refuse_irreplaceable(tmp_path / "theirs")
    monkeypatch.setattr("os.geteuid", lambda: 12_345)
    atomic.refuse_irreplaceable(tmp_path / "free")
    with pytest.raises(BadFile, match="theirs: .* got what another account has written in"):
        check_place(tmp_path / "theirs")
    (tmp_path / "theirs").unlink()
    (tmp_path / "theirs").mkdir()
    for check in (check_out, check_encoder_out):
        with pytest.raises(BadFile, match="choose another name"):
            check(tmp_path / "theirs")
    tmp_path.chmod(0o777)
    atomic.refuse_irreplaceable(tmp_path / "theirs")


@pytest.mark.parametrize("name", [".", "..", "sub/..", "{}", "link", "../{}", "/"])
def test_the_working_folder_and_those_above_are_not_replaced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    out = Path(name.format(tmp_path.name if ".." in name else tmp_path))
    with pytest.raises(BadFile, match="another folder than the working one"):
        atomic.refuse_irreplaceable(out)
    atomic.refuse_irreplaceable(tmp_path / "sub")
    atomic.refuse_irreplaceable(Path("../free"))


@pytest.mark.parametrize("there", [False, True])
def test_several_files_appear_after_all_are_written(tmp_path: Path, there: bool) -> None:
    out = tmp_path / "above" / "out"
    if there:
        out.mkdir(parents=True)
        (out / "a").write_text("old")
        (out / "own").write_text("kept")
    before = tree(tmp_path)
    with pytest.raises(OSError, match="full"), atomic.atomic_files(out) as folder:
        (folder / "a").write_text("new")
        raise OSError("full")
    assert tree(tmp_path) == before
    with atomic.atomic_files(out) as folder:
        (folder / "a").write_text("new")
        (folder / "b").write_text("new too")
    own = {"own": b"kept"} if there else {}
    assert tree(out) == {"a": b"new", "b": b"new too", **own}


@pytest.mark.parametrize("by_link", [False, True])
def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path, by_link: bool) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    path = tmp_path / ("link" if by_link else "fifo")
    with pytest.raises(BadFile, match="expected the name of a file, got a device or a pipe"):
        with atomic.atomic_path(path):
            pytest.fail("it was opened for writing")
    assert path.is_fifo() and path.is_symlink() == by_link


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "to" / "f")
    with atomic.atomic_path(tmp_path / "link") as partial:
        partial.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert tree(tmp_path / "to") == {"f": b"new"}


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "é" * 127):
        with atomic.atomic_path(tmp_path / name) as partial:
            partial.write_text("new")
        assert (tmp_path / name).read_text() == "new"


KILLED = """
import os, signal, sys
from pathlib import Path
from muse.files.atomic import atomic_folder, atomic_path
with atomic_path(Path("f")) as file, atomic_folder(Path("d")) as folder:
    file.write_text("half")
    (folder / "x").write_text("half")
    if "wait" in sys.argv:
        print("ready", flush=True)
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_goes_with_the_next(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.glob(".*.partial"))) == 2
    (tmp_path / ".f.mine.partial").write_text("of another program")
    with atomic.atomic_path(tmp_path / "f") as file, atomic.atomic_folder(tmp_path / "d") as folder:
        file.write_text("new")
        (folder / "x").write_text("new")
    assert sorted(one.name for one in tmp_path.iterdir()) == [".f.mine.partial", "d", "f"]


def test_no_write_lists_the_folder_it_writes_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, listdir, scandir = list[str](), os.listdir, os.scandir

    def note(list_: Callable[..., Any]) -> Callable[..., Any]:
        def noted(place: Any = ".") -> Any:
            listed.append(str(place))
            return list_(place)

        return noted

    (tmp_path / "there").mkdir()
    monkeypatch.setattr("os.listdir", note(listdir))
    monkeypatch.setattr("os.scandir", note(scandir))
    for path in (tmp_path / "f", tmp_path / "there" / "f"):
        with atomic.atomic_path(path) as partial:
            partial.write_text("new")
    for _ in range(2):
        with atomic.atomic_folder(tmp_path / "d"):
            pass
    with atomic.atomic_files(tmp_path / "there") as folder:
        (folder / "a").write_text("new")
    assert not {str(tmp_path), str(tmp_path / "there")} & set(listed)


@pytest.mark.parametrize("there", [True, False])
def test_what_a_kill_left_aside_is_found_and_put_back(tmp_path: Path, there: bool) -> None:
    # Killed before the new folder had its place, or after.
    for name in [".d.0.old"] + ["d"] * there:
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    found = atomic.read_whole(tmp_path / "d", lambda place: (place / "x").read_text())
    assert found == ("d" if there else ".d.0.old")
    with atomic.atomic_folder(tmp_path / "d") as partial:
        assert (tmp_path / "d" / "x").read_text() == found
        (partial / "x").write_text("new")
    assert tree(tmp_path) == {"d": None, "d/x": b"new"}


def test_writers_of_one_name_each_have_their_own_file(tmp_path: Path) -> None:
    with ExitStack() as stack:
        partials = [stack.enter_context(atomic.atomic_path(tmp_path / "f")) for _ in range(12)]
        assert len(set(partials)) == 12
        for number, partial in enumerate(partials):
            partial.write_text(str(number))
    assert tree(tmp_path) == {"f": b"0"}  # the last to end


def test_what_a_living_writer_has_begun_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, "wait"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as living:
        assert living.stdout is not None
        living.stdout.readline()
        with atomic.atomic_path(tmp_path / "f") as file, atomic.atomic_folder(tmp_path / "d"):
            file.write_text("new")
        assert len(list(tmp_path.glob(".*.partial"))) == 2
        living.kill()


def test_a_reader_finds_a_whole_folder_at_every_instant(tmp_path: Path) -> None:
    found, ended = list[bool](), threading.Event()

    def write() -> None:
        version = str(len(found))
        with atomic.atomic_folder(tmp_path / "d") as partial:
            for name in ("x", "y"):
                (partial / name).write_text(version)

    def read() -> None:
        while not ended.is_set():
            found.append(len(set(atomic.read_whole(tmp_path / "d", _texts))) == 1)

    write()
    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        write()
    ended.set()
    reader.join()
    assert len(found) > 100 and all(found)


def _texts(folder: Path) -> list[str]:
    try:
        return [(folder / name).read_text() for name in ("x", "y")]
    except OSError as error:
        raise BadFile(str(error)) from error


# Locks


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
        pytest.raises(
            BadFile, match=f"{tmp_path}: expected a writable folder, got Permission denied; check the folder"
        ),
        atomic.only_writer(tmp_path / "out"),
    ):
        pass


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(BadFile, match=rf"space: .*got another at it \(process {first.pid} on "):
            with atomic.only_writer(tmp_path / "space"):
                pytest.fail("there are two writers")
        first.kill()
        first.wait()
        with atomic.only_writer(tmp_path / "space"):  # the kill left the file, and no lock
            assert (tmp_path / ".space.lock").read_text().startswith(f"process {os.getpid()} on ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links")
def test_a_lock_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("mine")
    (tmp_path / ".out.lock").symlink_to(tmp_path / "theirs")
    with pytest.raises(BadFile, match="out.lock: expected a file, .* got a link"):
        with atomic.only_writer(tmp_path / "out"):
            pytest.fail("it is locked")
    assert (tmp_path / "theirs").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_pipes_that_others_left_are_not_waited_for(tmp_path: Path) -> None:
    for name in (".out.0.partial", ".out.lock"):
        os.mkfifo(tmp_path / name)
    with atomic.atomic_path(tmp_path / "out") as partial:
        partial.write_text("whole")
    assert (tmp_path / "out").read_text() == "whole"
    with pytest.raises(BadFile, match="or a pipe; remove it"), atomic.only_writer(tmp_path / "out"):
        pytest.fail("it is locked")


def test_a_lock_that_another_account_left_is_no_obstacle_if_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, opened = tmp_path / ".out.lock", os.open
    left.write_text("process 1 on another")
    refused = os.O_RDWR

    def open_(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path) == left and flags & refused == refused:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, mode)

    def unlink(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as in a folder such as /tmp

    monkeypatch.setattr("os.open", open_)
    monkeypatch.setattr("os.unlink", unlink)
    for _ in range(2):
        with atomic.only_writer(tmp_path / "out"):
            assert atomic.lock(left) is None
    assert left.read_text() == "process 1 on another"
    refused = os.O_RDONLY
    with pytest.raises(BadFile, match=r"\.out\.lock: .* remove it if nobody writes out"):
        with atomic.only_writer(tmp_path / "out"):
            pytest.fail("it is not locked")


def test_where_the_file_system_has_no_locks_nothing_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("muse.files.atomic.lock_descriptor", unknown)
    with atomic.only_writer(tmp_path / "out"), atomic.only_writer(tmp_path / "out"):
        pass
    # Nobody knows then whether another writer of the same name has ended.
    with atomic.atomic_path(tmp_path / "out") as first:
        first.write_text("first")
        with atomic.atomic_path(tmp_path / "out") as second:
            second.write_text("second")
    assert (tmp_path / "out").read_text() == "first"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
