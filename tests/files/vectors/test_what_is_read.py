"""What muse reads: each row of the table in the documentation, tried with a file of its kind."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import from_numpy

from muse.errors import BadFile
from muse.files import read_vectors, write_npz, write_vectors_text, write_word2vec
from tests.conftest import ROOT
from tests.files.vectors.test_static import GENSIM, numbered, static_folder
from tests.support.vector_files import PACKERS, fasttext_model, flat_index, packed, tensor_file, torch_file

PAGE = ROOT / "docs" / "pages" / "how-to" / "what-muse-reads.md"
WORDS = ["roi", "été", "reine", "👍"]
ROWS = np.random.default_rng(0).normal(0, 1, (4, 3)).astype(np.float32)
READ, ROW_NUMBERS = "read", ["0", "1", "2", "3"]


@dataclass(frozen=True)
class Case:
    """A row of the table: a format, who writes it, and what muse does; the files that show it.

    Those are read as `words`, or refused with a message that has the `way_out`.
    """

    format: str
    program: str
    muse: str
    files: dict[str, Callable[[Path], object]]
    words: list[str] | None = None
    way_out: str = ""

    @property
    def row(self) -> str:
        return f"| {self.format} | {self.program} | {self.muse} |"


def _text(path: Path) -> None:
    write_vectors_text(path, WORDS, ROWS)


def _changed(
    *changes: tuple[bytes, bytes], head: bytes = b"", header: bool = True
) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        _text(path)
        content = path.read_bytes()
        content = content if header else content.partition(b"\n")[2]
        for old, new in changes:
            content = content.replace(old, new)
        path.write_bytes(head + content)

    return write


def _keys(path: Path) -> None:
    write_vectors_text(
        path, [*(f"/c/fr/{word}" for word in WORDS), "/c/en/king"], np.vstack([ROWS, ROWS[:1]])
    )


def _parquet(path: Path) -> None:
    from muse.files.vectors.parquet import write_parquet

    write_parquet(path, WORDS, ROWS)


def _parts(path: Path) -> None:
    from muse.files.vectors.parquet import write_parquet

    (path / "_temporary").mkdir(parents=True)
    for place in range(len(WORDS)):
        write_parquet(path / f"part-{place}.parquet", WORDS[place : place + 1], ROWS[place : place + 1])
    write_parquet(path / "_temporary" / "x.parquet", ["none"], ROWS[:1])


def _wide(path: Path) -> None:
    from pandas import DataFrame

    DataFrame(ROWS, WORDS, list(map(str, range(ROWS.shape[1])))).to_parquet(path)


def _pipeline(path: Path) -> None:
    from tests.support.pipelines import of_words

    of_words(path, WORDS, ROWS)


def _wheel(path: Path) -> None:
    from tests.support.pipelines import of_words, packaged, wheel

    wheel(path, packaged(path.parent / "site", of_words(path.parent / "made", WORDS, ROWS)))


def _static(table: str) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        tokens = numbered("[PAD]", *WORDS, "##s")
        rows = np.vstack([ROWS[:1], ROWS, ROWS[:1]])
        static_folder(path, {"vocab": tokens, "continuing_subword_prefix": "##"}, {table: rows})

    return write


def _of_words(path: Path) -> None:
    from torch import save

    (path / "0").mkdir(parents=True)
    (path / "modules.json").write_text(
        '[{"path": "0", "type": "sentence_transformers.models.WordEmbeddings"}]'
    )
    (path / "0" / "wordembedding_config.json").write_text("{}")
    vocabulary = json.dumps({"vocab": ["PADDING_TOKEN", *WORDS], "stop_words": []})
    (path / "0" / "whitespacetokenizer_config.json").write_text(vocabulary)
    save({"emb_layer.weight": from_numpy(np.vstack([ROWS[:1], ROWS]))}, path / "0" / "pytorch_model.bin")


def _transformer(path: Path) -> None:
    static_folder(path, {"vocab": numbered(*WORDS)}, {"encoder.layer.0.weight": ROWS})


def _rows_parquet(path: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    parquet.write_table(arrow.table({"vector": list(ROWS)}), path)


def _list(row: Any) -> bytes:
    return json.dumps(row.tolist()).encode()


def _lines(form: str, *before: str) -> Callable[[Path], object]:
    rows = zip(WORDS, (_list(row)[1:-1].decode() for row in ROWS), strict=True)
    lines = [*before, *(form.format(word, numbers) for word, numbers in rows)]
    return lambda path: path.write_text("\n".join(lines))


def _bytes(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


SAVEZ = 'convert: `np.savez("vectors.npz", words=..., matrix=...)`'
CASES = [
    Case(
        "text with a first line `n d`", "fastText `.vec`, word2vec, gensim, `muse export`", READ,
        {"x.vec": _text}, WORDS,
    ),
    Case("text without it", "GloVe", READ, {"x.txt": _changed(header=False)}, WORDS),
    Case(
        "the same with tabs, Windows line ends, a byte order mark, trailing spaces",
        "editors, scripts",
        READ,
        {
            "x.vec": _changed((b" ", b"\t"), head=b"\xef\xbb\xbf"),
            "y.txt": _changed((b"\n", b" \r\n"), header=False),
        },
        WORDS,
    ),
    Case(
        "keys such as `/c/fr/roi`, `/c/fr/roi/n`, `fr:roi`, `fr/roi` or `fr_roi`", "ConceptNet Numberbatch",
        "read: the words of the language, without the prefix", {"x.txt": _keys}, WORDS,
    ),
    Case(
        "word2vec binary", "word2vec, gensim, `muse export`", READ,
        {"x.bin": lambda path: write_word2vec(path, WORDS, ROWS)}, WORDS,
    ),
    Case(
        "fastText `.bin`", "fastText", "read; `--src-words` adds other words",
        {"x.bin": fasttext_model(WORDS)}, [*WORDS, "</s>"],
    ),
    Case(
        "`.npz` with `words` and `matrix` or `vectors`, or with one list of words and one table",
        "numpy, `muse export`",
        READ,
        {
            "x.npz": lambda path: write_npz(path, WORDS, ROWS),
            "y.npz": lambda path: np.savez(path, words=WORDS, vectors=ROWS),
            "z.npz": lambda path: np.savez(path, vocab=WORDS, table=ROWS),
        },
        WORDS,
    ),
    Case(
        "JSON lines or CSV of `word` (or `token`, `term`) and a list; lines such as `roi [0.1 0.2]`",
        "scripts",
        READ,
        {
            **{name: _lines(form) for name, form in (
                ("y", "{0} ({1}),"), ("z", "'{0}': [{1}],"), ("t", "('{0}', [{1}])"),
                ("u", '{{"lemma": "{0}", "pos": "N", "vector": [{1}]}}'),
            )},
            "y.csv": _lines('{0},"[{1}]"', ",0"),
            "x.csv": _bytes(b"Term;v\n" + b"".join(b"%b;%b\n" % (word.encode(), _list(row))
                                                   for word, row in zip(WORDS, ROWS, strict=True))),
            "x": lambda path: path.write_text(
                "".join(
                    json.dumps({"word": word, "v": row}) + "\n"
                    for word, row in zip(WORDS, ROWS.tolist(), strict=True)
                )
            )
        },
        WORDS,
    ),
    Case(
        "Parquet, or a folder of it: words, as a column or an index, and lists or a column for each number",
        "pandas, Polars, DuckDB, Spark, `muse export`",
        "read (extra `parquet`)",
        {"x.parquet": _parquet, "x": _parts, "y.parquet": _wide}, WORDS,
    ),
    Case(
        "a pipeline: folder, wheel, sdist or name", "spaCy", "read (extra `spacy`)",
        {"x": _pipeline, "x.whl": _wheel}, WORDS,
    ),
    Case(
        "a folder of a static embedding",
        "model2vec, sentence-transformers' `StaticEmbedding` and `WordEmbeddings`, `muse export`",
        "read: the tokens that are whole words (extra `exchange`)",
        {"x": _static("embeddings"), "y": _static("embedding.weight"), "z": _of_words},
        WORDS,
    ),
    Case(
        "`.pt` with one matrix and a list of words", "PyTorch since 1.6, torchtext", "read",
        {"x.pt": torch_file({"words": WORDS, "vectors": from_numpy(ROWS)})}, WORDS,
    ),
    Case(
        "unlabelled vectors: `.npy`, `.npz`, `.pt`, Parquet, safetensors, flat faiss indices, JSON lines, "
        "CSV with lists",
        "vector stores",
        "read: see [vector stores](#vector-stores)",
        {
            "x.npy": lambda path: np.save(path, ROWS), "x.npz": lambda path: np.savez(path, ROWS),
            "x.pt": torch_file(from_numpy(ROWS)), "x.parquet": _rows_parquet,
            "x.safetensors": tensor_file(embeddings=ROWS), "x.faiss": flat_index(ROWS),
            "x.jsonl": _bytes(b"".join(b'{"vector": %b}\n' % _list(row) for row in ROWS)),
            "x.csv": _bytes(b"embedding\n" + b"".join(b'"%b"\n' % _list(row) for row in ROWS)),
        },
        ROW_NUMBERS,
    ),
    Case(
        "a file of the above as `.gz`, `.bz2` or `.xz`, or alone in a `.zip` or `.tar`, packed or not",
        "",
        "read; folders, `.npz`, `.pt` and Parquet are not packed again",
        {f"x.{form}": packed(_text, form) for form in PACKERS},
        WORDS,
    ),
    Case(
        "`.kv`, `.model`", "gensim", "convert: the message has the command, by `save_word2vec_format`",
        {"x.kv": GENSIM["gensim.models.keyedvectors.KeyedVectors"][1]}, way_out='.save_word2vec_format("',
    ),
    Case(
        "other pickles; `.pt` and `.pth` of PyTorch before 1.6, or with objects",
        "Python, PyTorch, MUSE of Facebook",
        "never loaded, since they can run code; " + SAVEZ,
        {
            "x.pkl": _bytes(pickle.dumps(dict(zip(WORDS, ROWS, strict=True)))),
            "x.pth": torch_file(from_numpy(ROWS), _use_new_zipfile_serialization=False),
        },
        way_out='np.savez("vectors.npz", words=..., matrix=...)',
    ),
    Case(
        "HDF5 (`.h5`), SQLite (`.magnitude`), other JSON",
        "pandas, PyTorch-BigGraph, Magnitude, scripts",
        SAVEZ,
        {
            "x.h5": _bytes(b"\x89HDF\r\n\x1a\n" + bytes(99)),
            "x.magnitude": _bytes(b"SQLite format 3\0" + bytes(99)),
            "x.json": _bytes(json.dumps({"roi": [0.1, 0.2]}).encode()),
        },
        way_out='save np.savez("vectors.npz", words=..., matrix=...)',
    ),
    Case(
        "Arrow, Feather",
        "pandas, Polars",
        'convert: `pandas.read_feather(...).to_parquet("vectors.parquet")`',
        {"x.feather": _bytes(b"ARROW1\0\0" + bytes(99))},
        way_out='pandas.read_feather(...).to_parquet("vectors.parquet")',
    ),
    Case(
        "text with commas or semicolons between the numbers",
        "spreadsheets",
        "convert: put spaces in their place",
        {"x.csv": _bytes(b"roi,0.1,0.2\nreine,1,2\n"), "y.csv": _bytes(b"roi;0.1;0.2\nreine;1;2\n")},
        way_out="put spaces in their place",
    ),
    Case(
        "text with a count or a rank between each word and its numbers",
        "scripts",
        "remove the second column",
        {"x.vec": _bytes(b"".join(b"w%d %d 0.5 0.%d\n" % (row, 99 - row, row) for row in range(9)))},
        way_out="remove the second column",
    ),
    Case(
        "text with lines that end in CR alone", "old Macs", "convert: `tr '\\r' '\\n' < FILE > OUT`",
        {"x.txt": _changed((b"\n", b"\r"))}, way_out="tr '\\r' '\\n' < FILE > OUT",
    ),
    Case(
        "text in UTF-16", "Windows", "convert: `iconv -f UTF-16 -t UTF-8`",
        {"x.txt": _bytes("roi 0.1 0.2\n".encode("utf-16"))}, way_out="iconv -f UTF-16 -t UTF-8",
    ),
    Case(
        "`.zst`, `.7z`, `.rar`, `.lz4`, `.Z`",
        "",
        "unpack it first",
        {"x.zst": _bytes(b"\x28\xb5\x2f\xfd" + bytes(99)), "x.7z": _bytes(b"7z\xbc\xaf\x27\x1c" + bytes(99))},
        way_out="unpack it first",
    ),
    Case(
        "a folder of a transformer", "Hugging Face, sentence-transformers",
        "give it as [`--encoder`](use-encoder.md)", {"x": _transformer}, way_out="give it as --encoder",
    ),
]  # fmt: skip
FILES = [pytest.param(case, name, id=f"{case.format[:30]}, {name}") for case in CASES for name in case.files]


@pytest.mark.parametrize(("case", "name"), FILES)
def test_what_the_table_says_of_a_format(tmp_path: Path, case: Case, name: str) -> None:
    path = tmp_path / name
    case.files[name](path)
    if case.words is None:
        with pytest.raises(BadFile) as caught:
            read_vectors(path, language="fr")
        assert case.way_out in str(caught.value)
        return
    read = read_vectors(path, language="fr")
    assert list(read.words) == case.words
    if "</s>" not in read.words:  # fastText trained its own
        np.testing.assert_array_equal(read.matrix, ROWS)


def test_the_table_has_these_rows_and_no_others() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Vectors\n")[2].partition("\n###")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    expected = ["| format | written by | muse |", "| --- | --- | --- |", *(case.row for case in CASES)]
    assert rows == expected, "\n".join(expected)
