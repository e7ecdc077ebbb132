"""The phrase table, read by a parser of Moses' format of our own, against every score of every pair."""

import gzip
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from sacremoses import MosesTokenizer

from muse.errors import BadSetting
from muse.export import moses as module
from muse.export.moses import MosesConfig, PhraseTable, export_moses
from muse.ranking.probability import csls_probabilities, fit_temperature, held_out_scores
from muse.search.retrieval import Retrieval
from muse.space import Space
from tests.evaluation.test_words import noisy_space, scores
from tests.support.command import tree
from tests.support.spaces import plain_space, raw_rows

T = 0.1


class Entry(NamedTuple):
    """A line of the table: its scores are inverse and direct phrase probability and lexical weight."""

    inverse: float
    inverse_lexical: float
    direct: float
    direct_lexical: float
    alignment: tuple[tuple[int, int], ...]


def parsed(path: Path) -> dict[tuple[str, str], Entry]:
    """The entries of a phrase table; AssertionError where Moses would not read it as it is meant."""
    opened = gzip.open if path.suffix == ".gz" else open
    found = {}
    with opened(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.decode().removesuffix("\n").split(" ||| ")
            assert len(fields) == 4, f"{path}:{number}: {line!r}"
            source, target, values, points = fields
            for phrase in (source, target):
                # Tokens are apart by one space; a bar would begin a factor or another field.
                assert re.fullmatch(r"[^\s|\[\]<>'\"]+( [^\s|\[\]<>'\"]+)*", phrase), (
                    f"{path}:{number}: {phrase!r}"
                )
            numbers = [float(value) for value in values.split(" ")]
            assert len(numbers) == 4
            assert all(0 < value <= 1 for value in numbers), f"{path}:{number}: {values}"
            alignment = tuple((int(a), int(b)) for a, b in (p.split("-") for p in points.split(" ")))
            assert all(a < len(source.split()) and b < len(target.split()) for a, b in alignment)
            assert (source, target) not in found, f"{path}:{number}: twice"
            found[source, target] = Entry(numbers[0], numbers[1], numbers[2], numbers[3], alignment)
    return found


@pytest.mark.parametrize("word", ["l'", "R&D", "[x]", 'a"b', "<b>", "x|y", "plain"])
def test_words_are_written_as_by_moses_tokeniser_however_they_came(word: str) -> None:
    expected = MosesTokenizer("en").escape_xml(word)
    assert module._phrases([word]) == module._phrases([expected]) == [expected]


def export(space: Space, out: Path, **options: Any) -> PhraseTable:
    options = {"temperature": T, **options}
    direction = options.pop("direction", ("fr", "en"))
    rng = np.random.default_rng(0)
    return export_moses(space, out, direction=direction, config=MosesConfig(**options), rng=rng)


def expected(space: Space, direction: tuple[str, str], top: int) -> dict[tuple[str, str], list[float]]:
    """Both probabilities of the `top` targets of each source, by the definition."""
    x, y = (space.vectors(language) for language in direction)
    powers = np.exp(scores(x.matrix, y.matrix, Retrieval()) / T)  # (n, m)
    found = {}
    for i, source in enumerate(x.words):
        targets = np.argsort(-powers[i])[:top]
        for j in targets:
            best = np.sort(powers[:, j])[-top:].sum()
            found[source, y.words[j]] = [powers[i, j] / best, powers[i, j] / powers[i, targets].sum()]
    return found


@pytest.mark.parametrize("direction", [("fr", "en"), ("en", "fr")])
@pytest.mark.parametrize("top", [1, 5, 1_000])
@pytest.mark.parametrize("batch", [7, 2_048])
def test_probabilities_by_the_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: tuple[str, str], top: int, batch: int
) -> None:
    monkeypatch.setattr(module, "BATCH", batch)
    space = noisy_space(0)
    table = export(space, tmp_path / "t.gz", direction=direction, top=top)
    found, wanted = parsed(tmp_path / "t.gz"), expected(space, direction, top)
    assert found.keys() == wanted.keys()
    assert table.pairs == len(found)
    for pair, entry in found.items():
        inverse, direct = wanted[pair]
        assert (entry.inverse, entry.direct) == pytest.approx((min(inverse, 1), direct), rel=1e-3)
        assert (entry.inverse_lexical, entry.direct_lexical) == (entry.inverse, entry.direct)


