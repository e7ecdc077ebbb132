"""Targets that are word vectors, a format each."""

import json
import pickle
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from muse.files import read_vectors, write_npz, write_vectors_text, write_word2vec
from muse.files.vectors.fasttext import load_fasttext
from muse.files.vectors.parquet import write_parquet
from muse.files.vectors.spacy import load_spacy
from tests.fuzz.target import Target
from tests.fuzz.texts import files, only
from tests.support.spaces import ODD_WORDS, raw_rows
from tests.support.vector_files import Write, fasttext_model, flat_index, packed, tensor_file, torch_file

WORDS = [word for word in ODD_WORDS if word.strip() and not set(word) & set(" \r\t\n")] + [
    "new york",
    "5",
    "cat",
]
ROWS = raw_rows(0, len(WORDS), 3)
FASTTEXT = 256 << 20  # bytes: the library has a table of 30 million numbers for each model
KNOWN = ["cat", "été", "日本", "dog"]
TEXT = 128 << 20  # bytes: a line of a megabyte has fifty in arrays of its numbers
UNKNOWN = ["unseen", "", "é" * 200]


def _inputs(writers: Mapping[str, Write]) -> Write:
    # What writes an input with each of these, under the name that it is given by.
    def write(folder: Path) -> None:
        for number, (name, writer) in enumerate(writers.items()):
            place = folder / f"{number}" / name
            place.parent.mkdir()
            writer(place)

    return write


def _vectors(folder: Path) -> Iterator[Any]:
    yield read_vectors(only(folder), language="en").matrix
    yield read_vectors(only(folder), language="en", lowercase=True, max_vocab=3).matrix


def _packed(*forms: str) -> Write:
    return _inputs({f"x.{form}": packed(lambda path: path.write_text(_GLOVE), form) for form in forms})


def _text(path: Path) -> None:
    write_vectors_text(path, WORDS, ROWS)


def _savez(**changes: Any) -> Write:
    arrays = {"words": np.array(WORDS), "matrix": ROWS} | changes

    def write(path: Path) -> None:
        np.savez_compressed(path, **arrays)

    return write


def _mapped(path: Path) -> None:
    import faiss

    index = faiss.IndexIDMap2(faiss.IndexFlatIP(ROWS.shape[1]))
    index.add_with_ids(ROWS, np.arange(len(ROWS)) * 3)
    faiss.write_index(index, str(path))


def _columns(path: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    kind = arrow.list_(arrow.float32(), ROWS.shape[1])
    vectors = arrow.array(list(ROWS), kind)
    parquet.write_table(arrow.table({"id": range(len(ROWS)), "vector": vectors, "text": WORDS}), path)


def _rows(folder: Path) -> Iterator[Any]:
    yield read_vectors(only(folder), language="en").matrix
    yield read_vectors(only(folder), language="en", max_vocab=3).matrix


def _model(folder: Path) -> Iterator[Any]:
    model = load_fasttext(only(folder))
    yield model.rows([*model.words(), *(UNKNOWN if model.has_ngrams else [])])


def _pipelines(folder: Path) -> None:
    from tests.support.pipelines import of_ngrams, of_words

    for name, made in (("words", of_words), ("ngrams", of_ngrams)):
        made(folder / name / "x", WORDS, ROWS)


def _archives(folder: Path) -> None:
    from tests.support.pipelines import of_words, packaged, sdist, wheel

    with tempfile.TemporaryDirectory() as made:
        package = packaged(Path(made) / "site", of_words(Path(made) / "made", WORDS, ROWS))
        for form, name in ((wheel, "x.whl"), (sdist, "x.tar.gz")):
            (folder / name).mkdir()
            form(folder / name / name, package)


def _pipeline(folder: Path) -> Iterable[Any]:
    found = load_spacy(folder / "x")
    yield read_vectors(folder / "x", language="en").matrix
    if found.has_ngrams:
        yield found.rows(UNKNOWN[:1])


def _broken(path: Path) -> None:
    # Words of all kinds that are left out, among enough others.
    words = [f"é{place}".encode() for place in range(30)]
    words[3:6] = [b"ab\xed\xa0\x80", "日".encode()[:-1], b""]
    lines = [b"%s 0.5 %d 0.25\n" % (word, place) for place, word in enumerate(words)]
    path.write_bytes(b"31 3\n" + b"".join(lines))


def _phrases(path: Path) -> None:
    rows = raw_rows(0, 9, 3)
    words = [
        b"new york city" if place == 2 else b"\xff" if place == 5 else b"w%d" % place for place in range(9)
    ]
    path.write_bytes(
        b"9 3\n" + b"".join(b"%s %s" % pair for pair in zip(words, map(bytes, rows), strict=True))
    )


def _pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(dict(zip(WORDS, ROWS, strict=True))))


def _torch(thing: Callable[[Any], Any]) -> Write:
    def write(path: Path) -> None:
        import torch

        torch_file(thing(torch.from_numpy(ROWS)))(path)

    return write


def _keyed(path: Path) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, ROWS)
    keyed.save(str(path))


def _static(folder: Path) -> None:
    from safetensors.numpy import save_file

    models: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("words", {"vocab": {word: place for place, word in enumerate(WORDS)}}, {"embedding.weight": ROWS}),
        (
            "pieces",
            {"vocab": [[f"▁{word}", 0.5] for word in WORDS], "unk_token": "5"},
            {"embeddings": ROWS, "mapping": np.arange(len(ROWS))[::-1].copy(), "weights": ROWS[:, 0]},
        ),
    )
    for name, tokens, tensors in models:
        place = folder / name / "x"
        place.mkdir(parents=True)
        added = [{"id": 0, "content": WORDS[0], "special": True}]
        (place / "tokenizer.json").write_text(json.dumps({"model": tokens, "added_tokens": added}))
        module = {"type": "sentence_transformers.models.StaticEmbedding", "path": ""}
        (place / "modules.json").write_text(json.dumps([module]))
        save_file(tensors, place / "model.safetensors")


