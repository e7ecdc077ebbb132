"""Devices: every stage finds on a pretended GPU what it finds on the CPU; it refuses what CUDA refuses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.alignment import Alignment
from muse.errors import MissingExtra, NotConverged
from muse.learn.initialise.adversarial import AdversarialConfig, adversarial
from muse.learn.initialise.features import FeaturesConfig, features
from muse.learn.initialise.gromov import GromovConfig, gromov
from muse.learn.initialise.identical import IdenticalConfig, identical
from muse.learn.initialise.similarity import SimilarityConfig, similarity
from muse.learn.joint import JointConfig, refine_jointly
from muse.learn.pair import LanguagePair
from muse.learn.refine import RefineConfig, refine
from muse.learn.reweighting import reweight
from muse.learn.supervise import induced
from muse.learn.supervise.cross_validation import trimmed
from muse.learn.supervise.descent import ContrastiveConfig, RelaxedConfig, contrastive, relaxed
from muse.learn.supervise.linear import CanonicalConfig, canonical, fit_whitened, orthogonal
from muse.learn.supervise.model_selection import ChoiceConfig, Start, choose
from muse.learn.supervise.training_pairs import Maps, TrainingPairs, pairs_of
from muse.learn.verdict import judge
from muse.lexicon import Lexicon
from muse.procrustes import correlation_weighted, cross_fitted, gram, procrustes, svd
from muse.ranking.probability import calibrate_rows, held_out_scores
from muse.run.runtime import Runtime, pick_device
from muse.search import approximate, bidirectional_search
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch, SimilarityMatrix
from muse.search.exact import nearest
from muse.search.retrieval import METHODS, PairScore, Retrieval, log_partition, translations
from muse.sentences.evaluation.retrieval import Queries, sentence_ranks
from muse.sentences.mining import MiningConfig, mine
from muse.vectors import Vectors
from tests.support.devices import Generator, RefusedByCuda, on_gpu, pretended_faiss, pretended_gpu
from tests.support.spaces import best, plain_space
from tests.support.toys import pair

N, D = 400, 20
SOURCE, TARGET, TURN = pair(N, D, noise=0.1)
START = Alignment(TURN, method="m")
WRONG = 60  # of the pairs of the evidence

Found = Sequence[Tensor | NDArray[Any] | float]
Stage = Callable[[Runtime], Found]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def sides(runtime: Runtime) -> tuple[Tensor, Tensor]:
    """Both languages, the source rotated: (N, D) each."""
    x = SOURCE.tensor(runtime.device) @ torch.from_numpy(TURN.T.copy()).to(runtime.device)
    return x, TARGET.tensor(runtime.device)


def evidence(runtime: Runtime, wrong: int = 0) -> TrainingPairs:
    """Most words with their translations, of which the first `wrong` are not, and ten phrases."""
    names = [(f"fr{row}", f"en{(row + 7) % N if row < wrong else row}") for row in range(N - 20)]
    phrases = [(f"fr{row} fr{row + 1}", f"en{row} en{row + 1}") for row in range(N - 20, N - 10)]
    return pairs_of(Lexicon((*names, *phrases)), SOURCE, TARGET, device=runtime.device)


def initial(method: Callable[..., Iterator[Alignment]], config: object) -> Stage:

    def stage(runtime: Runtime) -> Found:
        pair = LanguagePair(SOURCE, TARGET, runtime)
        found = method(pair, pair.criterion(), rng(), config=config)
        return [part for one in found for part in (one.source_map, one.criterion)]

    return stage


def whole_searches(runtime: Runtime) -> Found:
    x, y = sides(runtime)
    matrix = SimilarityMatrix.of(x[:100], y)
    return [*matrix.rows.nearest(3), *matrix.columns.nearest(3), *nearest(x, y, 10, bias=y[:, 0])]


def both_directions(runtime: Runtime) -> Found:
    products = BidirectionalSearch(*sides(runtime))
    known = products.nearest(5)
    biases = tuple(one.scores.mean(dim=1) / 2 for one in known)
    return [
        *known.of_source,
        *known.of_target,
        *products.best((biases[0], biases[1]), known),
        *products.hubness(3),
    ]


def retrievals(runtime: Runtime) -> Found:
    x, y = sides(runtime)
    found: list[Tensor] = [log_partition(x, y, beta=30.0)]
    for method in METHODS:
        how = Retrieval(method)
        found += [*translations(x, y, how), *how.translate(x, y, 3, bias=how.bias(x, y))]
    return [*found, *(part for method in ("nn", "csls", "isf") for part in PairScore(method).sides(x, y))]


def probabilities(runtime: Runtime) -> Found:
    x, y = sides(runtime)
    fitted = [calibrate_rows(x, y, rng=rng()), calibrate_rows(x, y, rng=rng(), unweighted=(x, y))]
    numbers = [number for one in fitted for number in (one.closed_set, one.open_set, one.none)]
    return [*numbers, *held_out_scores(x, y, top=5, rng=rng())]


def rotations(runtime: Runtime) -> Found:
    x, y = sides(runtime)
    rows = torch.arange(N, device=x.device)
    folds, grams = rows % 5, (gram(x), gram(y))
    pairs = torch.stack([rows, rows], dim=1)
    fitted = [cross_fitted(x, y, pairs, folds, known) for known in (None, grams)]
    return [procrustes(x, y), *correlation_weighted(y.T @ x, *grams), *fitted]


def fits(runtime: Runtime) -> Found:
    known = evidence(runtime)
    quick = induced.SelfLearningConfig(cutoffs=(200,), rounds=(2,))
    start = canonical(known, CanonicalConfig())
    grown = induced.self_learning(known, start, quick, rng())
    maps = [
        start, orthogonal(known), fit_whitened(known), relaxed(known, RelaxedConfig(steps=2)),
        contrastive(known, start, ContrastiveConfig(steps=2), rng()), canonical(grown, CanonicalConfig()),
        induced.refined(known, orthogonal(known), RefineConfig(cutoffs=(200,), max_rounds=2), rng()),
    ]  # fmt: skip
    return [part for one in maps for part in one.sides]


def led_by_pairs(runtime: Runtime) -> Found:
    known = evidence(runtime)
    few = known.only((torch.arange(len(known)) < 20).to(runtime.device))
    found = induced.with_transport(few, induced.GuidedTransportConfig(gromov=GromovConfig(words=300)))
    return [found.pairs, found.weights]


def without_mistakes(runtime: Runtime) -> Found:
    kept = trimmed(evidence(runtime, WRONG), CanonicalConfig(), rng())
    assert len(kept) < N - 10  # some were left out
    return [kept.pairs, kept.weights]


def chosen(runtime: Runtime) -> Found:
    start = Maps.of_mapping(torch.from_numpy(TURN).to(runtime.device))
    maps, supervision = choose(
        evidence(runtime, WRONG), [Start("gromov", start)], ChoiceConfig(), seed=[0], runtime=runtime
    )
    return [*maps.sides, float(supervision.right), supervision.chance]


def refinement(runtime: Runtime) -> Found:
    config = RefineConfig(cutoffs=(200, N), share=1.0)
    found = refine(LanguagePair(SOURCE, TARGET, runtime), START, config=config, rng=rng())
    return [one.source_map for one in found]


def verdict(runtime: Runtime) -> Found:
    pair = LanguagePair(SOURCE, TARGET, runtime)
    found = judge(pair, START, rng())
    moved = judge(pair, replace(START, target_map=np.eye(D, dtype="f4")), rng())
    return [found.confidence, found.agreement, found.null, moved.agreement]


def reweighting(runtime: Runtime) -> Found:
    found = reweight(LanguagePair(SOURCE, TARGET, runtime), START, rng=rng())
    return [found.source_map, *([] if found.target_map is None else [found.target_map])]


def jointly(runtime: Runtime) -> Found:
    third = Vectors("it", [f"it{row}" for row in range(N)], SOURCE.matrix @ TURN)
    start = {"fr": TURN, "it": TURN @ TURN}
    config = JointConfig(share=1.0, rounds=1)
    found = refine_jointly([SOURCE, third, TARGET], start, rng=rng(), runtime=runtime, config=config)
    return [*found.mappings.values(), *(float(one.after) for one in found.changes)]


def mined(mode: str) -> Stage:
    def stage(runtime: Runtime) -> Found:
        config = MiningConfig(device=runtime.device, approximation=Approximation(mode))
        found = mine(SOURCE.matrix @ TURN.T, TARGET.matrix, config=config)
        return [found.pairs, found.scores]

    return stage


def sentences(runtime: Runtime) -> Found:
    gold = np.arange(N)
    queries = Queries(SOURCE.matrix @ TURN.T, TARGET.matrix, gold)
    return [sentence_ranks(queries, PairScore(method), device=runtime.device) for method in ("nn", "margin")]


def looked_up(runtime: Runtime) -> Found:
    space = plain_space(SOURCE.matrix @ TURN.T, TARGET.matrix, list(SOURCE.words), list(TARGET.words))
    space = replace(space, device=runtime.device)
    found = [best(space, "fr3", top=5, retrieval=Retrieval(method)) for method in METHODS]
    return [score for best in found for _, score in best] + [space.unweighted("fr", 50)]


QUICK = AdversarialConfig(restarts=3, survivors=1, prune_from=1, epochs=2, steps=20, hidden=32, dimensions=10)
STAGES: dict[str, Stage] = {
    "search": whole_searches,
    "both directions": both_directions,
    "retrieval": retrievals,
    "probability": probabilities,
    "procrustes": rotations,
    "gromov": initial(gromov, GromovConfig(words=300)),
    "features": initial(features, FeaturesConfig(words=300)),
    "similarity": initial(similarity, SimilarityConfig()),
    "identical": initial(identical, IdenticalConfig()),
    "adversarial": initial(adversarial, QUICK),
    "refinement": refinement,
    "verdict": verdict,
    "re-weighting": reweighting,
    "joint refinement": jointly,
    "fits to pairs": fits,
    "trimming": without_mistakes,
    "transport led by pairs": led_by_pairs,
    "choice": chosen,
    "mining": mined("exact"),
    "approximate mining": mined("approximate"),
    "sentences": sentences,
    "space": looked_up,
}
# These hand a matrix to numpy or to an index on the CPU, once a side, and not in a loop.
COPY_A_MATRIX = {"similarity", "mining", "approximate mining"}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    # So that a toy has several blocks of products, an index, and words that both languages spell alike.
    monkeypatch.setattr(bidirectional_search, "MAX_CACHED_BYTES", 4 * 8 * N * 20)
    monkeypatch.setattr(approximate, "FEWEST_KEYS", 100)
    monkeypatch.setattr(approximate, "TRAINED_ON", 8)
    monkeypatch.setattr("muse.learn.supervise.cross_validation.LEAST_PAIRS", 100)
    monkeypatch.setattr("muse.learn.supervise.model_selection.LEAST_TO_TRAIN", 100)
    monkeypatch.setattr(
        "muse.learn.initialise.identical.identical_strings",
        lambda *_: Lexicon(tuple((f"fr{row}", f"en{row}") for row in range(N))),
    )


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "choice" else name for name in STAGES]
)
def test_a_stage_finds_on_the_gpu_what_it_finds_on_the_cpu(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [_plain(part) for part in STAGES[name](Runtime("cpu"))]
    with pretended_gpu(monkeypatch) as gpu:
        found = STAGES[name](Runtime("cuda"))
        copied = list(gpu.copied_back)
        there = [_plain(part) for part in found]
    assert len(there) == len(expected)
    for own, other in zip(there, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-5)
    assert gpu.arrivals  # it was there
    if name not in COPY_A_MATRIX:
        assert max(copied, default=0) < N * D


@pytest.mark.gpu
@pytest.mark.parametrize("name", STAGES)
def test_a_stage_runs_on_a_gpu(name: str) -> None:
    both = ([_plain(part) for part in STAGES[name](Runtime(device))] for device in ("cpu", "cuda"))
    for own, other in zip(*both, strict=True):
        assert own.shape == other.shape
        if name != "adversarial":  # it draws other random numbers on a GPU
            # A singular vector has either sign, and with it a direction of both maps.
            np.testing.assert_allclose(np.abs(own), np.abs(other), atol=0.02)


def _plain(part: Tensor | NDArray[Any] | float) -> NDArray[Any]:
    return part.detach().cpu().numpy() if isinstance(part, Tensor) else np.asarray(part)


def test_a_decomposition_that_fails_on_the_gpu_is_made_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).normal(size=(4, 3))
    with pretended_gpu(monkeypatch), monkeypatch.context() as patch:
        patch.setattr(torch.linalg, "svd", _stalls)
        parts = svd(torch.tensor(matrix, device="cuda"))
        assert all(map(on_gpu, parts))
        left, values, right = (part.cpu().numpy() for part in parts)
        with pytest.raises(NotConverged):
            svd(torch.full((2, 2), torch.nan, device="cuda"))
    np.testing.assert_allclose((left * values) @ right, matrix, atol=1e-9)


def _stalls(*_: object, **__: object) -> None:
    raise RuntimeError("the algorithm failed to converge")


def test_the_pretended_gpu_is_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        assert pick_device("auto") == "cuda"


MISTAKES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "a sum": lambda there, here: there + here,
    "a product": lambda there, here: here @ there,
    "a gather": lambda there, here: here.gather(0, there.long()),
    "rows of the CPU by numbers on the GPU": lambda there, here: here[there.long()],
    "an assignment": lambda there, here: there.__setitem__(0, here[0]),
    "an output": lambda there, here: torch.mm(there, there, out=here),
    "a list": lambda there, here: torch.cat([there, here]),
    "a list of numbers": lambda there, here: torch.stack([there[0, 0], here[0, 0]]),
    "numpy": lambda there, here: there.numpy(),
    "numpy of a view": lambda there, here: np.asarray(there.T[1:]),
    "numpy of a new tensor": lambda there, here: torch.zeros_like(there).numpy(),
    "numpy of a parameter": lambda there, here: torch.nn.Parameter(there).detach().numpy(),
    "a module": lambda there, here: torch.nn.Linear(2, 2).to("cuda")(here),
    "a generator": lambda there, here: torch.rand(2, generator=torch.Generator("cuda")),
    "a generator of the CPU": lambda there, here: torch.rand(2, device="cuda", generator=torch.Generator()),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_pretended_gpu_refuses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        there, here = torch.eye(2, device="cuda"), torch.eye(2)
        with pytest.raises(RefusedByCuda):
            MISTAKES[name](there, here)


def test_the_pretended_gpu_lets_pass_what_cuda_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch) as gpu:
        there, here = torch.eye(2, device="cuda"), torch.eye(2)
        assert there.device == torch.device("cuda", 0)
        assert there.is_cuda and not here.is_cuda and not there.cpu().is_cuda
        assert (there * here[0, 0])[here.long()[0]].is_cuda  # a number, and row numbers, of the CPU
        assert here.to(there).is_cuda and here.copy_(there).device.type == "cpu"
        drawn = torch.rand(2, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
        assert there.cpu() is not there and there.to("cuda") is there
        assert gpu.copied_back == [4, 4]
    assert torch.equal(drawn, torch.rand(2, generator=Generator().manual_seed(1)))


def test_faiss_on_a_gpu_searches_without_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pretended_faiss(monkeypatch)
    rows = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32))
    bias = torch.linspace(-1, 1, 50)
    expected = [nearest(rows[:9], rows, 3, bias=one) for one in (None, bias)]
    with pretended_gpu(monkeypatch) as gpu:
        there = rows.to("cuda")
        before = len(gpu.copied_back)
        found = [
            nearest(there[:9], there, 3, bias=None if one is None else one.to("cuda"), backend="faiss")
            for one in (None, bias)
        ]
        assert max(gpu.copied_back[before:], default=0) < len(rows)  # a count at most, and no rows
        assert all(one.indices.is_cuda and one.scores.is_cuda for one in found)
        indices = [one.indices.cpu() for one in found]
        assert len(made) == 1  # it takes a second, so all searches share it
    for one, other in zip(indices, expected, strict=True):
        assert torch.equal(one, other.indices)


def test_faiss_without_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_gpu(monkeypatch):
        rows = torch.eye(3, device="cuda")
        with pytest.raises(MissingExtra, match="faiss-gpu"):
            nearest(rows, rows, 1, backend="faiss")
