"""The worked example of CONTRIBUTING.md: the initialisation does what an initialisation must."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from muse.learn import auto
from muse.learn.initialise import INITIALISATIONS
from muse.learn.pair import LanguagePair
from muse.vectors import Vectors
from tests.test_architecture import PACKAGE

PAGE = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
TEXT = PAGE.partition("## Adding an initialisation")[2].partition("\n## ")[0]


def test_the_initialisation_of_the_example_recovers_a_rotated_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    module, line = re.findall(r"(?:^ {7}.*\n|^\n(?= {7}))+", TEXT, re.MULTILINE)
    names: dict[str, Any] = {**vars(auto)}
    exec(dedent(module), names)  # noqa: S102 - the code of our own page
    (name,) = added = eval(f"{{{line.strip()}}}", names)  # noqa: S307
    assert name not in INITIALISATIONS
    monkeypatch.setattr(auto, "KNOWN", auto.KNOWN | added)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 20)).astype(np.float32)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0].astype(np.float32)
    words = [f"w{row}" for row in range(300)]
    source, target = Vectors("fr", words, rows), Vectors("en", words, rows @ rotation.T)
    both = LanguagePair(source, target)
    (found,) = auto.KNOWN[name](both, both.criterion(), rng)
    np.testing.assert_allclose(found.source_map, rotation, atol=1e-4)
    assert found.method == name
