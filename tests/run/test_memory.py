"""The peak of memory: this process's own, whoever started it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from muse.run.memory import peak_memory_mb

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
