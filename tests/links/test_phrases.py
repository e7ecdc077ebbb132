"""Phrases of linked text: by the definition, over all spans; and in a phrase table."""

from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from muse.export.moses import MosesConfig, export_moses
from muse.export.phrases import PhraseCounts
from muse.links.links import Links
from muse.links.phrases import consistent_spans, count_phrases
from tests.evaluation.test_words import noisy_space
from tests.export.test_moses import parsed


def drawn(rng: np.random.Generator, s: int, t: int, share: float) -> Links:
    return Links.of_shares({(i, j): 1 for i, j in product(range(s), range(t)) if rng.random() < share})


@pytest.mark.parametrize("longest", [1, 2, 5])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_spans_are_all_that_the_definition_allows(longest: int, share: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        s, t = rng.integers(0, 8, 2).tolist()
        links = drawn(rng, s, t, share)
        wanted = set()
        for i, k, j, m in product(range(s), range(1, s + 1), range(t), range(1, t + 1)):
            inside = [(i <= a < k, j <= b < m) for a, b, _ in links]
            consistent = (True, True) in inside and all(one == other for one, other in inside)
            if consistent and 0 < k - i <= longest and 0 < m - j <= longest:
                wanted.add((i, k, j, m))
        found = list(consistent_spans(links, (s, t), longest))
        assert len(found) == len(set(found))
        assert set(found) == wanted


def text(seed: int, sentences: int = 40) -> PhraseCounts:
    """Phrases of sentences of made-up words, of which some are the space's, linked at random."""
    rng, space = np.random.default_rng(seed), noisy_space(0)
    pairs = []
    for _ in range(sentences):
        s, t = rng.integers(1, 6, 2).tolist()
        tokens = [f"s{i}" for i in rng.integers(0, 55, s)], [f"t{i}" for i in rng.integers(0, 65, t)]
        pairs.append((tokens, drawn(rng, s, t, 0.3)))
    return count_phrases(pairs, (space.vectors("fr"), space.vectors("en")))


def export(out: Path, counted: PhraseCounts | None, direction: tuple[str, str] = ("fr", "en")) -> None:
    config = MosesConfig(top=60, temperature=0.1)
    rng = np.random.default_rng(0)
    export_moses(noisy_space(0), out, direction=direction, config=config, rng=rng, counted=counted)


def test_probabilities_of_a_phrase_sum_to_one_at_most_and_lines_are_in_order(tmp_path: Path) -> None:
    counted = text(0)
    export(tmp_path / "t", counted)
    lines = (tmp_path / "t").read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    found = parsed(tmp_path / "t")
    assert {tuple(line.split(" ||| ")[:2]) for line in counted.pairs} <= found.keys()
    direct, inverse = defaultdict[str, float](float), defaultdict[str, float](float)
    for (source, target), entry in found.items():
        direct[source] += entry.direct
        inverse[target] += entry.inverse
    assert max(direct.values()) <= 1 + 1e-4
    assert max(inverse.values()) <= 1 + 1e-4
    # The links of a pair are those of some occurrence.
    for (source, target), entry in found.items():
        if " " in source + target:
            links = " ".join(f"{i}-{j}" for i, j in entry.alignment)
            assert f"{source} ||| {target} ||| {links}" in counted.pairs


def test_counts_move_the_probabilities_of_the_space(tmp_path: Path) -> None:
    export(tmp_path / "none", PhraseCounts())
    export(tmp_path / "space", None)
    assert (tmp_path / "none").read_bytes() == (tmp_path / "space").read_bytes()
    space, tokens = noisy_space(0), (["s0"], ["t9"])
    vectors = space.vectors("fr"), space.vectors("en")
    before, last = parsed(tmp_path / "space")["s0", "t9"].direct, 0.0
    for times in (1, 10, 100):
        export(tmp_path / "t", count_phrases([(tokens, Links.of_shares({(0, 0): 1}))] * times, vectors))
        share = parsed(tmp_path / "t")["s0", "t9"].direct
        assert share > max(last, before)
        last = share
    assert last > 0.9


def test_both_directions_have_the_same_phrases_and_probabilities(tmp_path: Path) -> None:
    counted = text(1)
    back = PhraseCounts()
    for line, count in counted.pairs.items():
        source, target, links = line.split(" ||| ")
        turned = sorted(tuple(map(int, link.split("-")))[::-1] for link in links.split(" "))
        back.pairs[f"{target} ||| {source} ||| {' '.join(f'{i}-{j}' for i, j in turned)}"] += count
    back.words.update({(target, source): count for (source, target), count in counted.words.items()})
    export(tmp_path / "there", counted)
    export(tmp_path / "back", back, ("en", "fr"))
    there, reverse = parsed(tmp_path / "there"), parsed(tmp_path / "back")
    assert {(target, source) for source, target in there} == reverse.keys()
    for (source, target), entry in there.items():
        other = reverse[target, source]
        assert (entry.direct, entry.inverse) == pytest.approx((other.inverse, other.direct), rel=1e-3)


def test_more_pairs_than_are_kept_forget_phrases_seen_once() -> None:
    counted = PhraseCounts(most=3)
    counted.add(["a b ||| c ||| 0-0", "a ||| c ||| 0-0", "d e ||| f ||| 0-0", "d e ||| f ||| 0-0"], [])
    counted.add(["x y ||| z ||| 0-0"], [])
    assert counted.pairs == {"a ||| c ||| 0-0": 1, "d e ||| f ||| 0-0": 2}
