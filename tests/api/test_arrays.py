"""muse.align on arrays: what comes of files comes of the same rows in memory; all else is refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from pandas import DataFrame

import muse
from muse.api import run
from muse.api.inputs import read_dictionary, read_side
from muse.api.settings import check, source_of
from muse.errors import BadFile, BadSetting, Mismatch
from muse.exchange import keyed_vectors
from muse.files import write_vectors_text
from muse.held_vectors import HeldVectors
from muse.learn.settings import AlignConfig, VectorSource
from muse.lexicon import Lexicon
from muse.normalise import normalise
from muse.progress import Progress
from muse.space import SideToSave, Space
from muse.vectors import Matrix
from tests.support.spaces import raw_rows
from tests.support.toys import raw_pair

FRENCH, ENGLISH, _ = raw_pair()
PAIRS = muse.AlignConfig(init="dictionary", refine=False)


def aligned(folder: Path, source: Any, target: Any, **options: Any) -> Space:
    """The space of two models, learned from known pairs of row numbers, which is quick."""
    (folder / "ids.tsv").write_text("".join(f"{row}\t{row}\n" for row in range(0, 600, 3)))
    options = {"dictionary": folder / "ids.tsv", "config": PAIRS, "out": folder / "space", **options}
    space: Space = muse.align("minilm", "use", src_emb=source, tgt_emb=target, **options)
    return space


def mappings(space: Space) -> list[Matrix]:
    return [np.array(space.side(language).mapping) for language in space.languages]


def test_arrays_are_as_good_as_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", FRENCH.matrix)
    np.save(tmp_path / "b.npy", ENGLISH.matrix)
    before = FRENCH.matrix.copy(), ENGLISH.matrix.copy()
    of_files = aligned(tmp_path, tmp_path / "a.npy", tmp_path / "b.npy", out=tmp_path / "of-files")
    space = aligned(tmp_path, torch.from_numpy(FRENCH.matrix), ENGLISH.matrix)
    for found, expected in zip(mappings(space), mappings(of_files), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert list(space.vectors("minilm").words[:3]) == ["0", "1", "2"]
    assert not space.vectors("use").frequency_ordered
    np.testing.assert_array_equal(FRENCH.matrix, before[0])
    np.testing.assert_array_equal(ENGLISH.matrix, before[1])


def test_arrays_and_paths_may_be_mixed() -> None:
    given: Any = [FRENCH.matrix, "b.npy", Path("c.npy")]
    request = AlignConfig(src=("minilm", "e5", "bge"), tgt="use", src_emb=given)
    check(request)
    first, *others = (source_of(request, language) for language in request.src)
    assert isinstance(first, HeldVectors)
    assert others == [Path("b.npy"), Path("c.npy")]


def test_the_rotation_is_found_and_the_manifest_names_no_file(tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", ENGLISH.matrix)
    space = aligned(tmp_path, FRENCH.matrix.astype(np.float64), tmp_path / "b.npy")
    nearest = (space.vectors("minilm").matrix @ space.vectors("use").matrix.T).argmax(axis=1)
    assert (nearest == np.arange(600)).mean() > 0.95
    entries = space.manifest.languages
    assert entries["minilm"].files == ()
    assert [file.name for file in entries["use"].files] == ["b.npy"]
    assert [file.name for file in space.manifest.inputs] == ["ids.tsv"]


class Pipeline:
    """What is used of spaCy's: words by their hashes, and a rarer word that shares a row."""

    class vocab:
        class vectors:
            data = FRENCH.matrix
            key2row: ClassVar = {**{1_000 + row: row for row in range(len(FRENCH))}, 9_999: 3}

        strings: ClassVar = {1_000 + row: word for row, word in enumerate(FRENCH.words)} | {9_999: "rare"}


@pytest.mark.parametrize(
    "held",
    [
        FRENCH,
        keyed_vectors(FRENCH),
        SimpleNamespace(wv=keyed_vectors(FRENCH)),
        (FRENCH.words, FRENCH.matrix),
        [np.array(FRENCH.words), FRENCH.matrix.astype(np.float16).astype(np.float64)],
        dict(zip(FRENCH.words, FRENCH.matrix, strict=True)),
        {word: row.tolist() for word, row in zip(FRENCH.words, FRENCH.matrix, strict=True)},
        DataFrame(FRENCH.matrix, index=[*FRENCH.words]),
        Pipeline,
    ],
    ids=["Vectors", "KeyedVectors", "model", "pair", "list", "dict", "lists", "DataFrame", "spaCy"],
)
def test_words_that_programs_hold_are_those_of_the_space(held: Any) -> None:
    config = AlignConfig(src=("fr",), tgt="en", src_emb=held)
    found = read(source_of(config, "fr")).vectors
    assert found.frequency_ordered
    assert list(found.words) == list(FRENCH.words)
    np.testing.assert_allclose(found.matrix, read(HeldVectors(FRENCH.matrix)).vectors.matrix, atol=2e-3)


