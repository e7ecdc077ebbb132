"""The worked examples of CONTRIBUTING.md, run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from muse.dictionary_formats import formats as others
from muse.files import read_lexicon
from muse.files.dictionary_writer import dictionary_writer, form_of_name, written_formats
from muse.files.lexicons import formats
from muse.lexicon import Entry
from tests.conftest import ROOT


def example(heading: str) -> tuple[str, dict[str, Any]]:
    """The block of Python below a heading, and the names that it defines."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    code = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
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
