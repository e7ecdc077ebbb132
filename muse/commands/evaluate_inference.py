"""The task nli of `muse evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from muse.commands.encoders import made_by, open_encoder
from muse.commands.options import open_space


def inference(space: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The accuracy of an encoder's own classifier on the test part of a file of inferences."""
    import numpy as np

    from muse.evaluation.inference import evaluate_inference
    from muse.evaluation.score import gold_name, space_signature
    from muse.files.nli import read_nli
    from muse.systems.nli.classification import classify

    text = read_nli(options["pairs"]).part("test")
    loaded = open_space(space, options["device"], options["quiet"])
    language = options["source"]
    loaded.side(language)
    encoder = open_encoder(loaded, options)
    signature = space_signature(
        loaded, language, language, retrieval="classifier", gold=gold_name(options["pairs"]),
        more=made_by(encoder, options),
    )  # fmt: skip
    found = classify(encoder, text.premises, text.hypotheses, language, progress=loaded.progress)
    score = evaluate_inference(
        found, np.array(text.labels), signature, rng=np.random.default_rng(options["seed"])
    )
    return score.as_json(), [str(score)]