@pytest.mark.parametrize(
    "held",
    [
        [("roi", "king"), ("mer", "sea")], (("roi", "king"), ("mer", "sea")), {"roi": "king", "mer": "sea"},
        DataFrame({"source": ["roi", "mer"], "target": ["king", "sea"]}),
        Lexicon((("roi", "king"), ("mer", "sea"))),
    ],
    ids=["list", "tuple", "dict", "DataFrame", "Lexicon"],
)  # fmt: skip
def test_pairs_in_memory_are_a_dictionary(held: Any) -> None:
    config = AlignConfig(src=("fr",), tgt="en", dictionary=held)
    assert config.dictionary is not None
    assert read_dictionary(config.dictionary).pairs == (("roi", "king"), ("mer", "sea"))


@pytest.mark.parametrize("held", [[], [("roi",)], [1, 2], 5, {"roi": 1}])
def test_what_has_no_pairs_is_no_dictionary(held: Any) -> None:
    with pytest.raises(BadSetting, match=r"dictionary must be a .*, got "):
        config = AlignConfig(src=("fr",), tgt="en", dictionary=held)
        assert config.dictionary is not None
        read_dictionary(config.dictionary)


def test_words_in_memory_are_read_as_those_of_a_file(caplog: pytest.LogCaptureFixture) -> None:
    words, rows = ["Le", "roi", "le", "roi", "roi"], raw_rows(0, 5)
    given: Any = words, rows
    config = AlignConfig(src=("fr",), tgt="en", src_emb=given, lower=True, max_vocab=2)
    assert list(read_side(config, "fr", source_of(config, "fr"), Progress(quiet=True)).vectors.words) == [
        "le", "roi",
    ]  # fmt: skip
    assert list(read(HeldVectors(rows, words)).vectors.words) == ["Le", "roi", "le"]
    assert caplog.messages == ["the array: dropped 2 duplicate words (fr)"]


def test_several_objects_are_of_several_languages() -> None:
    given: Any = [(["a", "b"], np.eye(2)), {"c": [1.0, 2.0]}, "d.vec"]
    config = AlignConfig(src=("fr", "it", "es"), tgt="en", src_emb=given)
    held = [source_of(config, language) for language in ("fr", "it")]
    assert [one.words for one in held if isinstance(one, HeldVectors)] == [["a", "b"], ["c"]]


def test_fewer_rows_are_read_where_fewer_are_wanted(tmp_path: Path) -> None:
    space = aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix, max_vocab=550)
    assert len(space.vectors("minilm")) == len(space.vectors("use")) == 550


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (FRENCH.matrix[0], r"src_emb must be .* n rows of d .*, got an array of float32 of shape \(20,\)"),
        (FRENCH.matrix[:0], r"got an array of float32 of shape \(0, 20\)"),
        (FRENCH.matrix[None], r"of shape \(1, 600, 20\)"),
        (np.array([["le", "la"]]), "got an array of <U2 of shape"),
        (np.ones((600, 20), complex), "got an array of complex128"),
        (np.ones((600, 20), bool), "got an array of bool"),
        (torch.ones(600, 20, dtype=torch.bfloat16), "got Tensor .*BFloat16"),
        (torch.ones(600, 20, requires_grad=True), "got Tensor .*requires grad"),
        (FRENCH.matrix.tolist(), r"got list; give \(words, array\), or the rows as an array alone"),
        (3, "got int"),
        ((FRENCH.words[:9], FRENCH.matrix), "got 9 words for 600 rows"),
        ({"roi": [1.0, 2.0], "la": [1.0]}, "got list .*inhomogeneous"),
        ({"roi": [1.0], 7: [1.0]}, "got 7 among the words"),
        (DataFrame(FRENCH.matrix).iloc[::2], "got 0 among the words"),
        ([FRENCH.matrix, ENGLISH.matrix], "src_emb must be given once for each src"),
    ],
)
def test_what_is_no_array_of_rows_is_refused(tmp_path: Path, given: object, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        aligned(tmp_path, given, ENGLISH.matrix)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.tsv"]


def test_rows_that_cannot_be_aligned_are_told(tmp_path: Path) -> None:
    broken = FRENCH.matrix.copy()
    broken[7, 3] = np.nan
    with pytest.raises(BadFile, match="minilm: expected finite numbers, got nan or inf in row 7"):
        aligned(tmp_path, broken, ENGLISH.matrix)
    with pytest.raises(Mismatch, match="minilm: at least 500 rows are needed to align, got 400"):
        muse.align(
            "minilm", "use", src_emb=FRENCH.matrix[:400], tgt_emb=ENGLISH.matrix,
            out=tmp_path / "space",
        )  # fmt: skip
    with pytest.raises(BadSetting, match="use: lower is for words, got items"):
        aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix, lower=True)
    (tmp_path / "words.txt").write_text("le\n")
    with pytest.raises(BadSetting, match="minilm: a list of words is for vectors composed of n-grams"):
        aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix, src_words=tmp_path / "words.txt")
    assert not (tmp_path / "space").exists()


