"""Units in text: counts against a dictionary's, the longest one in running text, what is kept of them."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile
from muse.terms import contexts as summing
from muse.terms import sequences as counting
from muse.terms.contexts import UnitIndex, learn_context_map, sum_contexts
from muse.terms.sequences import BREAK, LINE, NumberedText, count_sequences, number_text
from muse.terms.units import UnitConfig, associations, find_units

LEAST = 3


@pytest.fixture
def lines() -> list[list[str]]:
    """Lines of words that are drawn with chosen pairs among them, with signs."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(40)] + [",", "7"])
    drawn = [words[(rng.random(rng.integers(1, 30)) ** 2 * 42).astype(int)].tolist() for _ in range(300)]
    return [line + ["new", "york", "city"][: rng.integers(4)] for line in drawn]


@pytest.mark.parametrize("block", [7, counting.BLOCK])
def test_sequences_are_counted_as_a_dictionary_counts_them(
    lines: list[list[str]], tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BLOCK", block)
    (tmp_path / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    text = number_text(tmp_path / "text", tmp_path / "numbers", least=LEAST)
    found = count_sequences(text, tmp_path, longest=4, least=LEAST)
    single = Counter(word for line in lines for word in line)
    for length, some in enumerate(found, 1):
        expected = Counter(
            tuple(line[place : place + length])
            for line in lines
            for place in range(len(line) - length + 1)
            if all(word.isalnum() and not word.isdigit() and single[word] >= LEAST
                   for word in line[place : place + length])
        )  # fmt: skip
        names = [tuple(text.words[one] for one in words) for words in some.words.tolist()]
        assert dict(zip(names, some.counts.tolist(), strict=True)) == {
            words: count for words, count in expected.items() if count >= LEAST
        }
    assert text.tokens == sum(map(len, lines))


def test_a_full_table_keeps_what_is_frequent(
    lines: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    text = number_text(tmp_path / "text", tmp_path / "numbers", least=LEAST)
    whole = count_sequences(text, tmp_path, longest=2, least=LEAST)[1]
    monkeypatch.setattr(counting, "BLOCK", 500)
    monkeypatch.setattr(counting, "TABLE", 400)
    pruned = count_sequences(text, tmp_path, longest=2, least=LEAST)[1]
    best = int(whole.counts.argmax())
    place = np.flatnonzero((pruned.words == whole.words[best]).all(axis=1))
    assert pruned.counts[place].tolist() == [whole.counts[best]]
    assert len(pruned) < len(whole)


def test_text_without_a_frequent_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("one two\n7 7 7 7 7 7\n")
    with pytest.raises(BadFile, match="expected words that stand at least 5 times"):
        number_text(tmp_path / "text", tmp_path / "numbers")


def test_association_is_that_of_the_weakest_place(lines: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    text = number_text(tmp_path / "text", tmp_path / "numbers", least=LEAST)
    one, two, three = count_sequences(text, tmp_path, longest=3, least=LEAST)
    index = {word: place for place, word in enumerate(text.words)}
    wanted = [index[word] for word in ("new", "york", "city")]
    place = int(np.flatnonzero((three.words == wanted).all(axis=1))[0])
    count = {tuple(words): n for some in (one, two, three)
             for words, n in zip(some.words.tolist(), some.counts.tolist(), strict=True)}  # fmt: skip
    total, (new, york, city) = one.counts.sum(), wanted
    expected = max(
        count[(new,)] * count[york, city] / total, count[new, york] * count[(city,)] / total
    )  # fmt: skip
    association, likelihood = associations(three, two.counts, one.counts)
    information = np.log(count[new, york, city] / expected)
    assert association[place] == pytest.approx(information / -np.log(count[new, york, city] / total))
    assert likelihood[place] == pytest.approx(2 * count[new, york, city] * information)


def test_units_stand_together_and_begin_with_no_function_word(lines: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    text = number_text(tmp_path / "text", tmp_path / "numbers", least=LEAST)
    some = count_sequences(text, tmp_path, longest=3, least=LEAST)
    ranks = np.arange(len(text.words))
    found = find_units(some, ranks, UnitConfig(edge=2, association=0.3, edge_association=2.0))
    names = [" ".join(text.words[one] for one in words) for words in found.words]
    assert {"new york", "new york city"} <= {*names} and "york city" not in names  # never by itself
    assert not any(min(words[0], words[-1]) < 2 for words in found.words)
    assert (found.association >= 0.3).all()


@pytest.mark.parametrize("block", [25, summing.BLOCK])
def test_the_longest_unit_wins_and_contexts_are_summed(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summing, "BLOCK", block)
    rng = np.random.default_rng(0)
    ids, ends = rng.integers(BREAK, 6, 60).astype(np.int32), np.array([13, 20, 44, 60])
    ids[ends - 1] = LINE
    text = NumberedText(list("abcdef"), np.arange(6, 0, -1), ids, 60)
    rows, weights = rng.standard_normal((6, 3)).astype(np.float32), rng.random(6).astype(np.float32)
    units = [(0, 1), (1, 2, 3), (0, 1, 2), (4, 4)]
    found = sum_contexts(text, rows, weights, UnitIndex.of(units), 4, window=2)
    sums, totals, counts = np.zeros((8, 6)), np.zeros((8, 2)), np.zeros(8)
    for start, end in zip([0, *ends], ends, strict=False):
        line = ids[start:end].tolist()
        there, place = [(at, at + 1, one) for at, one in enumerate(line) if 0 <= one < 4], 0
        while place < len(line):
            own = [one for one in units if tuple(line[place : place + len(one)]) == one]
            longest = max(own, key=len, default=(0,))
            if own:
                there.append((place, place + len(longest), 4 + units.index(longest)))
            place += len(longest)
        for first, last, entry in there:
            counts[entry] += 1
            for side, near in ((0, line[max(0, first - 2) : first]), (1, line[last : last + 2])):
                for one in (one for one in near if one >= 0):
                    sums[entry, 3 * side : 3 * side + 3] += weights[one] * rows[one]
                    totals[entry, side] += weights[one]
    np.testing.assert_allclose(found.sums, sums, atol=1e-5)
    np.testing.assert_allclose(found.weights, totals, atol=1e-5)
    assert found.counts.tolist() == counts.tolist()
    np.testing.assert_allclose(
        found.means(), sums / np.repeat(np.maximum(totals, 1e-9), 3, axis=1), atol=1e-5
    )


def test_the_map_of_contexts_is_recovered() -> None:
    rng = np.random.default_rng(0)
    means, map_ = rng.standard_normal((500, 8)).astype(np.float32), rng.standard_normal((4, 8))
    learned = learn_context_map(means, (means @ map_.T).astype(np.float32), rng.integers(1, 50, 500))
    np.testing.assert_allclose(learned, map_, atol=0.05)
