"""Files as people have them, after public reports of bugs: each is read, or refused with what helps."""

import csv
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muse.errors import BadFile, BadSetting
from muse.evaluation.ratings import RATED, RATED_WORDS, read_rated
from muse.export.vocabulary import read_vocabulary
from muse.files import read_lexicon, read_vectors
from muse.files.vectors.formats import open_table
from muse.languages import Languages
from muse.text.parallel import fit_of_words, parallel_text
from muse.vectors import WordIndex

UUID = "3f0e6c1a-0000-4000-8000-000000000000"
# The first id or word of each file, or a part of the error.
VECTORS: Mapping[str, str] = {
    "081-sparse.txt": "error: got sparse vectors, place:number; write all numbers of each word",
    "086-brackets.txt": "roi",
    "089-pandas-ellipsis.csv": "error: left out where they were written",
    "090-pandas-list-index.csv": "0",
    "091-postgres-real-array.csv": "0",
    "093-pgcopy.bin": "error: a binary dump of PostgreSQL; write it again: COPY",
    "095-laser.raw": "error: np.fromfile('095-laser.raw', '<f4').reshape(-1, d)",
    "097-glove-vectors.bin": "error: of GloVe, give vectors.txt",
    "098-weaviate-uuid.jsonl": UUID,
    "099-weaviate-additional.jsonl": UUID,
    "100-pinecone-fetch.jsonl": "v0",
    "100b-pinecone-list.jsonl": "v0",
    "101-milvus-rows.json": "0",
    "101b-milvus-pk.jsonl": "100",
    "102-elastic-source.jsonl": "a0",
    "102b-elastic-bulk.jsonl": "a0",
    "106-supabase-string.jsonl": "0",
    "078-comma-after-word.txt": "roi",
    "107-word-vector.jsonl": "roi",
    "109-object-words.npz": "error: np.array(words, dtype=str)",
    "110-vocab-embeddings.npz": "roi",
    "113-bpemb.vec": "roi",
    "113c-gpt.vec": "roi",
    "118-two-columns-vector.parquet": "error: got 2 called vector; rename",
    "119-nested.parquet": "0",
    "121-tensor.parquet": "0",
    "116-wide.parquet": "roi",
    "120-spark.parquet": "0",
    "122-binary-words.parquet": "roi",
    "120c-hf-dataset": "error: datasets.load_from_disk('120c-hf-dataset').to_parquet",
    "126-st-wordembeddings": "roi",
    "130-uuid.parquet": UUID,
    "130b-_id.parquet": UUID,
    "130c-doc_id.csv": UUID,
    "130e-_id.jsonl": UUID,
    "175c-table.lance": "error: lance.dataset('175c-table.lance').to_table()",
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_stores_and_programs(shared: Path, name: str) -> None:
    path, expected = shared / "bug-inputs" / name, VECTORS[name]
    if not path.exists():
        pytest.skip("needs ../shared/bug-inputs")
    if expected.startswith("error: "):
        with pytest.raises(BadFile) as error:
            read_vectors(path, language="fr")
        assert expected.removeprefix("error: ") in str(error.value)
    else:
        assert read_vectors(path, language="fr").words[0] == expected


# The number of pairs, the first of which is roi and king, or a part of the error.
DICTIONARIES: Mapping[str, str | int] = {
    "001-hunalign.dic": 20,
    "003-awesome-align-words.txt": "awesome-align's '<sep>' between the words; put one pair",
    "006-fast_align-p-spaces.txt": "as fast_align writes; put tabs: tr ' ' '\\t' < FILE > OUT.tsv",
    "010-apertium.fra-eng.dix": "of Apertium: lt-expand FILE | sed",
    "011-lt-expand.txt": "what lt-expand writes; put tabs: sed",
    "020-hf-translation.jsonl": 20,
    "026-anki-img.txt": 20,
    "027-anki-nbsp.txt": 20,
    "029-anki-guid-columns.txt": 20,
    "032-dictunformat.txt": "what dictunformat writes; give the .index",
    "034-tei-p3-entity.tei": 20,
    "046-newline-cell.csv": 40,
    "047-excel-types.xlsx": 24,
    "048-excel-title.xlsx": 20,
    "049-excel-second-sheet.xlsx": 20,
    "051-excel-formulas.xlsx": "formulas without results; open it in a spreadsheet program and save it",
    "053-pandas-index.tsv": 20,
    "053b-pandas-index-score.tsv": 20,
    "054-blank-first-cell.tsv": 40,
    "054b-blank-first-cell-no-header.tsv": 40,
    "055-merged.xlsx": 40,
    "056-deepl.csv": 20,
    "061-lift.lift": "and write its words and glosses as two columns",
    "061c-panlex.tsv": 20,
    "061d-cldf-long.csv": "as CLDF has them; join two: python -c",
    "061e-omw.tab": "Open Multilingual Wordnet; join two by their first columns",
    "077-access-denied.xml": "if it is a page of an error, download the file again",
    "077c-web-page.txt": "if it is a page of an error, download the file again",
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_of_programs_and_people(shared: Path, name: str) -> None:
    path, expected = shared / "bug-inputs" / name, DICTIONARIES[name]
    if not path.exists():
        pytest.skip("needs ../shared/bug-inputs")
    if isinstance(expected, str):
        with pytest.raises(BadFile) as error:
            read_lexicon(path, languages=("fr", "en"))
        assert expected in str(error.value)
    else:
        found = read_lexicon(path, languages=("fr", "en")).pairs
        assert (len(found), found[0]) == (expected, ("roi", "king"))


@pytest.mark.parametrize("name", ["161b-muse-mine.tsv", "162-parallel.tmx", "162b-opus.zip"])
@pytest.mark.parametrize("languages", [("fr", "en"), ("en", "fr")])
def test_parallel_text_of_programs(shared: Path, name: str, languages: Languages) -> None:
    path = shared / "bug-inputs" / name
    if not path.exists():
        pytest.skip("needs ../shared/bug-inputs")
    words = {"fr": ["le", "roi", "et", "la", "femme", "the"], "en": ["the", "king", "and", "woman", "la"]}
    found = [*parallel_text(path, languages, [fit_of_words(WordIndex(words[one]), one) for one in languages])]
    sentences = {"fr": "le roi et la femme", "en": "the king and the woman"}
    assert (len(found), found[0][1:]) == (30, (sentences[languages[0]], sentences[languages[1]]))


RATINGS: Mapping[str, tuple[int, tuple[str, str, float]]] = {
    "163-sts-blank.tsv": (23, ("the day and the man", "the woman and the death", 1)),
    "164-sts-four-columns.tsv": (30, ("the day and the man", "the woman and the death", 1)),
    "165-sts-tabs.txt": (30, ("the day and the man", "the woman and the death", 1)),
    "165b-sts-header.tsv": (30, ("the day and the man", "the woman and the death", 1)),
    "166-wordsim-header.csv": (4, ("roi", "king", 9)),
    "166b-wordsim-header.tsv": (4, ("roi", "king", 9)),
}


@pytest.mark.parametrize("name", RATINGS)
def test_rated_pairs_of_data_sets(shared: Path, name: str) -> None:
    path = shared / "bug-inputs" / name
    if not path.exists():
        pytest.skip("needs ../shared/bug-inputs")
    found = [*zip(*read_rated(path, RATED_WORDS if "word" in name else RATED), strict=True)]
    assert (len(found), found[0]) == RATINGS[name]


def test_the_vocabulary_of_marian(shared: Path) -> None:
    path = shared / "bug-inputs" / "170-marian.yml"
    if not path.exists():
        pytest.skip("needs ../shared/bug-inputs")
    units = read_vocabulary(path)
    assert (len(units), units[:3]) == (32, ["</s>", "<unk>", "roi"])


TABLES = {
    "codes behind": "roi,king,fr,en\njour,day,fr,en\nnuit,night,fr,en\n",
    "codes before": "fr\troi\ten\tking\nfr\tjour\ten\tday\nfr\tnuit\ten\tnight\n",
    "codes the other way": "en,king,fr,roi\nen,day,fr,jour\nen,night,fr,nuit\n",
    "PanLex": "lang1\ttext1\tlang2\ttext2\tquality\nfra-000\troi\teng-000\tking\t7\n"
              "fra-000\tjour\teng-000\tday\t8\n"
              "fra-000\tnuit\teng-000\tnight\t9\n",
    "an index": "\tfr\ten\n0\troi\tking\n1\tjour\tday\n2\tnuit\tnight\n",
    "lines in cells": 'fr,en\n"roi\njour","king\nday"\nnuit,night\n',
    "Anki": "#separator:tab\n#html:true\n#guid column:1\nx\t<b>roi</b>\tking&nbsp;\n"
            "y\t{{c1::jour::x}}\t<img src='a'>day\nz\tnuit\t<div>night</div>\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_what_stands_beside_words_in_tables(tmp_path: Path, kind: str) -> None:
    (tmp_path / "x.txt").write_text(TABLES[kind])
    found = read_lexicon(tmp_path / "x.txt", languages=("fr", "en")).pairs
    assert found == (("roi", "king"), ("jour", "day"), ("nuit", "night"))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("\\_sh v3.0  400  MDF\n\n\\lx roi\n\\ps n\n\\ge king\n\n\\lx jour\n\\ge day\n", r"awk '/^\\lx /"),
        ("00010000-n\tfra:lemma\troi\n00010000-n\tfra:def\tchef d'un royaume\n", "join -t"),
        ("ID,Language_ID,Parameter_ID,Form\n0,fra,king,roi\n1,eng,king,king\n", "pandas.read_csv('x.txt')"),
    ],
)
def test_dictionaries_that_a_command_converts(tmp_path: Path, text: str, command: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(BadFile) as error:
        read_lexicon(tmp_path / "x.txt", languages=("fr", "en"))
    assert command in str(error.value)


def test_a_row_without_a_word_continues_that_above(tmp_path: Path) -> None:
    for between in "\t,":
        (tmp_path / "x").write_text("fr,en\nroi,king\n,monarch\njour,day\n".replace(",", between))
        pairs = read_lexicon(tmp_path / "x", languages=("fr", "en")).pairs
        assert pairs == (("roi", "king"), ("roi", "monarch"), ("jour", "day"))


ROW = [
    "[0.1, 0.2]", "[0.1 0.2]", "[ 0.1  0.2 ]", "{0.1,0.2}", "(0.1, 0.2)", "[1e-1\\n 2.e-1]",
    "array([0.1, 0.2], dtype=float32)", "tensor([0.1, 0.2])", "[np.float32(0.1), np.float32(0.2)]",
    "[[0.1 0.2]]", "tensor([0.1, 0.2], device='cuda:0', grad_fn=<MeanBackward1>)",
    "tf.Tensor([0.1 0.2], shape=(2,), dtype=float32)",
]  # fmt: skip


@pytest.mark.parametrize("cell", ROW)
@pytest.mark.parametrize("name", ["id", "_id", "ID", "uuid", "Doc_ID", "pk", ""])
def test_lists_of_numbers_and_ids_whatever_their_names(tmp_path: Path, cell: str, name: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f'{name},embedding\na,"{cell}"\nb,"{cell}"\n'.replace("\\n", "\n"))
    found = read_vectors(path, language="a")
    assert (found.words, found.matrix[1].tolist()) == (("a", "b"), pytest.approx([0.1, 0.2]))


DEEPER = {
    "an envelope": '{"took": 3, "hits": {"hits": [{"_id": "a", "_source": {"v": [1, 2]}}, '
                   '{"_id": "b", "v": [3, 4]}]}}',
    "a dictionary of rows": '{"vectors": {"a": {"values": [1, 2]}, "b": {"values": [3, 4]}}}',
    "a dictionary of vectors": '{"vectors": {"a": [1, 2], "b": [3, 4]}}',
    "MongoDB": '{"_id": {"$oid": "a"}, "v": [{"$numberDouble": "1"}, 2]}\n'
               '{"_id": {"$oid": "b"}, "v": [3, 4]}',
    "texts": '{"id": "a", "v": "[1,2]"}\n{"id": "b", "v": "[3, 4]"}',
    "bulk": '{"index": {"_id": "a"}}\n{"vector": [1, 2]}\n{"delete": {"_id": "c"}}\n'
            '{"create": {"_id": "b"}}\n{"vector": [3, 4]}',
    "one deeper": '{"uuid": "a", "data": {"embedding": [1, 2]}}\n'
                  '{"uuid": "b", "data": {"embedding": [3, 4]}}',
    "a list of objects": '[{"id": "a", "v": [1, 2]}, {"id": "b", "v": [3, 4]}]',
    "a list over lines": '[\n{"id": "a", "v": [1, 2]},\n{"id": "b", "v": [3, 4]}]\n',
    "columns": '{"ids": ["a", "b"], "vectors": [[1, 2], [3, 4]]}',
    "words and vectors": '{"words": ["a", "b"], "vectors": [[1, 2], [3, 4]], "model": "x"}',
    "values of vectors": '{"id": "a", "fields": {"t": "x", "embedding": {"values": [1, 2]}}}\n'
                         '{"id": "b", "fields": {"t": "y", "embedding": {"values": [3, 4]}}}',
    "DynamoDB": '{"Item": {"id": {"S": "a"}, "v": {"L": [{"N": "1"}, {"N": "2.0"}]}}}\n'
                '{"Item": {"id": {"S": "b"}, "v": {"L": [{"N": "3"}, {"N": "4"}]}}}',
    "Firestore": '{"documents": [{"name": "a", "fields": {"embedding": {"arrayValue": {"values": '
                 '[{"doubleValue": 1}, {"integerValue": "2"}]}}}}, {"name": "b", "fields": {"embedding": '
                 '{"arrayValue": {"values": [{"doubleValue": 3}, {"doubleValue": 4}]}}}}]}',
    "pandas, by index": '{"a": {"vector": [1, 2], "n": 1}, "b": {"vector": [3, 4], "n": 2}}',
    "chunks of a document": '{"doc_id": "d", "chunk_id": "a", "v": [1, 2]}\n'
                            '{"doc_id": "d", "chunk_id": "b", "v": [3, 4]}',
    "facets": '{"_id": "a", "f": [{"t": "x", "v": [1, 2]}]}\n{"_id": "b", "f": [{"t": "x", "v": [3, 4]}]}',
    "predictions": '{"predictions": [{"id": "a", "embeddings": [[1, 2]]}, '
                   '{"id": "b", "embeddings": [[3, 4]]}]}',
}  # fmt: skip


@pytest.mark.parametrize("kind", DEEPER)
def test_vectors_in_objects_within_objects(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(DEEPER[kind])
    found = read_vectors(path, language="a")
    assert (found.words, found.matrix.tolist()) == (("a", "b"), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "mark", ["▁{}", "Ġ{}", "{}</w>", "{},", '"{}"', "##{}", "{}_NOUN", "b'{}'", "\u00ab{}\u00bb"]
)
def test_a_mark_that_nearly_all_words_have_is_left_out(tmp_path: Path, mark: str) -> None:
    words = [*(f"mot{place}" for place in range(40)), ","]
    (tmp_path / "x.vec").write_text("".join(f"{mark.format(word)} 1 2\n" for word in words[:-1]) + ", 1 2\n")
    assert read_vectors(tmp_path / "x.vec", language="fr").words == tuple(words)


def test_words_and_vectors_as_json_lines(tmp_path: Path) -> None:
    for text in (
        '{"word": "a b", "vector": [1, 2]}\n{"word": "c", "vector": "[3, 4]"}\n',
        '{"v": [1, 2], "token": "a b"}\n{"v": [3, 4], "token": "c"}\n',
    ):
        (tmp_path / "x").write_text(text)
        found = read_vectors(tmp_path / "x", language="fr")
        assert (found.words, found.matrix.tolist(), found.frequency_ordered) == (
            ("a b", "c"),
            [[1, 2], [3, 4]],
            True,
        )
    (tmp_path / "x").write_text('{"word": "a", "vector": [1, 2]}\n{"word": "b", "vector": [1]}\n')
    with pytest.raises(BadFile, match="x:2: expected 2 finite numbers in 'vector', got 1"):
        read_vectors(tmp_path / "x", language="fr")


# The ids, and what is told of them; words are in brackets, and errors begin with "error".
LABELS: Mapping[str, tuple[list[dict[str, Any]], str, str]] = {
    "no name": ([{"page": 7}, {"page": 7}], "0 1", "the numbers of rows are their ids"),
    "a unique text": ([{"sku": "A-1", "kind": "x"}, {"sku": "A-2", "kind": "x"}], "A-1 A-2", "in 'sku'"),
    "two of them": ([{"a": "x1", "b": "y1"}, {"a": "x2", "b": "y2"}], "0 1", "name their column with --id"),
    "one called so": ([{"productId": 7, "a": "x1"}, {"productId": 8, "a": "x2"}], "7 8", "in 'productId'"),
    "sentences": ([{"text": "A dog runs."}, {"text": "It barks."}], "0 1", "the numbers of rows"),
    "null": ([{"id": None}, {"id": 7}], "error", "expected an id that is text or an integer, got None"),
    "none": ([{"id": 7}, {"page": 7}], "error", "expected an id that is text or an integer, got None"),
    **{f"control {sign!r}": ([{"id": "a"}, {"id": f"b{sign}"}], "error", "without control characters")
       for sign in "\x00\x07\x1b\x7f\x9b"},
    "two lines": ([{"id": "a\tb"}, {"id": "c"}], "a\tb|c", ""),
    "signs between": ([{"Doc-Id": "a b"}, {"Doc-Id": "c"}], "a b|c", ""),
    "an index": ([{"index": 5, "x": "y"}, {"index": 9, "x": "y"}], "5 9", ""),
    "the same index": ([{"index": 0, "x": "y1"}, {"index": 0, "x": "y2"}], "y1 y2", "in 'x'"),
    "words": ([{"Term": "roi"}, {"Term": "jour"}], "(roi jour)", ""),
    "a word and an id": ([{"id": 7, "word": "roi"}, {"id": 8, "word": "jour"}], "(roi jour)", ""),
    "words by an index": ([{"__index_level_0__": "roi"}, {"__index_level_0__": "jour"}], "(roi jour)", ""),
    "keys": ([{"key": "a0"}, {"key": "a1"}], "a0 a1", ""),
    "words alone": ([{"mot": "roi"}, {"mot": "jour"}], "(roi jour)", "the words are in 'mot'"),
    "words as text": ([{"text": "roi"}, {"text": "jour"}], "(roi jour)", "the words are in 'text'"),
    "names": ([{"name": "Ada", "age": 1}, {"name": "Bob", "age": 1}], "Ada Bob", "the ids are in 'name'"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        (kind, ending)
        for kind in LABELS
        for ending in (".jsonl", ".csv", ".parquet")
        if ending != ".csv" or kind not in ("null", "none")  # cells are text
    ],
)
def test_ids_and_words_of_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, ending: str
) -> None:
    columns, expected, told = LABELS[kind]
    rows = [{**one, "v": [float(place), 1.0]} for place, one in enumerate(columns)]
    path = tmp_path / f"x{ending}"
    if ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == ".parquet":
        pq.write_table(
            pa.table({name: [row.get(name) for row in rows] for name in {**rows[1], **rows[0]}}), path
        )
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    if expected == "error":
        with pytest.raises(BadFile, match=told):
            read_vectors(path, language="a")
        return
    found = read_vectors(path, language="a")
    words = expected.strip("()").split("|" if "|" in expected else None)
    assert (list(found.words), found.frequency_ordered) == (words, expected.startswith("("))
    assert told in caplog.text if told else not caplog.text
    if not found.frequency_ordered:
        name = next(iter(columns[0]))
        again = read_vectors(path, language="a", id_column=name)
        assert again.words[0] == str(columns[0][name])
        with pytest.raises(BadSetting, match=f"--id must be one of its columns .*{name}.*, got 'other'"):
            read_vectors(path, language="a", id_column="other")


def test_bracketed_lines_and_what_looks_like_them(tmp_path: Path) -> None:
    for text in (
        "a b [0.5 1\n 2]\nc [3 4 5]",
        "2 3\na b: (0.5, 1, 2),\nc: (3, 4, 5),",
        "a b = array([.5,1,2])\nc = [3,4,5]",
    ):
        (tmp_path / "x").write_text(text)
        found = read_vectors(tmp_path / "x", language="fr")
        assert (found.words, found.matrix.tolist()) == (("a b", "c"), [[0.5, 1, 2], [3, 4, 5]])
    (tmp_path / "x").write_text("roi [0,1 0,2]\njour [0,3 0,4]\n")  # no four numbers
    with pytest.raises(BadFile, match="expected vectors such as .*write them as vector.tolist"):
        read_vectors(tmp_path / "x", language="fr")


def column(*values: Any) -> Any:
    return pa.array(values)


PARQUET: Mapping[str, tuple[dict[str, Any], str]] = {
    "texts": ({"id": [7, 8], "v": ["[0.1, 0.2]", "[0.3 0.4]"]}, "7 8"),
    "bytes": ({"mot": [b"roi", b"jour"], "v": [[1.0], [2.0]]}, "roi jour"),
    "categories": ({"word": column("roi", "jour").dictionary_encode(), "v": [[1.0], [2.0]]}, "roi jour"),
    "bytes of a number": ({"id": [bytes(16), bytes(16)], "v": [[1.0], [2.0]]}, "error: expected an id"),
    "null": ({"id": [None, 8], "v": [[1.0], [2.0]]}, "error: an integer, got None"),
    "two tables": ({"a0": [1.0], "a1": [1.0], "b0": [1.0], "b1": [1.0]}, "error: no column of them holds"),
    "a gap": ({"d0": [1.0], "d2": [1.0]}, "error: no column of them holds"),
    "bytes as numbers": ({"word": ["roi"], "v": [bytes(8)]}, "error: numpy.frombuffer(one, '<f4')"),
    "lists of lists": ({"word": ["roi"], "v": [[[1.0, 2.0]] * 2]}, "error: one vector in each row of v"),
    "lists of single numbers": ({"word": ["roi", "jour"], "v": [[[1.0], [2.0]]] * 2}, "roi jour"),
    "decimals": ({"lemma": ["roi", "jour"], "pos": ["N"] * 2, "v": [[Decimal("1.5")]] * 2}, "roi jour"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PARQUET)
def test_columns_of_other_types(tmp_path: Path, kind: str) -> None:
    columns, expected = PARQUET[kind]
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    if expected.startswith("error: "):
        with pytest.raises(BadFile) as error:
            read_vectors(tmp_path / "x.parquet", language="fr")
        assert expected.removeprefix("error: ") in str(error.value)
    else:
        assert " ".join(read_vectors(tmp_path / "x.parquet", language="fr").words) == expected


def test_the_first_part_of_a_folder_may_be_empty(tmp_path: Path) -> None:
    rows = pa.table({"id": ["a", "b"], "v": [[1.0], [2.0]]})
    (tmp_path / "lang=fr").mkdir()
    for place, part in enumerate((rows.slice(0, 0), rows)):
        pq.write_table(part, tmp_path / "lang=fr" / f"part-{place}.parquet")
    assert read_vectors(tmp_path, language="fr").words == ("a", "b")
    with open_table(tmp_path) as table:
        assert table.payload is not None
        assert list(table.payload.vectors) == ["lang"]  # told as not copied
    pq.write_table(pa.table({"id": ["c"], "v": [[1.0, 2.0]]}), tmp_path / "part-2.parquet")
    with pytest.raises(BadFile, match=f"{tmp_path.name}: row 2: expected 1 finite numbers in 'v', got 2"):
        read_vectors(tmp_path, language="fr")
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(BadFile, match="a table of Delta Lake; write deltalake"):
        read_vectors(tmp_path, language="fr")


def test_parts_of_a_folder_have_the_same_columns(tmp_path: Path) -> None:
    for name, columns in (("a", {"id": [1]}), ("b", {"name": ["x"]})):
        pq.write_table(pa.table({**columns, "v": [[1.0, 2.0]]}), tmp_path / f"{name}.parquet")
    with pytest.raises(BadFile, match="b.parquet: expected the columns of a.parquet"):
        read_vectors(tmp_path, language="fr")


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"uuid": ["a0", "a1"], "E": [[1.0], [2.0]]}, "a0 a1"),
        ({"id": [7, 8], "E": [[1.0], [2.0]]}, "7 8"),
        ({"id": [7.0, np.nan], "E": [[1.0], [2.0]]}, "error: expected `id` to be one text or integer"),
        ({"lang": "fr", "E": [[1.0], [2.0]]}, "0 1"),
        ({"langs": ["fr", "fr"], "vocab": ["roi", "jour"], "E": [[1.0], [2.0]]}, "roi jour"),
        (
            {"vocab": ["roi", "jour", "nuit"], "E": [[1.0], [2.0]]},
            "error: got vocab of shape (3,); call it `words`",
        ),
        ({"vocab": [["roi", "jour"]], "E": [[1.0], [2.0]]}, "error: got vocab of shape (1, 2); call it"),
    ],
)
def test_arrays_of_ids_and_words(tmp_path: Path, arrays: dict[str, Any], expected: str) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    if expected.startswith("error: "):
        with pytest.raises(BadFile) as error:
            read_vectors(tmp_path / "x.npz", language="fr")
        assert expected.removeprefix("error: ") in str(error.value)
    else:
        assert " ".join(read_vectors(tmp_path / "x.npz", language="fr").words) == expected


