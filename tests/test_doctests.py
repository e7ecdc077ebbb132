"""Every example in a docstring of muse runs, and prints what it shows."""

import doctest
import importlib

import pytest

from tests.test_architecture import MODULES

EXAMPLES = [name for name, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_what_they_show(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"muse.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
