"""Probes of style: their classes are what they say, and of a swapped article nothing else is changed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.evaluation.score import Signature
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled
from muse.sentences.evaluation.probing import (
    evaluate_probe,
    first_sign_probe,
    gender_probe,
    has_genders,
    sign_count_probe,
)

MARKS = ",;:!?"
NOUNS = [f"{first}{last}" for first in ("b", "d", "k", "m") for last in ("aron", "otil", "ufen", "isap")]


def punctuated(count: int = 1200, most: int = 14) -> dict[str, str]:
    """Sentences of words with 0 to `most` marks after them, and these marks."""
    rng = np.random.default_rng(0)
    found = {}
    for _ in range(count):
        marks = "".join(rng.choice([*MARKS], size=int(rng.integers(most + 1))))
        words = [f"w{name}" for name in rng.choice([*"abcdefgh"], size=len(marks) + 2)]
        text = " ".join(
            [words[0], *(word + mark for word, mark in zip(words[1:], marks, strict=False)), "l'eau"]
        )
        found[text] = marks
    return found


def classes_of(labels: object, keys: list[object]) -> dict[object, set[object]]:
    """The keys of each label, all labels being as frequent."""
    assert isinstance(labels, list)
    assert len(set(Counter(labels).values())) == 1
    found: dict[object, set[object]] = {}
    for label, key in zip(labels, keys, strict=True):
        found.setdefault(label, set()).add(key)
    return found


def test_signs_are_counted_up_to_eleven() -> None:
    texts = punctuated()
    probe = sign_count_probe([*texts, *texts], "fr", 440, np.random.default_rng(0))
    counts = [len(texts[sentence]) for sentence in probe.sentences]
    found = classes_of(probe.labels, [min(count, 11) for count in counts])
    assert found == {label: {label + 1} for label in range(11)}  # none has 0: these are left out
    assert max(counts) == 14
    assert len(set(probe.sentences)) == len(probe.sentences) == 440


def test_rare_counts_are_left_out_instead_of_discarding_the_others() -> None:
    few = [f"Mot {name} , mot ." for name in range(600)] + [f"Mot {name} ." for name in range(500)]
    rare = [f"Mot {name} , mot ; mot ." for name in range(15)]
    probe = sign_count_probe([*few, *rare], "fr", 10_000, np.random.default_rng(0))
    assert Counter(probe.labels) == {0: 500, 1: 500}


def test_the_first_sign_is_a_class() -> None:
    texts = punctuated()
    probe = first_sign_probe(list(texts), "fr", 500, np.random.default_rng(0))
    found = classes_of(probe.labels, [texts[sentence][0] for sentence in probe.sentences])
    assert sorted(map(len, found.values())) == [1] * len(MARKS)
    assert set.union(*found.values()) == set(MARKS)


def test_marks_within_a_word_are_spelling() -> None:
    lines = [f"C'est peut-être l'heure {name}{'?!'[name % 2]}" for name in range(60)]
    probe = first_sign_probe(lines, "fr", 60, np.random.default_rng(0))
    assert {line[-1] for line in probe.sentences} == {"?", "!"}
    of = {label: line[-1] for label, line in zip(probe.labels, probe.sentences, strict=True)}
    assert all(line[-1] == of[label] for label, line in zip(probe.labels, probe.sentences, strict=True))
    with pytest.raises(Mismatch, match="give more text"):  # all have one mark
        sign_count_probe(lines, "fr", 60, np.random.default_rng(0))


def articled(count: int = 800) -> list[str]:
    """French sentences of two articles, each with a noun of its gender; half of the nouns are masculine."""
    rng = np.random.default_rng(0)
    found = set()
    for place in range(20 * count):
        first, second = rng.choice(len(NOUNS), size=2, replace=False).tolist()
        one, two = (("Le", "La")[first % 2], ("un", "une")[second % 2])
        found.add(f"{one} {NOUNS[first]} voit {two} {NOUNS[second]} {place % 40}.")
        if len(found) == count:
            break
    return sorted(found)


def swapped(sentence: str) -> str:
    """The sentence with its articles changed, word by word."""
    other = {"Le": "La", "La": "Le", "un": "une", "une": "un"}
    return " ".join(other.get(word, word) for word in sentence.split(" "))


def test_all_articles_are_swapped_in_half_of_the_sentences() -> None:
    lines = articled()
    probe = gender_probe(lines, "fr", 600, np.random.default_rng(0))
    assert Counter(probe.labels) == {0: 300, 1: 300}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        assert (swapped(sentence) if label else sentence) in lines
    assert (
        len({swapped(s) if label else s for label, s in zip(probe.labels, probe.sentences, strict=True)})
        == 600
    )


def test_only_what_agrees_can_tell_a_swap() -> None:
    """A sum of words has articles and nouns but no pairs of them; the product of their genders tells all."""
    probe = gender_probe(articled(500), "fr", 400, np.random.default_rng(0))
    words = sorted({word for sentence in probe.sentences for word in sentence.split()[:5]})
    bags = np.array(
        [[word in sentence.split() for word in words] for sentence in probe.sentences], np.float32
    )
    signs = [
        (2 * (s.split()[0] == "La") - 1) * (2 * (NOUNS.index(s.split()[1]) % 2) - 1) for s in probe.sentences
    ]
    accuracies = [
        evaluate_probe(
            "gender", Labelled(rows, np.array(probe.labels)), Signature("logistic", "fr-fr"),
            config=ClassifierConfig(strengths=(0.01, 1.0)), rng=np.random.default_rng(0),
        ).accuracy
        for rows in (bags, np.array(signs, np.float32)[:, None])
    ]  # fmt: skip
    assert accuracies[0] < 60
    assert accuracies[1] == 100


@pytest.mark.parametrize(
    ("language", "sentence", "changed"),
    [
        ("fr", "LE CHAT, la souris : donne-le à l'une.", "LA CHAT, le souris : donne-le à l'une."),
        ("fra_Latn", "Une fois là, un legs.", "Un fois là, une legs."),
        ("es", "El gato y las casas de los reyes; una vez.", "La gato y los casas de las reyes; una vez."),
        ("it", "I ragazzi e la casa, un amico.", "Le ragazzi e il casa, una amico."),
    ],
)
def test_articles_are_swapped_as_written(language: str, sentence: str, changed: str) -> None:
    lines = [f"{sentence} {name}" for name in range(60)]
    probe = gender_probe(lines, language, 100, np.random.default_rng(0))
    ends = {0: sentence, 1: changed}
    assert all(
        text.rpartition(" ")[0] == ends[label]
        for label, text in zip(probe.labels, probe.sentences, strict=True)
    )


def test_sentences_without_articles_and_languages_without_genders() -> None:
    with pytest.raises(Mismatch, match="give more text"):
        gender_probe(["L'eau est froide."] * 50, "fr", 100, np.random.default_rng(0))
    with pytest.raises(BadSetting, match="one of es, fr, it, whose articles have two genders; got en"):
        gender_probe(["The cat."], "en", 100, np.random.default_rng(0))
    assert [has_genders(name) for name in ("de", "en", "es", "fr", "it", "ita")] == [False] * 2 + [True] * 4
