"""The helpers that commands share: how threads wait for one another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# The command loads OpenMP, which prints its settings.
SHOW = [sys.executable, "-m", "muse", "translate", "no-space", "word"]


@pytest.mark.parametrize(("given", "turns"), [({}, 1_000), ({"GOMP_SPINCOUNT": "7"}, 7)])
def test_waiting_threads_sleep_soon_unless_told_otherwise(given: dict[str, str], turns: int) -> None:
    shown = _openmp(given)
    assert f"GOMP_SPINCOUNT = '{turns}'" in shown


def test_a_policy_of_the_user_is_kept() -> None:
    assert "OMP_WAIT_POLICY = 'ACTIVE'" in _openmp({"OMP_WAIT_POLICY": "active"})
    assert "GOMP_SPINCOUNT = '1000'" not in _openmp({"OMP_WAIT_POLICY": "active"})


def _openmp(given: dict[str, str]) -> str:
    named = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    ended = subprocess.run(
        SHOW, env={**named, "OMP_DISPLAY_ENV": "VERBOSE", **given}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    if "GOMP_SPINCOUNT" not in ended.stderr:
        pytest.skip("this torch uses another OpenMP than libgomp")
    return ended.stderr
