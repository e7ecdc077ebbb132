"""Headwords: forms are grouped by productive rules and near rows, or by lemmas that are known."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from muse.errors import BadSetting, MissingExtra
from muse.files import read_lexicon
from muse.normalise import normalise, unit
from muse.ranking.headwords import known_headwords, learn_headwords, upward_rules
from muse.space import Provenance, SideToSave, save_space
from muse.space.inflections import learn_suffix_rules
from muse.vectors import Vectors
from tests.support.command import Command

STEMS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in ("rt", "st", "nd")]


def vocabulary() -> tuple[list[str], np.ndarray]:
    """Verbs in -er, whose forms in -ait and -é are rarer, and strangers that end alike by chance."""
    rng = np.random.default_rng(0)
    stems, ends = rng.normal(size=(len(STEMS), 30)), 0.5 * rng.normal(size=(3, 30))
    words = [f"{stem}{end}" for end in ("er", "ait", "é") for stem in STEMS]
    rows = (stems[None] + ends[:, None]).reshape(-1, 30)
    words += ["pomper", "pompait"]
    return words, unit(np.concatenate([rows, rng.normal(size=(2, 30))]).astype(np.float32))


def test_forms_find_the_form_that_is_more_frequent_in_most_pairs() -> None:
    words, rows = vocabulary()
    rules = learn_suffix_rules(words, rows)
    order = [*range(1, len(words)), 0]  # of one verb the infinitive is rarest
    words, rows = [words[row] for row in order], rows[order]
    heads = learn_headwords(words, rows, rules, upward_rules(words, rules))
    found = {word: words[head] for word, head in zip(words, heads.tolist(), strict=True)}
    expected = {f"{stem}{end}": f"{stem}er" for stem in STEMS for end in ("er", "ait", "é")}
    assert found == {**expected, "pomper": "pomper", "pompait": "pompait"}


def test_a_dictionary_of_headwords(muse: Command, tmp_path: Path) -> None:
    words, rows = vocabulary()
    fitted = normalise(rows, ["unit"])[1]
    sides = {
        language: SideToSave(Vectors(language, [f"{first}{word}" for word in words], rows), fitted)
        for language, first in (("fr", ""), ("en", "x"))
    }
    save_space(tmp_path / "space", sides, pivot="en", provenance=Provenance("gromov"))
    asked = ["induce", tmp_path / "space", "--src", "fr", "--group", "lemma", "--top", 3]
    made = muse(*asked, "--out", tmp_path / "d.jsonl", "--json").json
    lines = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()]
    heads = [f"{stem}er" for stem in STEMS]
    assert list(dict.fromkeys(one["source"] for one in lines)) == [*heads, "pomper", "pompait"]
    first = {one["source"]: one for one in reversed(lines)}
    for stem in STEMS:
        one = first[f"{stem}er"]
        assert (one["target"], one["rank"]) == (f"x{stem}er", 1)
        assert one["forms"] == [f"{stem}ait", f"{stem}é"]
        targets = [line["target"] for line in lines if line["source"] == one["source"]]
        assert f"x{stem}ait" not in targets and f"x{stem}é" not in targets  # other forms of the first
    assert (made["forms"], made["left_out"]) == (2 * len(STEMS), {"without_pair": 0, "format": 0})
    for name in ("d.ifo", "d.index", "d.opf"):
        assert muse(*asked, "--out", tmp_path / name).code == 0
        pairs = read_lexicon(tmp_path / name, languages=("fr", "en")).pairs
        assert {("barter", "xbarter"), ("bartait", "xbarter"), ("barté", "xbarter")} <= {*pairs}
    muse("induce", tmp_path / "space", "--src", "fr", "--out", tmp_path / "d.ifo")
    assert not (tmp_path / "d.syn").exists()  # of an earlier dictionary
    assert muse(*asked, "--out", tmp_path / "e", "--ray", "auto").code == 2


def test_known_lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    def lemmatize(word: str, language: str) -> str:
        if language != "de":
            raise ValueError(language)
        return {"häuser": "Haus", "hauses": "Haus", "ging": "gehen", "gehst": "gehen"}.get(word, word)

    monkeypatch.setitem(sys.modules, "simplemma", SimpleNamespace(lemmatize=lemmatize))
    words = ["häuser", "ging", "haus", "gehst", "hauses", "und"]
    assert known_headwords(words, "deu").tolist() == [2, 1, 2, 1, 2, 5]
    with pytest.raises(BadSetting, match="--group simplemma needs a language that it has, got xx"):
        known_headwords(words, "xx")
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(MissingExtra, match="simplemma"):
        known_headwords(words, "de")
