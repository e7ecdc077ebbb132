"""The worked examples of CONTRIBUTING.md, run."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from muse.commands.command import command
from muse.dictionary_formats import formats as others
from muse.errors import BadSetting
from muse.files import read_lexicon
from muse.files.lexicons import dictionary_writer, form_of_name, formats, written_formats
from muse.learn import auto, settings
from muse.learn.initialise import INITIALISATIONS
from muse.learn.pair import LanguagePair
from muse.lexicon import Entry
from muse.options import of_checkpoint, options_of, recorded
from tests.conftest import ROOT
from tests.support.spaces import saved
from tests.support.toys import pair


def example(heading: str) -> tuple[str, dict[str, Any]]:
    """The block of Python below a heading, and the names that it defines."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    code = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    if not code.startswith(" "):  # a whole file
        exec(code, names)
    return code, names


@pytest.fixture
def arrows(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    code, names = example("Adding a format of dictionary")
    monkeypatch.setattr(others, "FORMATS", (*others.FORMATS, names["ARROWS"]))
    for cached in (formats, written_formats):
        cached.cache_clear()
    yield code
    monkeypatch.undo()
    for cached in (formats, written_formats):
        cached.cache_clear()


def test_a_new_format_of_dictionary(tmp_path: Path, arrows: str) -> None:
    assert len(arrows.splitlines()) <= 12
    path = tmp_path / "fr-en.arrows"
    with dictionary_writer(path, form=form_of_name(path)) as write:
        write(Entry("roi", "king", None, 1))
        write(Entry("le chat", "the cat", None, 1))
    assert path.read_text(encoding="utf-8") == "roi => king\nle chat => the cat\n"
    for form in (None, "arrows"):
        assert read_lexicon(path, form=form).pairs == (("roi", "king"), ("le chat", "the cat"))


def test_a_new_initialisation(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = page.partition("## Adding an initialisation")[2].partition("\n## ")[0]
    module, line = re.findall(r"(?:^ {7}.*\n|^\n(?= {7}))+", text, re.MULTILINE)
    names: dict[str, Any] = {**vars(auto)}
    exec(dedent(module), names)
    (name,) = added = eval(f"{{{line.strip()}}}", names)
    monkeypatch.setattr(auto, "KNOWN", auto.KNOWN | added)
    source, target, turn = pair(300, noise=0.0)
    both = LanguagePair(source, target)
    (found,) = auto.KNOWN[name](both, both.criterion(), np.random.default_rng(0))
    np.testing.assert_allclose(found.source_map, turn, atol=1e-4)
    assert found.method == name not in INITIALISATIONS


def test_a_new_option_of_align(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = example("Adding an option of align")
    assert len(code.splitlines()) <= 5
    source = Path(str(settings.__file__)).read_text(encoding="utf-8")
    tried = ModuleType("muse.learn.tried")
    monkeypatch.setitem(sys.modules, tried.__name__, tried)
    exec(source.replace("    # What follows is found by the run.\n", code), vars(tried))
    made = tried.AlignConfig(src="fr", tgt="en", half=True)
    assert recorded(made)["half"] and of_checkpoint(made)["half"]
    assert options_of(tried.AlignConfig)["half"].compared
    with pytest.raises(BadSetting, match="--half .* 3"):
        tried.AlignConfig(half=3)
    seen: list[bool] = []

    def run(options: Any) -> None:
        seen.append(options.half)

    run.__annotations__["options"] = tried.AlignOptions
    align = command()(run)
    assert "--half" in CliRunner().invoke(align, ["--help"]).output
    assert CliRunner().invoke(align, ["--src", "fr", "--half"]).exit_code == 0 and seen == [True]


def test_a_new_command(tmp_path: Path) -> None:
    code, names = example("Adding a command")
    assert len(code.splitlines()) <= 20
    saved(tmp_path / "space")
    ended = CliRunner().invoke(names["count"], [str(tmp_path / "space"), "--lang", "fr"])
    assert (ended.exit_code, ended.output) == (0, "39\n")
    assert CliRunner().invoke(names["count"], [str(tmp_path / "space")]).exit_code == 2
