"""Probes: their tasks are what they say, and a sum of words knows the words and not their order."""

from collections import Counter

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.evaluation.score import Signature
from muse.sentences.evaluation import probing
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, folds
from muse.text.tokens import Tokeniser

CONTENT = [
    f"{first}{last}"
    for first in ("ba", "do", "ki", "lu", "me")
    for last in ("ron", "tal", "fen", "sip", "gu")
]


def text(count: int = 900, seed: int = 0) -> list[str]:
    """Sentences of 4 to 15 words of a small language, some of its words rarer than others."""
    rng = np.random.default_rng(seed)
    common = [f"w{chr(97 + place)}" for place in range(20)]
    lines = []
    for _ in range(count):
        words = list(rng.choice(common, size=int(rng.integers(3, 15))))
        words.insert(int(rng.integers(len(words))), str(rng.choice(CONTENT)))
        lines.append(" ".join(words).capitalize() + ".")
    return lines


def bags(probe: probing.Probe) -> np.ndarray:
    """The sum (n, d) of random rows of the words: what knows words and no order."""
    rng = np.random.default_rng(0)
    known: dict[str, np.ndarray] = {}
    tokens = [Tokeniser("en").tokens(sentence.lower()) for sentence in probe.sentences]
    for name in sorted({token for line in tokens for token in line}):
        known[name] = rng.normal(size=64)
    return np.array([np.sum([known[token] for token in line], axis=0) for line in tokens], np.float32)


def scored(probe: probing.Probe, rows: np.ndarray) -> probing.ProbeScore:
    return probing.evaluate_probe(
        probe.name, Labelled(rows, np.array(probe.labels)), Signature("logistic", "en-en"),
        config=ClassifierConfig(strengths=(0.01, 1.0)), rng=np.random.default_rng(0),
    )  # fmt: skip


def test_length_classes_are_lengths() -> None:
    probe = probing.length_probe(text(), "en", 600, np.random.default_rng(0))
    lengths = [len(Tokeniser("en").tokens(sentence)) for sentence in probe.sentences]
    spans: dict[int, list[int]] = {}
    for label, length in zip(probe.labels, lengths, strict=True):
        spans.setdefault(label, []).append(length)
    ends = [(min(span), max(span)) for _, span in sorted(spans.items())]
    assert all(one[1] < other[0] for one, other in zip(ends, ends[1:], strict=False))
    counts = set(Counter(probe.labels).values())  # as many of each as the rarest has
    assert len(counts) == 1
    assert 50 < max(counts) <= 600 // len(ends)
    score = scored(probe, bags(probe))
    assert score.accuracy > 2 * score.chance
    assert score.chance == pytest.approx(100 / len(ends))


def test_content_is_a_word_that_is_there_alone() -> None:
    probe = probing.content_probe(text(), "en", 600, np.random.default_rng(0))
    word_of: dict[int, set[str]] = {}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        found = set(sentence.lower().rstrip(".").split()) & set(CONTENT)
        assert len(found) == 1
        word_of.setdefault(label, set()).update(found)
    assert all(len(words) == 1 for words in word_of.values())
    assert len(word_of) == len(set.union(*word_of.values())) > 10
    score = scored(probe, bags(probe))
    assert score.accuracy > 60 > 5 * score.chance


def test_order_swaps_two_neighbours_and_a_sum_cannot_tell() -> None:
    lines = text(800)
    probe = probing.order_probe(lines, "en", 800, np.random.default_rng(0))
    assert Counter(probe.labels)[0] == Counter(probe.labels)[1]
    whole = {" ".join(Tokeniser("en").tokens(line)): line for line in lines}
    sorted_whole = {tuple(sorted(line.lower().split())) for line in whole}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        assert (sentence in whole) == (label == 0)
        assert tuple(sorted(sentence.lower().split())) in sorted_whole  # the same words
    score = scored(probe, bags(probe))
    assert score.ci95[0] - 3 < 50 < score.ci95[1] + 3
    assert score.chance == 50


def test_languages_are_told_by_their_words() -> None:
    other = [line.replace("w", "v") for line in text(400, seed=1)]
    probe = probing.language_probe(
        {"en": [*text(500), "Same."], "fr": [*other, "Same.", ""]}, 600, np.random.default_rng(0)
    )
    assert Counter(probe.languages) == {"en": 300, "fr": 300}
    assert "Same." not in probe.sentences
    assert scored(probe, bags(probe)).accuracy > 95


def test_every_fold_is_tested_and_all_hits_count_together() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 40])
    rows = (8 * np.eye(2)[labels] + rng.normal(size=(100, 2))).astype(np.float32)
    fold = folds(labels, 5, rng)
    rows[fold == 3] = rows[fold == 3][:, ::-1]  # of one fold the classes have changed places
    found = probing.evaluate_probe(
        "x", Labelled(rows, labels), Signature("logistic", "en-en"),
        config=ClassifierConfig(strengths=(1.0,)), rng=rng, split=fold,
    )  # fmt: skip
    assert (found.tested, found.trained, found.classes, found.chance) == (100, 80, 2, 60)
    assert found.accuracy == pytest.approx(80, abs=2)


