"""A limit of address space that is too low is one line; the peak is this process's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muse.errors import BadSetting
from muse.run import memory
from muse.run.memory import THREAD, fit_threads, least_space, peak_memory_mb
from tests.support.spaces import saved

MB = 10**6
PATIENCE = 120  # seconds


def limited(space: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`python -m muse` with these arguments and so many bytes of address space."""
    command = ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(space // 1024), sys.executable, "-m", "muse"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere address space is not limited")


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limited") / "space"
    saved(folder, plain=True)
    return folder


@linux
@pytest.mark.parametrize("megabytes", [100, 350, 650, 1_000])
@pytest.mark.parametrize("command", ["map", "align"])
def test_too_little_is_one_line(space: Path, command: str, megabytes: int) -> None:
    vectors = ["--vectors", space / "x.vec", "--fit", "--out", space / "y.vec"]
    arguments = {
        "map": ["map", space, "--lang", "fr", *vectors],
        "align": ["align", "--src", "fr", "--tgt", "en", "--out", space / "aligned"],
    }[command]
    ended = limited(megabytes * MB, *arguments)
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: the address space (ulimit -v) must have at least ")
    assert "ulimit -v unlimited" in line


@linux
@pytest.mark.slow
@pytest.mark.parametrize("more", [50 * MB, THREAD, 1_000 * MB, 3_000 * MB])
def test_what_is_said_to_be_enough_is_enough(space: Path, more: int) -> None:
    ended = limited(least_space(torch=True) + more, "translate", space, "fr20", "--quiet")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("fr20\t")


@linux
def test_what_needs_no_torch_needs_less() -> None:
    refused = limited(least_space(torch=False) - MB, "fetch", "--list")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    listed = limited(least_space(torch=False) + 50 * MB, "fetch", "--list", "--quiet")
    assert (listed.returncode, listed.stderr) == (0, "")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine of 16 cores, whose torch takes 400 MB, and no setting of threads."""
    monkeypatch.setattr(memory, "_size_of_torch", lambda: 400 * MB)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16), raising=False)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # and what the code sets is taken back
    return monkeypatch


def given(environment: pytest.MonkeyPatch, limit: int | None) -> None:
    environment.setattr(memory, "address_space", lambda: limit)


@pytest.mark.parametrize("threads", [None, 1, 64])
def test_without_a_limit_nothing_changes(environment: pytest.MonkeyPatch, threads: int | None) -> None:
    given(environment, None)
    assert fit_threads(threads) == threads
    assert os.environ["OMP_NUM_THREADS"] == ""


def test_a_larger_torch_needs_more(environment: pytest.MonkeyPatch) -> None:
    given(environment, 2_000 * MB)
    fit_threads(1)
    environment.setattr(memory, "_size_of_torch", lambda: 4_000 * MB)
    with pytest.raises(BadSetting, match=r"got 2,000 MB"):
        fit_threads(1)


@pytest.mark.parametrize(
    ("threads", "others", "more", "fitting"),
    [
        (None, "", 15 * THREAD, None),  # as many as there are cores
        (None, "", 3 * THREAD, 4),
        (None, "", 0, 1),
        (8, "", 3 * THREAD, 4),
        (2, "", 3 * THREAD, 2),
        (None, "2", 3 * THREAD, None),
        (None, "8", 3 * THREAD, 4),
        (None, "4,2", 3 * THREAD, 4),
    ],
)
def test_no_more_threads_than_fit(
    environment: pytest.MonkeyPatch, threads: int | None, others: str, more: int, fitting: int | None
) -> None:
    environment.setenv("OMP_NUM_THREADS", others)
    given(environment, least_space(torch=True) + more)
    assert fit_threads(threads) == fitting
    lowered = fitting is not None and fitting != threads
    assert os.environ["OMP_NUM_THREADS"] == (str(fitting) if lowered else others)


# The peak


MEGABYTES = 400
ASK = "from muse.run.memory import peak_memory_mb; print(peak_memory_mb())"


# In a process of its own, whose peak was small before.
GROW = f"""
from muse.run.memory import peak_memory_mb
before = peak_memory_mb()
held = b"x" * {MEGABYTES * 10**6}
holding = peak_memory_mb()
del held
print(before, holding, peak_memory_mb())
"""


def test_the_peak_grows_with_what_is_held_and_stays() -> None:
    if peak_memory_mb() is None:
        pytest.skip("this system does not say")
    said = subprocess.run([sys.executable, "-c", GROW], capture_output=True, text=True, check=True)
    before, holding, after = map(float, said.stdout.split())
    assert 1 < before < MEGABYTES / 2
    assert MEGABYTES < holding < MEGABYTES + 1.5 * before
    assert after == pytest.approx(holding, abs=10)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is handed on elsewhere")
def test_a_process_does_not_report_the_peak_of_the_one_that_started_it() -> None:
    large = f"""
import subprocess, sys
held = b"x" * {MEGABYTES * 10**6}
subprocess.run([sys.executable, "-c", {ASK!r}], check=True)
"""
    said = subprocess.run([sys.executable, "-c", large], capture_output=True, text=True, check=True)
    assert 1 < float(said.stdout) < MEGABYTES / 2
