"""Exported files as other systems load them, each read by its documented format, and what they then train."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.export.moses import MosesConfig, export_moses
from muse.export.torch_file import TableConfig, export_torch
from muse.export.vector_files import export_vectors
from muse.files import write_vectors_text
from muse.space import Space
from muse.vectors import Matrix
from tests.evaluation.test_words import noisy_space
from tests.support.spaces import plain_space, raw_rows

Rows = dict[str, Matrix]
SPACE = noisy_space(0)


@pytest.fixture(scope="module")
def shared() -> Space:
    """A space whose languages share the words "a" and "b", as names are shared."""
    words = [["a", "le", "b", "chat"], ["b", "the", "cat", "a", "dog"]]
    return plain_space(raw_rows(0, 4), raw_rows(1, 5), *words)


def numbers(fields: list[str]) -> Matrix:
    return np.array([float(field) for field in fields], np.float32)


def xlm_rows(path: Path, dimension: int) -> Rows:
    """What --reload_emb (XLM) and --pretrained_emb (UnsupervisedMT) document.

    UTF-8 text, whose lines end as Python's text files end them. First the number of words and the dimension,
    which must both be right; then on each line a word, one space, and its numbers. No word may occur twice,
    and no vector may be zero.
    """
    with path.open(encoding="utf-8") as file:  # a return ends a line too
        first, *lines = list(file)
    count, width = map(int, first.split())
    assert (len(lines), width) == (count, dimension)
    found = Rows()
    for line in lines:
        word, _, rest = line.rstrip().partition(" ")
        row = numbers(rest.split(" "))
        assert word and word not in found
        assert row.shape == (dimension,) and row.any()
        found[word] = row
    return found


def fairseq_rows(path: Path) -> Rows:
    """What --encoder-embed-path documents: a line that is passed over, then words, each with its numbers."""
    found = Rows()
    for line in path.read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            word, *fields = line.rstrip().split(" ")
            found[word] = numbers(fields)
    return found


def opennmt_rows(path: Path, kind: str) -> Rows:
    """What both_embeddings documents: GloVe's format has no first line to pass over, word2vec's has."""
    found = Rows()
    for line in path.read_bytes().split(b"\n")[kind == "word2vec" :]:
        fields = line.decode().strip().split(" ")
        if len(fields) > 2:
            found[fields[0]] = numbers(fields[1:])
    return found


def marian_rows(path: Path, dimension: int) -> dict[int, Matrix]:
    """What --embedding-vectors documents: word2vec's text with the numbers of words in their place."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    assert [int(field) for field in first.split(" ")] == [len(lines), dimension]
    rows = [line.split(" ") for line in lines]
    return {int(fields[0]): numbers(fields[1:]) for fields in rows}


def check(found: Rows, space: Space, language: str) -> None:
    vectors = space.vectors(language)
    assert list(found) == list(vectors.words)
    for word, row in found.items():
        np.testing.assert_array_equal(row, vectors.matrix[vectors.index[word]])


@pytest.mark.parametrize("language", ["fr", "en"])
def test_unsupervisedmt_with_a_table_for_each_language(tmp_path: Path, language: str) -> None:
    export_vectors(SPACE, tmp_path / "x.vec", form="text", language=language)
    check(xlm_rows(tmp_path / "x.vec", SPACE.vectors(language).dimension), SPACE, language)