def test_a_sentence_stands_in_a_probe_once() -> None:
    lines = text(400)
    for make in (probing.length_probe, probing.content_probe, probing.order_probe):
        probe = make(lines * 2, "en", 10_000, np.random.default_rng(0))
        assert len(set(probe.sentences)) == len(probe.sentences)


@pytest.mark.parametrize("make", [probing.length_probe, probing.content_probe, probing.order_probe])
def test_too_little_text(make: object) -> None:
    with pytest.raises(Mismatch, match="give more text"):
        make(["One line.", "Another line."], "en", 100, np.random.default_rng(0))  # type: ignore[operator]
    with pytest.raises(Mismatch, match="give more text"):
        make(["", " "], "en", 100, np.random.default_rng(0))  # type: ignore[operator]


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
    probe = probing.sign_count_probe([*texts, *texts], "fr", 440, np.random.default_rng(0))
    counts = [len(texts[sentence]) for sentence in probe.sentences]
    found = classes_of(probe.labels, [min(count, 11) for count in counts])
    assert found == {label: {label + 1} for label in range(11)}  # none has 0: these are left out
    assert max(counts) == 14
    assert len(set(probe.sentences)) == len(probe.sentences) == 440


def test_rare_counts_are_left_out_instead_of_discarding_the_others() -> None:
    few = [f"Mot {name} , mot ." for name in range(600)] + [f"Mot {name} ." for name in range(500)]
    rare = [f"Mot {name} , mot ; mot ." for name in range(15)]
    probe = probing.sign_count_probe([*few, *rare], "fr", 10_000, np.random.default_rng(0))
    assert Counter(probe.labels) == {0: 500, 1: 500}


def test_the_first_sign_is_a_class() -> None:
    texts = punctuated()
    probe = probing.first_sign_probe(list(texts), "fr", 500, np.random.default_rng(0))
    found = classes_of(probe.labels, [texts[sentence][0] for sentence in probe.sentences])
    assert sorted(map(len, found.values())) == [1] * len(MARKS)
    assert set.union(*found.values()) == set(MARKS)


def test_marks_within_a_word_are_spelling() -> None:
    lines = [f"C'est peut-être l'heure {name}{'?!'[name % 2]}" for name in range(60)]
    probe = probing.first_sign_probe(lines, "fr", 60, np.random.default_rng(0))
    assert {line[-1] for line in probe.sentences} == {"?", "!"}
    of = {label: line[-1] for label, line in zip(probe.labels, probe.sentences, strict=True)}
    assert all(line[-1] == of[label] for label, line in zip(probe.labels, probe.sentences, strict=True))
    with pytest.raises(Mismatch, match="give more text"):  # all have one mark
        probing.sign_count_probe(lines, "fr", 60, np.random.default_rng(0))


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
    probe = probing.gender_probe(lines, "fr", 600, np.random.default_rng(0))
    assert Counter(probe.labels) == {0: 300, 1: 300}
    for label, sentence in zip(probe.labels, probe.sentences, strict=True):
        assert (swapped(sentence) if label else sentence) in lines
    assert len(set(probe.sentences)) == 600


def test_only_what_agrees_can_tell_a_swap() -> None:
    """A sum of words has articles and nouns but no pairs of them; the product of their genders tells all."""
    probe = probing.gender_probe(articled(500), "fr", 400, np.random.default_rng(0))
    words = sorted({word for sentence in probe.sentences for word in sentence.split()[:5]})
    counts = np.array([[word in text.split() for word in words] for text in probe.sentences], np.float32)
    signs = [
        (2 * (s.split()[0] == "La") - 1) * (2 * (NOUNS.index(s.split()[1]) % 2) - 1) for s in probe.sentences
    ]
    assert scored(probe, counts).accuracy < 60
    assert scored(probe, np.array(signs, np.float32)[:, None]).accuracy == 100


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
    probe = probing.gender_probe(lines, language, 100, np.random.default_rng(0))
    ends = {0: sentence, 1: changed}
    assert all(
        text.rpartition(" ")[0] == ends[label]
        for label, text in zip(probe.labels, probe.sentences, strict=True)
    )


def test_sentences_without_articles_and_languages_without_genders() -> None:
    with pytest.raises(Mismatch, match="give more text"):
        probing.gender_probe(["L'eau est froide."] * 50, "fr", 100, np.random.default_rng(0))
    with pytest.raises(BadSetting, match="one of es, fr, it, whose articles have two genders; got en"):
        probing.gender_probe(["The cat."], "en", 100, np.random.default_rng(0))
    assert [probing.has_genders(name) for name in ("de", "en", "es", "fr", "it", "ita")] == [False] * 2 + [
        True
    ] * 4
