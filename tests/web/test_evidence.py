"""Evidence: what a manifest records is shown, what it lacks or has in another form is left out."""

from dataclasses import replace
from typing import Any

import pytest

from muse.files.space_manifest import Manifest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("sklearn")

from muse.web.responses import HeldOut, Judgement, SpaceFacts  # noqa: E402
from muse.web.routes import space_answer  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

VERDICT: dict[str, Any] = {
    "label": "aligned",
    "confidence": 0.9,
    "agreement": 0.7,
    "null": 0.1,
    "mutual": 0.5,
}


def shown(**manifest: Any) -> SpaceFacts:
    space = replace(small_space(), manifest=Manifest.of(**manifest))
    return space_answer(space, "x", {name: [] for name in space.languages})


def test_everything_that_is_recorded() -> None:
    entry = {
        "verdict": VERDICT,
        "signature": "csls:10 | fr-en",
        "files": [{"path": "/home/somebody/fr.vec.gz", "sha256": "ab12"}, {"path": "C:\\Users\\b\\fr.vec"}],
        "supervision": {"held_out_p_at_1": 61.5, "ci95": [55.0, 68.0], "pairs": 300, "chosen": "procrustes"},
    }
    found = shown(verdict=VERDICT, languages={"fr": entry}, mapping="linear", muse_version="1")
    french, english = found.languages
    assert french.verdict == Judgement(**VERDICT)
    assert french.held_out == HeldOut(held_out_p_at_1=61.5, ci95=(55.0, 68.0), pairs=300)
    assert french.signature == "csls:10 | fr-en"
    # Names alone: an address of a folder tells others who somebody is.
    files = [(file.name, file.sha256) for file in french.files]
    assert files == [("fr.vec.gz", "ab12"), ("fr.vec", None)]
    assert (english.verdict, english.signature, english.files) == (None, None, [])
    assert (found.verdict, found.confidence) == ("aligned", 0.9)
    assert (found.mapping, found.muse_version) == ("linear", "1")


def test_what_no_answer_can_hold_is_replaced_or_left_out() -> None:
    files = [{"path": "/data/fr\udcff.vec"}]  # a name that is not UTF-8
    found = shown(verdict={**VERDICT, "confidence": float("nan")}, languages={"fr": {"files": files}})
    assert found.languages[0].files[0].name == "fr?.vec"
    assert "nan" not in found.model_dump_json()


def test_the_verdict_on_several_mappings_is_that_on_none_of_them() -> None:
    two = small_space()
    german = replace(two.side("fr"), vectors=replace(two.vectors("fr"), language="de"))
    own = {**VERDICT, "confidence": 0.6}
    manifest = Manifest.of(verdict=VERDICT, languages={"fr": {"verdict": own}, "de": {}})
    space = replace(two, sides={**two.sides, "de": german}, manifest=manifest)
    found = space_answer(space, "x", {name: [] for name in space.languages})
    assert found.confidence == 0.9
    assert [language.verdict for language in found.languages] == [Judgement(**own), None, None]


def test_a_signature_is_made_where_none_is_recorded() -> None:
    signature = shown(method="gromov", seed=7).languages[0].signature
    assert signature is not None
    assert signature.startswith(
        "csls:10 | fr-en | unit | gromov | seed:7 | vocab:60/60 | own spelling | muse "
    )
