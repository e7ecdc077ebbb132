"""muse demo: every step is shown and runs; without vectors it says where to get them."""

from dataclasses import replace
from pathlib import Path

import pytest

from muse.commands.demo import GOLD, WORDS
from muse.files.vectors import locate
from tests.support.command import Command, refused
from tests.support.toys import raw_pair, write_vec


@pytest.fixture
def place(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in that is in no checkout, with no vectors."""
    monkeypatch.setattr(locate, "SAMPLE", here / "nowhere")
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    return here


def test_without_vectors_it_says_where_to_get_them(place: Path, muse: Command) -> None:
    ended = muse("demo")
    refused(ended, "15 MB")
    for part in ("embeddings/sample", "MUSE_EMBEDDINGS", "muse fetch vectors fr en"):
        assert part in ended.err
    assert not list(place.iterdir())


@pytest.fixture
def vectors(place: Path) -> None:
    """Word for word translations of one another: the words of the demo are rows like others."""
    source, target, _ = raw_pair()
    words = [*source.words[: -len(WORDS)], *WORDS]
    (place / "embeddings").mkdir()
    write_vec(place / "embeddings" / "fr.vec", replace(source, words=words))
    write_vec(place / "embeddings" / "en.vec", target)


@pytest.mark.slow
@pytest.mark.usefixtures("vectors")
def test_each_step_is_shown_and_runs(place: Path, muse: Command) -> None:
    (place / GOLD).parent.mkdir()
    (place / GOLD).write_text("roi en589\nmaison en588\n", encoding="utf-8")
    ended = muse("demo", "--out", "space")
    assert ended.code == 0, ended.err
    steps = [line for line in ended.out.splitlines() if line.startswith("$ ")]
    assert steps[0] == "$ muse align --src fr --tgt en --out space"
    assert steps[1] == f"$ muse evaluate space --dictionary {GOLD}"
    assert steps[2] == f"$ muse translate space --top 3 {' '.join(WORDS)}"
    assert "P@1 = 100.0" in ended.out
    assert "maison\ten588 " in ended.out
    assert (place / "space" / "manifest.json").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("vectors")
def test_as_json_it_is_one_object(muse: Command) -> None:
    told = muse("demo", "--json", "--quiet").json
    assert list(told) == ["align", "translate"]  # there is no list to measure with
    assert told["translate"]["translations"]["roi"][0][0] == "en589"