def test_xlm_and_unsupervisedmt_with_one_table_for_both(tmp_path: Path, shared: Space) -> None:
    config = TableConfig(shared=True)
    rng = np.random.default_rng(0)
    export_torch(shared, tmp_path / "tables.pt", languages=("fr", "en"), config=config, rng=rng)
    written = torch.load(tmp_path / "tables.pt", weights_only=True)
    table, first = written["encoder"], len(written["specials"])
    rows = table["weight"].numpy()
    write_vectors_text(tmp_path / "both.vec", table["names"][first:], rows[first:])
    found = xlm_rows(tmp_path / "both.vec", rows.shape[1])
    assert set(found) == {"a", "b", "le", "chat", "the", "cat", "dog"}
    fr, en = shared.vectors("fr"), shared.vectors("en")
    np.testing.assert_array_equal(found["chat"], fr.matrix[3])
    mean = fr.matrix[0] + en.matrix[3]
    np.testing.assert_allclose(found["a"], mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize("language", ["fr", "en"])
def test_fairseq_and_opennmt(tmp_path: Path, language: str) -> None:
    export_vectors(SPACE, tmp_path / "x.vec", form="text", language=language)
    check(fairseq_rows(tmp_path / "x.vec"), SPACE, language)
    for kind in ("word2vec", "GloVe"):  # with which our first line is taken for no word
        check(opennmt_rows(tmp_path / "x.vec", kind), SPACE, language)


def test_marian_by_the_numbers_of_its_vocabulary(tmp_path: Path, shared: Space) -> None:
    (tmp_path / "vocab.fr").write_text("chat\n")
    (tmp_path / "vocab.en").write_text("the\ncat\nzebra\n")  # numbers 2 to 4, after </s> and <unk>
    vocabularies = tmp_path / "vocab.fr", tmp_path / "vocab.en"
    config = TableConfig(vocabularies=vocabularies, specials=("</s>", "<unk>"))
    rng = np.random.default_rng(0)
    export_torch(shared, tmp_path / "tables.pt", languages=("fr", "en"), config=config, rng=rng)
    rows = torch.load(tmp_path / "tables.pt", weights_only=True)["decoder"]["weight"].numpy()
    write_vectors_text(tmp_path / "en.ids", [str(row) for row in range(len(rows))], rows)
    found = marian_rows(tmp_path / "en.ids", rows.shape[1])
    assert list(found) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(found[2], shared.vectors("en").matrix[1])
    np.testing.assert_array_equal(found[3], shared.vectors("en").matrix[2])


def test_moses_with_four_features(tmp_path: Path, shared: Space) -> None:
    """PhraseDictionaryMemory num-features=4: source, target, four numbers above 0, and the alignment."""
    rng = np.random.default_rng(0)
    export_moses(shared, tmp_path / "table.txt", direction=("fr", "en"), config=MosesConfig(3, 0.1), rng=rng)
    lines = (tmp_path / "table.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    sources = []
    for line in lines:
        source, target, features, alignment = line.split(" ||| ")
        assert target in shared.vectors("en").words
        assert len(numbers(features.split(" "))) == 4 and (numbers(features.split(" ")) > 0).all()
        assert re.fullmatch(r"\d+-\d+( \d+-\d+)*", alignment)
        sources.append(source)
    assert sources == sorted(sources)
    assert set(sources) == set(shared.vectors("fr").words)


@pytest.mark.slow
def test_hugging_face_resized_and_set(tmp_path: Path, shared: Space) -> None:
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    rng = np.random.default_rng(0)
    export_torch(shared, tmp_path / "t.pt", languages=("fr", "en"), config=TableConfig(shared=True), rng=rng)
    table = torch.load(tmp_path / "t.pt", weights_only=True)["encoder"]
    config = transformers.BertConfig(
        vocab_size=30, hidden_size=table["weight"].shape[1], num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, pad_token_id=table["padding_idx"],
    )  # fmt: skip
    model = transformers.BertForMaskedLM(config)
    model.resize_token_embeddings(len(table["names"]))
    model.get_input_embeddings().weight.data.copy_(table["weight"])
    tokens = torch.tensor([[table["names"].index("chat"), table["names"].index("dog")]])
    shown = model.get_input_embeddings()(tokens)[0].detach().numpy()
    np.testing.assert_array_equal(shown[0], shared.vectors("fr").matrix[3])
    np.testing.assert_array_equal(shown[1], shared.vectors("en").matrix[4])
    # Input and output share their rows, and learn.
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert bool(torch.isfinite(loss))
