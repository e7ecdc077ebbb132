"""Strings that a caller gives: what would be iterated over otherwise than meant is refused, everywhere."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from muse.errors import BadSetting
from muse.ranking.ranker import translate_words
from muse.search.retrieval import Retrieval
from muse.sentences.loading import load_encoder
from muse.text.strings import all_strings
from muse.translate.text import Translator
from tests.support.spaces import plain_space

Take = Callable[[Any], object]
SPACE = plain_space(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32), list("chat"), list("chat"))
NN = Retrieval("nn")
TAKERS: dict[str, tuple[Take, str]] = {
    "translate_words": (lambda given: translate_words(SPACE, given, retrieval=NN), "words"),
    "encoder": (lambda given: load_encoder("mean", SPACE).encode(given, "fr").matrix.tolist(), "sentences"),
    "Translator": (lambda given: Translator(SPACE).translate(given), "lines"),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("chat", "got 'chat'; put one into a list"),
        (b"chat", "got bytes; put one into a list"),
        (7, "got int; put one into a list"),
        ({"c": 1}, "got a dict with the keys 'c'; give one of its values, or all as"),
        (pd.DataFrame({"c": ["h"]}), r"got a DataFrame with the columns 'c'; give the column of the .*frame"),
        (["c", float("nan")], "got nan as number 2; leave out"),
        (["c", None], "got None as number 2; leave out"),
    ],
)
def test_what_is_no_list_of_strings_is_refused(taker: str, given: object, message: str) -> None:
    take, what = TAKERS[taker]
    with pytest.raises(BadSetting, match=f"^{what} must be .*{message}"):
        take(given)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("kind", [tuple, iter, np.array, pd.Series, pd.Index, dict.fromkeys])
def test_other_collections_are_as_lists(taker: str, kind: Callable[[list[str]], Iterable[str]]) -> None:
    take, _ = TAKERS[taker]
    given = kind(["c", "h"])
    assert take(given.keys() if isinstance(given, dict) else given) == take(["c", "h"])
    assert all_strings(iter(["c", "h"]), "words") == ["c", "h"]
