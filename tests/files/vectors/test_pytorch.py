"""Files of torch.save: read without torch.load or pickle, whatever their pickle asks for."""

import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.files import read_vectors
from muse.files.vectors.pytorch import _tensor, _TensorError
from tests.support.vector_files import refusal

WORDS = ["the", "été", "new york", "日本", "w4"]
ROWS = np.random.default_rng(0).normal(0, 1, (5, 3)).astype(np.float32)
TENSOR = torch.from_numpy(ROWS)
LABELLED: dict[str, Any] = {
    "words": {"words": WORDS, "vectors": TENSOR},
    "other names": {"vocab": tuple(WORDS), "lang": "en", "dim": 3, "emb.weight": torch.nn.Parameter(TENSOR)},
    "pair": (WORDS, TENSOR),
    "torchtext": (WORDS, {word: row for row, word in enumerate(WORDS)}, TENSOR, 3),
    "rows of words": {"stoi": {word: row for row, word in reversed([*enumerate(WORDS)])}, "vectors": TENSOR},
    "a vector each": dict(zip(WORDS, TENSOR, strict=True)),
    "double": {"words": WORDS, "vectors": TENSOR.double()},
    "transposed": {"words": WORDS, "vectors": TENSOR.t().contiguous().t()},
}


@pytest.fixture
def loads_no_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a pickle is loaded")

    for module, name in (
        (torch, "load"), (torch.serialization, "load"), (pickle, "load"), (pickle, "loads"),
        (pickle, "Unpickler"), (pickle, "_Unpickler"), (np, "load"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, fail)


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("kind", LABELLED)
@pytest.mark.usefixtures("loads_no_pickle")
def test_words_and_a_matrix_of_torch_are_read(tmp_path: Path, kind: str, protocol: int) -> None:
    torch.save(LABELLED[kind], tmp_path / "x.pt", pickle_protocol=protocol)
    read = read_vectors(tmp_path / "x.pt", language="en")
    assert list(read.words) == WORDS
    np.testing.assert_array_equal(read.matrix, ROWS)
    assert read.matrix.dtype == np.float32
    assert list(read_vectors(tmp_path / "x.pt", language="en", max_vocab=2).words) == WORDS[:2]


@pytest.mark.parametrize("found", [TENSOR, {"embedding.weight": TENSOR, "epoch": 3}, [TENSOR]])
def test_a_matrix_alone_is_rows(tmp_path: Path, found: object) -> None:
    torch.save(found, tmp_path / "x.pt")
    read = read_vectors(tmp_path / "x.pt", language="en")
    assert list(read.words) == ["0", "1", "2", "3", "4"]
    assert not read.frequency_ordered
    np.testing.assert_array_equal(read.matrix, ROWS)


def test_half_precision_is_read(tmp_path: Path) -> None:
    for kind in (torch.float16, torch.bfloat16):
        torch.save({"words": WORDS, "vectors": TENSOR.to(kind)}, tmp_path / "x.pt")
        read = read_vectors(tmp_path / "x.pt", language="en")
        np.testing.assert_array_equal(read.matrix, TENSOR.to(kind).float().numpy())


NESTED: Any = ()  # a tuple of twice a tuple of twice a tuple ...
for _ in range(60):
    NESTED = (NESTED, NESTED)
UNCLEAR: dict[str, tuple[Any, str]] = {
    "two matrices": ({"a": TENSOR, "b": TENSOR}, "got 5 x 3, 5 x 3 with lists of"),
    "no matrix": ({"words": WORDS}, "got none with lists of"),
    "a number": (3, "got none with lists of"),
    "vectors of other lengths": ({"a": TENSOR[0], "b": TENSOR[1, :2]}, "got none with lists of"),
    "too few words": ({"words": WORDS[:3], "vectors": TENSOR}, "got 5 x 3 with lists of 3 words"),
    "two lists": ({"a": WORDS, "b": WORDS[::-1], "c": TENSOR}, "got 5 x 3 with lists of 5 and 5 words"),
    "sparse": ((WORDS, TENSOR.to_sparse()), "expected a dense tensor of real numbers"),
    "float8": ((WORDS, TENSOR.to(torch.float8_e5m2)), "got float8_e5m2; save tensor.float()"),
    "uint16": ((WORDS, TENSOR.to(torch.uint16)), "got uint16; save tensor.float()"),
    "complex": ((WORDS, TENSOR * 1j), "expected a dense tensor of real numbers"),
    "one number many times": ((WORDS, torch.ones(1, 1).expand(5, 10**6)), "got a part of them"),
    "empty": (torch.ones(0, 3), "expected n rows of d real numbers"),
    "one vector many times": (dict.fromkeys(map(str, range(2000)), torch.ones(10**5)), "grows at most"),
    "ids that take hours to show": (
        {"id": [NESTED] * 5, "vectors": TENSOR},
        "expected an id",
    ),
}


def instructions(*after: bytes) -> bytes:
    """A pickle of protocol 2 of these instructions."""
    return b"".join((b"\x80\x02", *after, b"."))


DEEP = b")" + b"q\x00h\x00\x86" * 60  # a tuple of twice a tuple of twice a tuple ...
HOSTILE = {
    "a key that takes hours": (instructions(b"}", DEEP, b"K\x01s"), "Python objects"),
    "a function": (instructions(b"cos\nsystem\n", b"X\x01\0\0\0:\x85R"), "Python objects.*os system"),
    "a function by its parts": (instructions(b"\x8c\x02os\x8c\x06system\x93"), "Python objects.*os.system"),
    "an instance": (instructions(b"(ios\nsystem\n"), "Python objects.*INST"),
    "an object": (instructions(b"ccollections\nOrderedDict\n)\x81"), "Python objects.*NEWOBJ"),
    "state that is set": (instructions(b"]}X\x01\0\0\0aK\x01sb", b"q\x00h\x07"), "broken"),
    "another storage": (instructions(b"(X\x07\0\0\0storagecbuiltins\neval\n"), "Python objects"),
    "nothing on the stack": (instructions(b"\x86"), "broken"),
    "no mark": (instructions(b"]e"), "broken"),
    "a function of text": (instructions(b"K\x01)R"), "broken"),
    "keys of one hash": (
        instructions(b"}", b"\x8a\x0c" + (2**61 - 1 << 30).to_bytes(12, "little") + b"Ns"),
        "a key",
    ),
    "copies of a text": (
        instructions(b"](X\x90\x01\0\0", b"a" * 400, b"q\0", b"c_codecs\nencode\nh\0h\0\x86R" * 9, b"e"),
        "copies of one text",
    ),
    "a storage of dates": (instructions(b"(NX\2\0\0\0M8NtQ"), "a storage"),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.usefixtures("loads_no_pickle")
def test_what_a_pickle_in_a_pt_asks_for_is_refused(tmp_path: Path, kind: str) -> None:
    content, part = HOSTILE[kind]
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("x/data.pkl", content)
    assert re.search(part, refusal(tmp_path / "x.pt"))


VIEWS = {
    "behind the end": (0, (5, 3), (4, 1)), "more rows": (0, (6, 3), (3, 1)), "an offset": (1, (5, 3), (3, 1)),
    "one below": (-1, (5, 3), (3, 1)), "backwards": (14, (5, 3), (-3, 1)), "repeated": (0, (9, 9), (0,) * 2),
    "no sizes": (0, "abc", (3, 1)), "another length": (0, (5, 3), (1,)),
}  # fmt: skip


@pytest.mark.parametrize("kind", VIEWS)
def test_a_tensor_has_its_numbers(kind: str) -> None:
    offset, shape, strides = VIEWS[kind]
    with pytest.raises((_TensorError, TypeError, ValueError)):
        _tensor(np.arange(15.0), offset, shape, strides)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", UNCLEAR)
def test_what_is_unclear_in_a_pt_is_refused(tmp_path: Path, kind: str) -> None:
    found, part = UNCLEAR[kind]
    torch.save(found, tmp_path / "x.pt")
    assert part in refusal(tmp_path / "x.pt")


def test_a_pt_that_is_cut_off(tmp_path: Path) -> None:
    torch.save(LABELLED["words"], tmp_path / "x.pt")
    content = (tmp_path / "x.pt").read_bytes()
    for end in (10, 300, len(content) - 40):
        (tmp_path / "x.pt").write_bytes(content[:end])
        refusal(tmp_path / "x.pt")
