"""The peak of memory: this process's own, whoever started it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from muse.run.memory import peak_memory_mb

MEGABYTES = 400
ASK = "from muse.run.memory import peak_memory_mb; print(peak_memory_mb())"


def test_the_peak_grows_with_what_is_held_and_stays() -> None:
    before = peak_memory_mb()
    if before is None:
        pytest.skip("this system does not say")
    rows = np.ones(int((before + 50) * 1e6) // 8)
    assert rows.nbytes / 1e6 < peak_memory_mb() < 2 * before + 500  # type: ignore[operator]
    del rows
    assert peak_memory_mb() > before + 50  # type: ignore[operator]


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is handed on elsewhere")
def test_a_process_does_not_report_the_peak_of_the_one_that_started_it() -> None:
    large = f"""
import subprocess, sys
held = b"x" * {MEGABYTES * 10**6}
subprocess.run([sys.executable, "-c", {ASK!r}], check=True)
"""
    said = subprocess.run([sys.executable, "-c", large], capture_output=True, text=True, check=True)
    assert 1 < float(said.stdout) < MEGABYTES / 2
