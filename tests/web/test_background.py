"""Background: work is done once, beside the threads that ask for it, and its errors are theirs."""

import threading

import pytest

from muse.web.pictures import Background, lower_thread_priority

PATIENCE = 60  # seconds


def test_work_is_done_once_in_another_thread() -> None:
    background, threads = Background(), list[threading.Thread]()

    def work() -> int:
        threads.append(threading.current_thread())
        return len(threads)

    found = [background.once(("a", 1), work) for _ in range(5)]
    assert [one.result(PATIENCE) for one in found] == [1] * 5
    assert background.once(("b", 1), work).result(PATIENCE) == 2
    assert threading.current_thread() not in threads
    assert all(thread.daemon for thread in threads)  # a server that is stopped does not wait for them


def test_many_at_once_start_one_thread() -> None:
    background, calls, gate = Background(), list[int](), threading.Barrier(8)

    def ask() -> None:
        gate.wait(PATIENCE)
        background.once("key", lambda: calls.append(1)).result(PATIENCE)

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(PATIENCE)
    assert calls == [1]


def test_an_error_is_kept_for_everyone_who_asks() -> None:
    background = Background()

    def broken() -> None:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            background.once("key", broken).result(PATIENCE)


def test_a_thread_that_steps_back_leaves_the_priority_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    os = pytest.importorskip("os")
    if not hasattr(os, "getpriority"):
        pytest.skip("needs priorities")
    before, inside = os.getpriority(os.PRIO_PROCESS, 0), list[int]()

    def work() -> None:
        lower_thread_priority()
        inside.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    Background().once("key", work).result(PATIENCE)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    assert inside[0] >= before
    monkeypatch.setattr("sys.platform", "other")  # where a priority belongs to a process
    lower_thread_priority()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_work_that_has_begun_is_waited_for() -> None:
    background, gate, done = Background(), threading.Event(), list[int]()

    def work() -> None:
        gate.wait(PATIENCE)
        done.append(1)

    for number in range(3):
        background.once(number, work)
    threading.Timer(0.01, gate.set).start()
    background.join()
    assert done == [1, 1, 1]
    background.join()
