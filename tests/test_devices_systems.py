"""Systems on a pretended GPU: each is trained there, mixes no devices, and encodes what it was trained on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.systems.registry import SAVED, train_system
from muse.sentences.systems.system import TrainingRequest
from tests.support.devices import pretended_gpu
from tests.support.parallel import part_of, toy_space, toy_text, write_text

pytestmark = pytest.mark.slow

pytest.importorskip("tokenizers")

LABELS = ("entailment", "neutral", "contradiction")
SMALL = {"layers": "1", "heads": "2", "hidden": "16"}
LAYERS = {
    "encoder_layers": "1", "decoder_layers": "1", "hidden": "16", "heads": "2", "feed_forward": "16",
    "semantic": "16", "language": "16", "vocabulary": "150",
}  # fmt: skip
TRANSLATOR = {**SMALL, "pieces": "200", "longest": "24", "warmup": "5"}
# By what is trained: the system, what it learns from, its settings.
RUNS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "x-cbow": ("x-cbow", ("parallel",), {}),
    "projection": ("projection", ("parallel",), {}),
    "cvm-add": ("cvm-add", ("parallel",), {}),
    "sp": ("sp", ("parallel",), {"pieces": "150"}),
    "sp by a bilstm": ("sp", ("parallel",), {"pieces": "150", "network": "bilstm", "units": "8"}),
    "lens": ("lens", ("parallel",), {"dimension": "32"}),
    "gated lens by inference": ("lens", ("nli",), {"kind": "gated", "dimension": "32", "gate": "8"}),
    "infersent": ("infersent", ("nli",), {"units": "8"}),
    "translation detection": ("infersent", ("parallel",), {"objective": "td", "units": "8"}),
    "cmlm": ("cmlm", ("documents", "parallel"), {**SMALL, "feed_forward": "16", "longest": "8"}),
    "bgt of words": ("bgt", ("parallel",), {"bag": "words", "vocabulary": "100"}),
    "bgt of pieces": ("bgt", ("parallel",), {"vocabulary": "100"}),
    "bgt of layers": ("bgt", ("parallel",), LAYERS),
    "bgt of the pivot": ("bgt", ("parallel",), {**LAYERS, "read_from": "pivot", "language": "0"}),
    "bgt of samples": (
        "bgt",
        ("parallel",),
        {**LAYERS, "language": "0", "reconstruction": "0", "translates": "sample"},
    ),
    "xlm": ("xlm", ("text", "parallel"), {**SMALL, "pieces": "150", "length": "24"}),
    "translator": ("translator", ("text",), {**TRANSLATOR, "words": "1"}),
    "ordered translator": ("translator", ("text", "parallel"), {**TRANSLATOR, "attention": "ordered"}),
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    pairs = toy_text(120)
    write_text(tmp_path / "parallel.tsv", pairs)
    rows = ["premise\thypothesis\tlabel\tSemEval_set"]
    rows += [f"{pairs[i][1]}\t{pairs[i - 1][1]}\t{LABELS[i % 3]}\t{part_of(i)}" for i in range(120)]
    (tmp_path / "nli.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for number, language in enumerate(("en", "fr")):
        lines = [pair[number] for pair in toy_text(200, seed=number)]
        documents = (f"document {place // 8}\t{line}" for place, line in enumerate(lines))
        (tmp_path / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (tmp_path / f"{language}.tsv").write_text("\n".join(documents) + "\n", encoding="utf-8")
    return tmp_path


def given(files: Path, kind: str) -> dict[str, Any]:
    if kind == "parallel":
        return {"parallel": (files / "parallel.tsv",)}
    if kind == "nli":
        return {"nli": files / "nli.tsv"}
    ending = "txt" if kind == "text" else "tsv"
    return {"texts": {language: files / f"{language}.{ending}" for language in ("en", "fr")}}


@pytest.mark.parametrize("name", RUNS)
def test_it_is_trained_on_a_gpu(name: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, kinds, settings = RUNS[name]
    texts = {key: value for kind in kinds for key, value in given(files, kind).items()}
    request = TrainingRequest(
        toy_space(files / "space"), "fr", files / "out", settings=settings,
        trainer={"epochs": 1, "batch": 16, "steps": 2}, **texts,
    )  # fmt: skip
    with pretended_gpu(monkeypatch) as gpu:
        trained = train_system(system, request, Runtime("cuda", Progress(quiet=True)))
        assert gpu.arrivals
        assert np.isfinite(trained.epochs[-1].loss)
        rows = trained.encoder.encode(["fr1 fr2", ""], "fr").matrix
    assert rows.any(axis=1).tolist() == [True, False]


def test_every_system_is_here() -> None:
    of_saved_ones = {"x-bilstm", "xlm --nli"}  # they begin with another encoder
    assert {system for system, _, _ in RUNS.values()} == set(SAVED) - of_saved_ones
