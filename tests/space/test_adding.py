"""Adding a language to a space: the others keep every byte, whole or not at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadFile, BadSetting, Mismatch, NotConverged
from muse.files.space_manifest import Manifest
from muse.search.retrieval import Retrieval
from muse.space import Provenance, SideToSave, add_to_space, check_addition, load_space
from tests.commands.test_word_answers import space_of_rows
from tests.support.command import tree
from tests.support.spaces import derived, raw_rows, rotation, saved, side_to_save

SURE, UNSURE = {"label": "aligned", "confidence": 0.9}, {"label": "failed", "confidence": 0.1}


def new_side(count: int = 30, dimension: int = 8) -> SideToSave:
    side = side_to_save("es", raw_rows(7, count, dimension), rotation(7, dimension))
    return replace(side, more={"method": "similarity", "verdict": SURE})


def add(folder: Path, space: Path, side: SideToSave | None = None, verdict: Any = SURE, **more: Any) -> None:
    made = Provenance("similarity", criterion=0.25, verdict=verdict)
    add_to_space(folder, space, {"es": side or new_side()}, provenance=made, **more)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_the_others_keep_every_byte(tmp_path: Path, elsewhere: bool) -> None:
    saved(tmp_path / "s", "fr", "de/at")
    before = tree(tmp_path / "s")
    out = tmp_path / ("t" if elsewhere else "s")
    add(out, tmp_path / "s")
    after = tree(out)
    assert {name: after[name] for name in before if name != "manifest.json"} == {
        name: data for name, data in before.items() if name != "manifest.json"
    }
    assert set(after) - set(before) == {
        "es", *(f"es/{name}" for name in ("words.txt", "vectors.npy", "mapping.npy", "means.npy")),
    }  # fmt: skip
    if elsewhere:
        assert tree(tmp_path / "s") == before
    assert {path.name for path in tmp_path.iterdir()} == ({"s", "t"} if elsewhere else {"s"})


def test_rows_keep_their_texts_beside_a_new_language(tmp_path: Path) -> None:
    space_of_rows(tmp_path / "s")
    side = new_side()
    texts = [f"text {row}" for row in range(len(side.vectors))]
    add(
        tmp_path / "s",
        tmp_path / "s",
        replace(side, vectors=replace(side.vectors, frequency_ordered=False, texts=texts)),
    )
    space = load_space(tmp_path / "s")
    assert list(space.vectors("es").texts or ()) == texts
    assert not isinstance(space.vectors("es").texts, list)  # they are not in memory
    assert space.vectors("fr").text_of("3") == "fr text 3 of <b>"
    (tmp_path / "s" / "en" / "texts.txt").unlink()
    with pytest.raises(BadFile, match=r"en/texts\.txt: expected a file of an aligned space"):
        load_space(tmp_path / "s")


def test_the_new_language_is_there_as_if_it_had_been_from_the_start(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    side = new_side()
    add(tmp_path / "s", tmp_path / "s", side)
    space = load_space(tmp_path / "s")
    assert space.languages == ("en", "fr", "es")
    assert space.vectors("es").words == side.vectors.words
    mapped = side.vectors.matrix @ side.map_or_identity().T
    np.testing.assert_allclose(space.vectors("es").matrix, mapped, atol=1e-6)
    for one, other in (("es", "en"), ("en", "es")):
        cosines = np.sort(space.vectors(one).matrix @ space.vectors(other).matrix.T, axis=1)
        bias = space.bias(other, one, Retrieval())
        assert bias is not None
        np.testing.assert_allclose(2 * bias.numpy(), cosines[:, -10:].mean(axis=1), atol=1e-5)
    assert space.manifest.languages["es"].verdict.fields == SURE
    assert space.method("es", "en") == "similarity"
    assert space.method("fr", "en") == "gromov"  # that of the space, where a language names none
    assert space.manifest.mapping == "orthogonal"


def test_what_was_derived_is_kept_on_unless_it_is_damaged(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    was = derived(tmp_path / "s").hubness("en", "fr")
    (tmp_path / "s" / "fr" / "calibration.en.json").write_text("{}")
    add(tmp_path / "s", tmp_path / "s")
    space = load_space(tmp_path / "s")
    found = space.hubness("en", "fr")
    assert found is not None and was is not None
    assert torch.equal(found, was)
    assert space.hubness("en", "es") is None
    assert "en/calibration.fr.json" in space.manifest.checksums
    assert "fr/calibration.en.json" not in space.manifest.checksums


def test_the_verdict_on_the_whole_is_the_worst(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    add(tmp_path / "t", tmp_path / "s", verdict=UNSURE)
    manifest = load_space(tmp_path / "t").manifest
    assert (manifest.verdict.fields, manifest.criterion) == (UNSURE, 0.25)
    add(tmp_path / "t", tmp_path / "s", verdict={"label": "aligned", "confidence": 1})
    assert load_space(tmp_path / "t").manifest.criterion == 0.5


def test_a_mapping_that_is_no_rotation_is_said_to_be_none(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    add(tmp_path / "s", tmp_path / "s", replace(new_side(), mapping=2 * rotation(1)))
    assert load_space(tmp_path / "s").manifest.mapping == "linear"


def test_what_cannot_be_added(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    before = tree(tmp_path)
    assert check_addition(tmp_path / "s", ["es"], "en") == "en"
    with pytest.raises(BadSetting, match="got 'fr'"):
        check_addition(tmp_path / "s", ["es", "fr"])
    with pytest.raises(BadSetting, match="has the pivot en, got --tgt fr"):
        check_addition(tmp_path / "s", ["es"], "fr")
    with pytest.raises(BadFile, match="expected an aligned space, found no such folder"):
        check_addition(tmp_path / "none", ["es"])
    with pytest.raises(Mismatch, match=r"es: expected a mapping of shape \(8, 5\), .* shape \(5, 5\)$"):
        add(tmp_path / "s", tmp_path / "s", new_side(dimension=5))
    with pytest.raises(NotConverged, match="es: mapped vectors must be finite"):
        add(tmp_path / "s", tmp_path / "s", replace(new_side(), mapping=np.full((8, 8), np.nan, np.float32)))
    assert tree(tmp_path) == before


def test_a_broken_space_is_not_copied(tmp_path: Path) -> None:
    saved(tmp_path / "s", "fr")
    (tmp_path / "s" / "fr" / "words.txt").write_bytes(b"x\n")
    before = tree(tmp_path)
    with pytest.raises(BadFile, match=r"fr/words.txt: expected the saved file"):
        add(tmp_path / "s", tmp_path / "s")
    assert tree(tmp_path) == before


def test_interrupted_before_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "s", "fr")
    before = tree(tmp_path)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Manifest, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        add(tmp_path / "s", tmp_path / "s")
    assert tree(tmp_path) == before