@pytest.mark.parametrize("content", [
    'id,v\nroi,"1,2.5,3"\nreine,"2,3,4e-1"\n', "id;v\nroi;1,2.5,3\nreine;2,3,4e-1\n",
    "id\tv\nroi\t1 2.5 3\nreine\t2 3 4e-1\n", 'n,id,v\na,roi," 1, 2.5, 3 "\nb,reine,"2 3 4e-1"\n',
])  # fmt: skip
def test_a_cell_may_list_numbers_without_brackets(tmp_path: Path, content: str) -> None:
    (tmp_path / "x").write_text(content)
    found = read_vectors(tmp_path / "x", language="fr")
    assert found.words == ("roi", "reine")
    assert found.matrix.tolist() == np.array([[1, 2.5, 3], [2, 3, 0.4]], np.float32).tolist()


def test_lists_in_yaml_are_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("---\n- </s>\n- \"\\x41\"\n- 'c''est'\n")
    assert read_vocabulary(tmp_path / "x") == ["</s>", "A", "c'est"]
    (tmp_path / "x").write_text("- 300\nroi 20\n")
    assert read_vocabulary(tmp_path / "x") == ["-", "roi"]


def _store(folder: Path, name: str) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(3, 4).tobytes()
    if name == "hnswlib":
        sizes = np.array([0, 100, 3, 164, 156, 140], "<u8")  # rows of 140 bytes of links, 16 of a vector, 8
        (folder / "x").write_bytes(sizes.tobytes() + bytes(200))
    elif name == "usearch":
        (folder / "x").write_bytes(np.array([3, 16], "<u4").tobytes() + rows + b"usearch" + bytes(57))
    else:
        place = {"zarr": "zarr.json", "zarr 2": ".zarray", "qdrant": "collection/docs/storage.sqlite"}[name]
        (folder / "x" / place).parent.mkdir(parents=True)
        (folder / "x" / place).touch()