def test_a_run_resumes_with_the_same_arrays_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, runtime: Any, **__: object) -> None:
        runtime.checkpoint.save("stage", {"rows": np.ones(3)})
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, "learn_many", interrupted)
        with pytest.raises(KeyboardInterrupt, match="--resume"):
            aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix)
    with pytest.raises(BadSetting, match="resume needs the inputs and settings of the killed run"):
        aligned(tmp_path, FRENCH.matrix[::-1], ENGLISH.matrix, resume=True)
    with pytest.raises(BadSetting, match="resume needs the inputs and settings of the killed run"):
        aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix + 1, resume=True)
    others = tmp_path / "others.tsv"  # all pairs but the last are the same
    others.write_text((tmp_path / "ids.tsv").read_text().removesuffix("597\n") + "598\n")
    with pytest.raises(BadSetting, match="resume needs the inputs and settings of the killed run"):
        aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix, dictionary=others, resume=True)
    assert aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix, resume=True).languages == ("minilm", "use")


def test_a_third_model_joins_a_space_from_an_array(tmp_path: Path) -> None:
    space = aligned(tmp_path, FRENCH.matrix, ENGLISH.matrix)
    again = muse.align(
        "e5", src_emb=FRENCH.matrix, into=tmp_path / "space", out=tmp_path / "three",
        dictionary=tmp_path / "ids.tsv", config=PAIRS,
    )  # fmt: skip
    assert again.languages == ("minilm", "use", "e5")
    for language in space.languages:
        np.testing.assert_array_equal(again.vectors(language).matrix, space.vectors(language).matrix)


def rows_with_zeros() -> Matrix:
    rows = raw_rows(0, 9)
    rows[[2, 5]] = 0
    return rows


def read(given: VectorSource) -> SideToSave:
    return read_side(AlignConfig(src=("fr",), tgt="en"), "fr", given, Progress(quiet=True))


def test_words_with_vectors_of_zeros_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows, path = rows_with_zeros(), tmp_path / "fr.vec"
    write_vectors_text(path, [f"w{row}" for row in range(9)], rows)
    vectors = read(path).vectors
    assert list(vectors.words) == [f"w{row}" for row in (0, 1, 3, 4, 6, 7, 8)]
    np.testing.assert_allclose(vectors.matrix, normalise(np.delete(rows, [2, 5], axis=0))[0], atol=1e-5)
    assert caplog.messages == [f"{path}: left out 2 of 9 words (fr), with vectors of zeros"]


def test_rows_of_zeros_keep_their_numbers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows, path = rows_with_zeros(), tmp_path / "fr.npy"
    np.save(path, rows)
    for given, name in ((path, str(path)), (HeldVectors(rows), "the array")):
        caplog.clear()
        vectors = read(given).vectors
        assert list(vectors.words) == [str(row) for row in range(9)]
        assert not vectors.matrix[[2, 5]].any()
        expected = "no counterpart will be found for 2 of 9 rows (fr), with vectors of zeros"
        assert caplog.messages == [f"{name}: {expected}"]


def test_nothing_is_said_of_other_vectors(caplog: pytest.LogCaptureFixture) -> None:
    rows = rows_with_zeros()
    rows[[2, 5], 3] = 1e-30
    assert len(read(HeldVectors(rows)).vectors) == 9
    assert not caplog.messages
