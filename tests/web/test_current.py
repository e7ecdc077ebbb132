"""A space whose files change while it is explored: whole answers of the old or the new one, or a refusal."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from muse.space import load_space, save_space  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from muse.web.current import CurrentExplorer  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from tests.support.asgi import Client  # noqa: E402
from tests.support.spaces import PROVENANCE, raw_rows, side_to_save  # noqa: E402

PATIENCE = 30  # seconds
QUESTION = "/api/translate?word=fr3&src=fr&tgt=en"


def save(folder: Path, seed: int) -> Path:
    """A space whose answers depend on the seed, and whose files have the same sizes for all seeds."""
    sides = {
        name: side_to_save(name, raw_rows(seed + place, 40), plain=True)
        for place, name in enumerate(("en", "fr"))
    }
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return folder


def client(folder: Path) -> Client:
    """A client of the explorer of a folder."""
    return Client(create_app(CurrentExplorer(folder, lambda: _explorer(folder))))


def _explorer(folder: Path) -> Explorer:
    explorer = Explorer(load_space(folder, into_memory=True), folder.name)
    explorer.fill_caches()
    return explorer


def best(folder: Path) -> Any:
    """The words that the explorer of a folder answers with."""
    return words(client(folder).get(QUESTION).json())


def words(answer: Any) -> list[str]:
    return [one["word"] for one in answer["translations"]]


def answered(own: Client) -> Any:
    """The first answer after refusals, each of which must say why."""
    end = time.monotonic() + PATIENCE
    while (answer := own.get(QUESTION)).status_code != 200:
        assert answer.status_code == 409
        assert "the files of the space have changed" in answer.json()["error"]
        assert time.monotonic() < end
        time.sleep(0.01)
    return words(answer.json())


@pytest.mark.parametrize("how", ["overwritten", "replaced"])
def test_it_answers_from_the_new_space(tmp_path: Path, how: str) -> None:
    live, other = save(tmp_path / "live", 1), save(tmp_path / "other", 5)
    # Of copies: an explorer keeps what it finds in its folder, even while that is copied.
    old, new = best(save(tmp_path / "as live", 1)), best(save(tmp_path / "as other", 5))
    assert old != new
    own = client(live)
    assert words(own.get(QUESTION).json()) == old
    if how == "replaced":
        save(live, 5)
    else:
        shutil.copytree(other, live, dirs_exist_ok=True)  # in place, as cp -r does
    assert own.get(QUESTION).status_code == 409
    assert answered(own) == new


def test_a_copy_that_is_not_complete_is_never_answered_from(tmp_path: Path) -> None:
    live, other = save(tmp_path / "live", 1), save(tmp_path / "other", 5)
    own = client(live)
    shutil.copy(other / "fr" / "vectors.npy", live / "fr" / "vectors.npy")
    end = time.monotonic() + PATIENCE
    while "expected the saved file" not in (refused := own.get(QUESTION)).json()["error"]:
        assert refused.status_code == 409 and time.monotonic() < end
        time.sleep(0.01)
    assert own.get(QUESTION).status_code == 409
    assert own.get("/healthz").status_code == own.get("/").status_code == 200
    shutil.copytree(other, live, dirs_exist_ok=True)
    assert answered(own) == best(save(tmp_path / "as other", 5))


def test_a_file_that_is_cut_short_ends_nothing(tmp_path: Path) -> None:
    live = save(tmp_path / "live", 1)
    explorer = _explorer(live)
    explorer._figures(("fr", "en")).result()  # probabilities are found in the background
    before = explorer.translations(("fr", "en"), "fr3", 5)
    for path in live.glob("*/*"):
        os.truncate(path, 10)
    # It would be a bus error if a page of the file were read.
    assert explorer.translations(("fr", "en"), "fr3", 5) == before
    assert explorer.neighbours(("fr", "en"), "fr3", 5)[0] == "fr3"


def test_a_broken_space_is_not_explored(tmp_path: Path) -> None:
    from muse.errors import BadFile

    live, other = save(tmp_path / "live", 1), save(tmp_path / "other", 5)
    shutil.copy(other / "en" / "words.txt", live / "en" / "words.txt")
    shutil.copy(other / "fr" / "vectors.npy", live / "fr" / "vectors.npy")
    with pytest.raises(BadFile, match="fr/vectors.npy: expected the saved file"):
        client(live)