def test_lines_are_in_the_order_of_bytes(tmp_path: Path) -> None:
    words = ["b", "a", "a b", "é", "a!", "Z", "a\u00a0c", "10", "|", "𝔘"]
    space = plain_space(raw_rows(0, 10), raw_rows(1, 10), words, words)
    export(space, tmp_path / "t", top=10)
    lines = (tmp_path / "t").read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    assert len(lines) == 100


def test_odd_words_do_not_break_a_line(tmp_path: Path) -> None:
    words = ["a|b", "|||", "x\ty", "x y", " ", "", "\r", "a\u2028b", "plain"]
    space = plain_space(raw_rows(0, 9), raw_rows(1, 9), words, words)
    table = export(space, tmp_path / "t", top=9)
    kept = {"a&#124;b", "&#124;&#124;&#124;", "x y", "a b", "plain"}  # x<tab>y is the phrase x y
    assert {source for source, _ in parsed(tmp_path / "t")} == kept
    assert {target for _, target in parsed(tmp_path / "t")} == kept
    assert table.left_out == 2 * (len(words) - len(kept))


def test_the_temperature_is_that_of_held_out_mutual_pairs(tmp_path: Path) -> None:
    space = noisy_space(3)
    table = export(space, tmp_path / "t", temperature=None, top=10)
    x, y = (space.tensor(language) for language in ("fr", "en"))
    rng = np.random.default_rng(0)
    assert table.direct == fit_temperature(*held_out_scores(x, y, top=10, rng=rng))
    assert table.inverse == fit_temperature(*held_out_scores(y, x, top=10, rng=rng))
    assert export(space, tmp_path / "t", temperature=0.3).as_json()["temperature"] == {
        "direct": 0.3,
        "inverse": 0.3,
    }


def test_an_improbable_pair_has_a_logarithm(tmp_path: Path) -> None:
    export(noisy_space(0), tmp_path / "t", temperature=0.001, top=1_000)
    assert min(entry.direct for entry in parsed(tmp_path / "t").values()) == pytest.approx(1e-30)


def test_frequent_words_alone_with_the_hubness_of_all(tmp_path: Path) -> None:
    space = noisy_space(4)
    export(space, tmp_path / "cut", max_vocab=20, top=20)
    table = np.exp(scores(space.vectors("fr").matrix, space.vectors("en").matrix, Retrieval()) / T)[:20, :20]
    for (source, target), entry in parsed(tmp_path / "cut").items():
        i, j = int(source[1:]), int(target[1:])
        assert entry.direct == pytest.approx(table[i, j] / table[i].sum(), rel=1e-3)
    assert len(parsed(tmp_path / "cut")) == 400


def test_a_stored_hubness_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(noisy_space(5), tmp_path / "computed")
    space = noisy_space(5)
    for language, other in (("fr", "en"), ("en", "fr")):
        assert space.bias(language, other, Retrieval()) is not None

    def never(*_: object, **__: object) -> torch.Tensor:
        raise AssertionError("searched again")

    monkeypatch.setattr("muse.search.retrieval.mean_similarity", never)
    export(space, tmp_path / "stored")
    assert (tmp_path / "stored").read_bytes() == (tmp_path / "computed").read_bytes()


def test_packed_files_are_equal_from_run_to_run(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        export(noisy_space(6), tmp_path / name, temperature=None)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("options", [{"top": 0}, {"temperature": 0.0}, {"temperature": float("nan")}])
def test_settings_that_cannot_work(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match="must be"):
        export(noisy_space(0), tmp_path / "t", **options)
    assert not tree(tmp_path)


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.gz").write_bytes(b"before")
    monkeypatch.setattr(module, "BATCH", 20)
    calls = 0

    def failing(*arguments: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise KeyboardInterrupt
        return csls_probabilities(*arguments)

    monkeypatch.setattr(module, "csls_probabilities", failing)
    with pytest.raises(KeyboardInterrupt):
        export(noisy_space(0), tmp_path / "t.gz")
    assert calls == 2
    assert tree(tmp_path) == {"t.gz": b"before"}
