"""muse doctor: its table of extras is that of setup.cfg, and it says what is missing."""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path

import pytest
import torch

from muse.doctor import EXTRAS, extras
from muse.version import __version__
from tests.command import Command

IMPORTED = {"scikit-learn": "sklearn"}


def test_the_extras_are_those_of_setup_cfg() -> None:
    setup = configparser.ConfigParser()
    setup.read(Path(__file__).parents[1] / "setup.cfg", encoding="utf-8")
    written = {
        name: {IMPORTED.get(found, found) for found in re.findall(r"^[\w-]+", packages.strip(), re.MULTILINE)}
        for name, packages in setup["options.extras_require"].items()
    }
    known = {name: set(packages) for name, (packages, _) in EXTRAS.items()}
    for name in set(known) - {"gpu"}:
        assert known[name] == written[name], name
    assert set(written) - {"dev"} <= set(known) | {"docs"}


def test_it_says_what_there_is(muse: Command) -> None:
    found = muse("doctor", "--json").json
    assert found["muse"] == __version__
    public = torch.__version__.partition("+")[0]  # PyPI's build calls itself 2.13.0+cu130, its wheel 2.13.0
    assert found["packages"]["torch"].partition("+")[0] == public
    assert found["threads"]["torch"] == torch.get_num_threads()
    assert {one["name"] for one in found["extras"]} == set(EXTRAS)
    shown = muse("doctor").out
    for text in (__version__, public, "GPU", "faiss", "threads", "muse report", "muse serve"):
        assert text in shown


def test_what_is_missing_is_named_with_the_remedy(muse: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    (web,) = [one for one in extras() if one.name == "web"]
    assert web.missing == ("uvicorn",)
    assert "lacks uvicorn: pip install 'muse[web]'" in muse("doctor").out