@pytest.mark.parametrize(("name", "command"), [
    ("hnswlib", "hnswlib.Index('l2', 4)"), ("usearch", "usearch.index.Index.restore('x')"),
    ("zarr", "zarr.open('x')"), ("zarr 2", "zarr.open('x')"), ("qdrant", '.scroll("docs", limit'),
])  # fmt: skip
def test_stores_that_are_not_read_are_named(tmp_path: Path, name: str, command: str) -> None:
    _store(tmp_path, name)
    with pytest.raises(BadFile) as error:
        read_vectors(tmp_path / "x", language="fr")
    assert command in str(error.value)


@pytest.mark.slow
def test_much_of_the_same_takes_no_time(tmp_path: Path) -> None:
    many = 200_000
    (tmp_path / "fr-en.dict").write_text("roi\nking; ruler\n")
    contents = {
        "fr-en.index": "dame\tA\tQ\n" + "roi\tA\tQ\n" * many,
        "slashes.txt": f"roi\t{'/' * many}\nlady\tdame\n",
        "columns.csv": f"roi;king\nchat{';' * many}\n", "vocabulary": '"a": 0\n' + "roi: 2\n2\n" * many,
        "escapes": f'"a": 0\n"{chr(92) * many}"\n',
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        begun = time.process_time()
        with suppress(BadFile):
            (read_lexicon if "." in name else read_vocabulary)(tmp_path / name)
        assert time.process_time() - begun < 2, name
