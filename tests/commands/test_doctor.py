"""muse doctor: its table of extras is that of setup.cfg, and it says what is missing."""

import configparser
import re
import sys
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

from muse.cli import commands
from muse.commands.doctor import PURPOSES, extras
from muse.installation import DISTRIBUTION, EXTRAS, REQUIRED, __version__, install_extra
from tests.conftest import ROOT
from tests.support.command import Command, refused


def test_name_version_and_extras_are_those_of_setup_cfg() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    assert setup["metadata"]["name"] == DISTRIBUTION
    assert setup["metadata"]["version"] == "attr: muse.installation.__version__"
    required = map(Requirement, setup["options"]["install_requires"].split("\n")[1:])
    here = [one.name for one in required if one.marker is None or one.marker.evaluate()]
    assert here == list(REQUIRED.values())
    written = {
        name: tuple(re.findall(r"^[\w-]+", packages.strip(), re.MULTILINE))
        for name, packages in setup["options.extras_require"].items()
    }
    assert {name: written[name] for name in written.keys() - {"all", "dev", "docs"}} == EXTRAS
    all_of = re.findall(r"\[([\w,]+)\]", setup["options.extras_require"]["all"])
    assert set(all_of[0].split(",")) == EXTRAS.keys() - {"gpu"}  # which replaces a package of the others


def test_it_says_what_there_is(muse: Command) -> None:
    found = muse("doctor", "--json").json
    assert found["muse"] == __version__
    public = torch.__version__.partition("+")[0]  # PyPI's build calls itself 2.13.0+cu130, its wheel 2.13.0
    assert found["packages"]["torch"].partition("+")[0] == public
    assert found["threads"]["torch"] == torch.get_num_threads()
    assert {one["name"] for one in found["extras"]} == set(EXTRAS) == set(PURPOSES)
    shown = muse("doctor").out
    for text in (__version__, public, "GPU", "faiss", "threads", "muse serve"):
        assert text in shown


def test_what_is_missing_is_named_with_the_remedy(muse: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(EXTRAS, "lemmas", ("typing-extensions",))  # whose module has an underscore
    lemmas, web = (one for one in extras() if one["name"] in ("web", "lemmas"))
    assert lemmas["missing"] == []
    assert web["missing"] == ["uvicorn"]
    assert web["advice"] == install_extra("web")
    assert f"missing uvicorn: {web['advice']}" in muse("doctor").out
    line = f"muse serve: uvicorn missing (the explorer in the browser): {web['advice']}\n"
    assert muse("doctor", "serve").out == line


def test_the_commands_that_take_an_extra_are_commands() -> None:
    taking = {name: said.split() for name, (_, said) in PURPOSES.items()}
    assert {one for some in taking.values() for one in some} <= commands.commands.keys()
    for option, extra in (("ray", "ray"), ("backbone", "transformers")):
        known = (name for name, one in commands.commands.items() if option in {of.name for of in one.params})
        assert {*known} <= {*taking[extra]}


def test_what_a_command_lacks_is_one_line(muse: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert muse("doctor", "neighbours").out == "muse neighbours: nothing is missing\n"
    monkeypatch.setattr("muse.files.vectors.locate.search_path", lambda: [here / "embeddings"])
    assert muse("doctor", "align").out.startswith(
        f"muse align: no vectors in {here / 'embeddings'}: run muse"
    )
    assert muse("doctor", "align", "--json").json["task"] == "align"
    refused(muse("doctor", "nonsense"), "COMMAND must be one of", code=2)
