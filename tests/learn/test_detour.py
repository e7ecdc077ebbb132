"""Detours: a language that fails into the pivot is mapped over another one, and only if that is better."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from muse.errors import Mismatch
from muse.learn.bilingual import Learned, learn, normalise_in_place
from muse.learn.multilingual import Bridge, Paths, learn_many, nearest_first
from muse.learn.pair import LanguagePair
from muse.learn.settings import AlignConfig
from muse.learn.supervise.model_selection import Supervision
from muse.learn.verdict import Verdict
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, best_targets
from muse.space.saving import mapped
from muse.vectors import Vectors
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, cloud

COUNT, SHARED = 700, 150
CONFIG = AlignConfig(init="identical", reweight=False)
# The words that are spelt alike in two languages: a chain, in which no others share any.
CHAIN = ("xx", "fr", "de", "en")


def language(name: str, chain: Sequence[str] = CHAIN, dimension: int = DIMENSION) -> Vectors:
    """A rotated noisy copy of the toy words, some spelt as in the next language of the chain.

    The others are spelt as in the language before. With a larger `dimension` further directions are noise.
    """
    rng, place = np.random.default_rng(len(name) + ord(name[0])), chain.index(name)
    rows = cloud(0, COUNT)
    wide = np.hstack([rows, 0.1 * rng.normal(size=(COUNT, dimension - DIMENSION))])
    wide = wide + rng.normal(0, 0.03, wide.shape)
    words = [f"{name}{i}" for i in range(COUNT)]
    for neighbour in (place - 1, place):  # the number of a pair of neighbours in the chain
        if 0 <= neighbour < len(chain) - 1:
            first = SHARED * neighbour
            words[first : first + SHARED] = [f"shared{i}" for i in range(first, first + SHARED)]
    turned = (wide @ rotation(place + 9, dimension).T).astype(np.float32)
    return normalise_in_place(Vectors(name, words, turned), ("unit", "centre", "unit"))[0]


def right(source: Vectors, target: Vectors, learned: Learned) -> float:
    """The share of words whose best translation is the right one."""
    maps = learned.alignment.source_map, learned.alignment.target_map
    x, y = (
        torch.from_numpy(mapped(side.matrix, own)) for side, own in zip((source, target), maps, strict=True)
    )
    return float((best_targets(x, y, Retrieval()) == torch.arange(COUNT)).double().mean())


def test_directly_it_fails() -> None:
    with pytest.raises(Mismatch, match="got 0"):
        learn(language("xx"), language("en"), config=CONFIG, runtime=Runtime())


@pytest.mark.slow
def test_over_several_others() -> None:
    languages = {name: language(name) for name in CHAIN}
    en = languages["en"]
    order = ("xx", "de", "fr")
    many = learn_many([languages[name] for name in order], en, config=CONFIG, runtime=Runtime())
    assert tuple(many.languages) == order
    assert {name: one.via for name, one in many.languages.items()} == {
        "xx": ("fr", "de"),
        "fr": ("de",),
        "de": (),
    }
    for name, one in many.languages.items():
        assert one.verdict.label == "aligned"
        assert right(languages[name], en, one) > 0.95
        assert one.alignment.target_map is None
    assert many.languages["fr"].alignment.method == "via de: identical + identical"
    assert many.languages["fr"].candidates[-1].alignment.method == "via de: identical + identical"
    assert many.languages["xx"].alignment.inits == ("identical", "identical", "identical")
    assert "detour" in many.seconds


@pytest.mark.slow
@pytest.mark.parametrize("label", ["failed", "aligned"])
def test_what_pairs_taught_is_kept_with_the_direct_mapping_alone(label: str) -> None:
    chain = ("xx", "fr", "en")
    xx, fr, en = (language(name, chain) for name in chain)
    paths = Paths(LanguagePair(xx, en), CONFIG)
    over = learn(fr, en, config=CONFIG, runtime=Runtime())
    taught = Supervision(10, "procrustes", 9, 10, 0.0, ())
    verdict = Verdict(label, 1.0 if label == "aligned" else 0.1, 0.1, 0.1)
    direct = replace(over, verdict=verdict, supervision=taught, seconds={"init": 1.0, "detour": 2.0})
    found = paths.best_path(direct, [Bridge(fr, over.alignment.source_map, "identical")])
    assert found is not None
    assert (found.supervision is None) == bool(found.via) == (label == "failed")
    assert found.seconds["detour"] > 2.0  # of earlier detours too


@pytest.mark.slow
def test_a_language_for_detours_only() -> None:
    chain = ("xx", "fr", "en")
    xx, fr, en = (language(name, chain) for name in chain)
    many = learn_many([xx], en, config=CONFIG, runtime=Runtime(), via=[fr])
    assert list(many.languages) == ["xx"]
    assert many.languages["xx"].via == ("fr",)
    assert right(xx, en, many.languages["xx"]) > 0.95


@pytest.mark.slow
def test_a_language_of_the_saved_space() -> None:
    chain = ("xx", "fr", "en")
    xx, fr, en = (language(name, chain) for name in chain)
    known = learn(fr, en, config=CONFIG, runtime=Runtime()).alignment.source_map
    in_space = replace(fr, matrix=mapped(fr.matrix, known))
    saved = Bridge(in_space, np.eye(DIMENSION, dtype=np.float32), "gromov:rank")
    config = replace(CONFIG, fixed_target=True)
    many = learn_many([xx], en, config=config, runtime=Runtime(), saved=[saved])
    assert many.languages["xx"].alignment.method == "via fr: identical + gromov:rank"
    assert right(xx, en, many.languages["xx"]) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [(28, 24, 20), (20, 28, 20), (28, 20, 28), (20, 24, 28)])
def test_over_vectors_of_another_dimension(dimensions: tuple[int, ...]) -> None:
    chain = ("xx", "fr", "en")
    xx, fr, en = (language(name, chain, size) for name, size in zip(chain, dimensions, strict=True))
    one = learn_many([xx], en, config=CONFIG, runtime=Runtime(), via=[fr]).languages["xx"]
    assert one.via == ("fr",)
    assert len(one.alignment.source_map) == min(dimensions[0], dimensions[2])
    assert one.alignment.orthogonality_defect < 1e-5
    assert right(xx, en, one) > 0.9


def test_who_succeeds_directly_makes_no_detour() -> None:
    chain = ("fr", "en", "de")
    fr, en, de = (language(name, chain) for name in chain)
    alone = learn(fr, en, config=CONFIG, runtime=Runtime())
    many = learn_many([fr, de], en, config=CONFIG, runtime=Runtime(), via=[de])
    found = many.languages["fr"]
    assert found.via == ()
    np.testing.assert_array_equal(found.alignment.source_map, alone.alignment.source_map)
    assert many.seconds.keys() == {"init", "refine"}


def noisy(name: str, noise: float, seed: int) -> Vectors:
    """A rotated copy of 800 toy words with as much noise as given."""
    rows = cloud(0, 800)
    error = np.random.default_rng(seed).normal(0, noise, rows.shape)
    turned = ((rows + error) @ rotation(seed, DIMENSION).T).astype(np.float32)
    named = Vectors(name, [f"{name}{i}" for i in range(800)], turned)
    return normalise_in_place(named, ("unit", "centre", "unit"))[0]


@pytest.mark.slow
def test_the_better_way_is_chosen_by_the_verdict() -> None:
    fr, en, xx = noisy("fr", 0.02, 1), noisy("en", 0.15, 4), noisy("xx", 0.25, 3)
    config = AlignConfig(init="similarity", reweight=False, fixed_target=True)
    direct = learn(xx, en, config=config, runtime=Runtime())
    assert direct.verdict.label == "failed"
    known = learn(fr, en, config=config, runtime=Runtime()).alignment.source_map
    wrong = Bridge(replace(fr, language="wrong"), rotation(7, DIMENSION))
    for intermediates, via in (([wrong], ()), ([wrong, Bridge(fr, known)], ("fr",))):
        found = learn_many([xx], en, config=config, runtime=Runtime(), saved=intermediates)
        one = found.languages["xx"]
        assert one.via == via
        assert [candidate.alignment.method for candidate in one.candidates][0] == "similarity"
        assert len(one.candidates) == 1 + len(intermediates)
        if via:
            assert one.verdict.confidence > direct.verdict.confidence
        else:
            np.testing.assert_array_equal(one.alignment.source_map, direct.alignment.source_map)


def test_where_no_path_leads_the_direct_error_is_reported() -> None:
    chain = ("xx", "fr", "en")
    lone = language("xx", ("xx",))
    fr, en = (language(name, chain) for name in chain[1:])
    found = learn_many([lone, fr], en, config=CONFIG, runtime=Runtime())
    assert str(found.failures["xx"]).startswith("xx into en: identical strings need at least 10")


def test_the_nearest_first() -> None:
    xx, fr, de, en = (language(name) for name in CHAIN)
    identity = np.eye(DIMENSION, dtype=np.float32)
    intermediates = [Bridge(side, identity) for side in (en, de, fr)]
    assert [one.language for one in nearest_first(xx, intermediates)] == ["fr", "en", "de"]
    assert [one.language for one in nearest_first(de, intermediates[:1] + intermediates[2:])] == ["en", "fr"]
    doubtful = replace(intermediates[2], aligned=False)
    assert [one.language for one in nearest_first(xx, [doubtful, *intermediates[:2]])] == ["en", "de", "fr"]


def test_paths_of_rows_sees_a_sample_of_them_in_random_order() -> None:
    source, target = (replace(language(name), frequency_ordered=False) for name in ("xx", "en"))
    config = AlignConfig(init="clusters")
    paths = Paths.of(LanguagePair(source, target), config)
    assert paths.config == config.for_unranked_rows()
    for side, whole in zip(paths.pair.sides, (source, target), strict=True):
        assert side.words != whole.words
        assert sorted(side.words) == sorted(whole.words)
        order = [whole.index[word] for word in side.words]
        assert np.array_equal(side.matrix, whole.matrix[order])
    words = LanguagePair(language("xx"), language("en"))
    assert Paths.of(words, CONFIG).pair is words