def _hnswlib(path: Path) -> None:
    head = struct.pack("<7Q", 0, 2, 2, 40, 32, 16, 0)
    path.write_bytes(
        head + bytes(48) + b"".join(bytes(16) + raw.tobytes() + bytes(8) for raw in raw_rows(0, 2, 4))
    )


def _usearch(path: Path) -> None:
    path.write_bytes(struct.pack("<II", 2, 16) + raw_rows(0, 2, 4).tobytes() + b"usearch" + bytes(57))


def _folder(folder: Path) -> Iterator[Any]:
    yield read_vectors(folder / "x", language="en").matrix


_PAGE = '{"result": {"points": [{"id": 1, "vector": {"a": [1, 2]}}, {"id": 1, "vector": {"a": [3, 4]}}]}}'
_BATCH = '{"custom_id": "a", "response": {"body": {"data": [{"embedding": [1, 2.5]}]}}}'
_STORES = {
    "qdrant.jsonl": '{"id": 7, "vector": [1, 2.5], "payload": {"text": "a"}}\n{"id": "b", "vector": null}\n',
    "scroll.jsonl": _PAGE,
    "openai.jsonl": _BATCH,
    "chroma.jsonl": '{"ids": ["a", "b"], "embeddings": [[1, 2], [3, 4]], "documents": ["x", null]}\n',
    "x.csv": 'id,text,v\n7,"a\n""b""","[1,2.5]"\n8,,\\N\n9,c,"[-3e-1,4]"\n',
    "y.csv": "a\t[1,2.5]\nb\t[3,4]\n",
    "bare.csv": "id,v\na,0.1 0.2 0.3\nb,0.4 0.5 0.6\n",
    "lists.csv": '"0.1,0.2,0.3"\n"0.4,0.5,0.6"\n',
    "lists.tsv": "a\t0.1 0.2 0.3\nb\t0.4 0.5 0.6\n",
}
_GLOVE = "the 0.1 0.2 0.3\nnew york 1 0 0\ncat -1e-3 2 .5\n"
_MARKED = "\ufeff" + _GLOVE.replace(" 1 ", "\t1e2 ")

TARGETS = (
    Target("vec", _inputs({"x.vec": _text, "y.vec": _broken}), _vectors, TEXT),
    Target("keys", files({"x.txt": "/c/en/a 1 2\n/c/fr/b 3 4\n/c/en/c 5 6\n"}), _vectors, TEXT),
    Target("vec.packed", _packed("bz2", "xz"), _vectors, TEXT),
    Target("vec.tar", _packed("tar", "tar.gz"), _vectors, TEXT),
    Target(
        "pt",
        _inputs(
            {
                "x.pt": _torch(lambda rows: {"words": WORDS, "vectors": rows}),
                "y.pt": _torch(lambda rows: (WORDS, {word: row for row, word in enumerate(WORDS)}, rows)),
                "z.pt": _torch(lambda rows: dict(zip(WORDS, rows.double(), strict=True))),
                "rows.pt": _torch(lambda rows: rows.half().t()),
            }
        ),
        _rows,
    ),
    Target("pickle", _inputs({"x.kv": _keyed, "x.pkl": _pickled}), _vectors),
    Target("static", _static, _folder),
    Target("glove", files({"x.txt": _GLOVE, "y.txt": _MARKED}), _vectors, TEXT),
    Target("vec.gz", _inputs({"x.vec.gz": _text}), _vectors, TEXT),
    Target("vec.zip", _packed("zip"), _vectors, TEXT),
    Target(
        "word2vec",
        _inputs(
            {
                "x.bin": lambda path: write_word2vec(path, [word.replace(" ", "_") for word in WORDS], ROWS),
                "y.bin": _phrases,
            }
        ),
        _vectors,
    ),
    Target(
        "npz",
        _inputs(
            {
                "x.npz": lambda path: write_npz(path, WORDS, ROWS),
                "y.npz": _savez(words=np.array([word.encode() for word in WORDS])),
                "z.npz": _savez(matrix=ROWS.astype(np.float64)),
            }
        ),
        _vectors,
    ),
    Target("parquet", _inputs({"x.parquet": lambda path: write_parquet(path, WORDS, ROWS)}), _vectors),
    Target(
        "rows",
        _inputs(
            {
                "x.npy": lambda path: np.save(path, ROWS),
                "y.npy": lambda path: np.save(path, ROWS.astype(np.float16)),
                "x.npz": lambda path: np.savez(path, vectors=ROWS, ids=np.array(WORDS)),
                "y.npz": lambda path: np.savez(path, ROWS), "x.safetensors": tensor_file(embeddings=ROWS),
                "x.faiss": flat_index(ROWS), "y.faiss": flat_index(ROWS, "IndexFlatL2"), "z.faiss": _mapped,
                "x.hnsw": _hnswlib, "x.usearch": _usearch,
                "x.parquet": _columns,
            }
        ),
        _rows,
    ),
    Target("stores", files(_STORES), _rows),
    Target(
        "fasttext",
        _inputs({"x.bin": fasttext_model(KNOWN), "y.bin": fasttext_model(KNOWN, maxn=0)}),
        _model,
        FASTTEXT,
    ),
    Target("spacy", _pipelines, _pipeline),
    Target("spacy.archive", _archives, _vectors),
)  # fmt: skip
