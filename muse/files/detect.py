"""Detect: what a file is, by one table, whoever asks for vectors, a dictionary or sentences.

A kind of file is recognised by its first bytes, by what an archive has in it, by its name or by what its
first block looks like, in the order of KINDS. Its `readers` are those who read it; who asks for something
else gets one error, with what makes the content readable. Of a compressed file the content counts, but for
kinds that are not read from their start: those are not packed again.
"""

import csv
import json
import re
import shlex
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import islice
from pathlib import Path

from muse.errors import BadFile, reworded
from muse.files.plain_text import BOM, marked_encoding
from muse.files.source import Source, first_bytes, is_stream, names_in, open_source

VECTORS, DICTIONARY, SENTENCES, TABLE = "vectors", "dictionary", "sentences", "table"
EXPECTED = {
    VECTORS: "word vectors (text, word2vec or fastText .bin, .npz, .npy, Parquet, ...)",
    DICTIONARY: "a dictionary (text, or a table such as CSV)",
    TABLE: "a table (CSV, TSV, Excel, JSON lines or Parquet)",
    SENTENCES: "sentences (text with one a line, or Parquet)",
}
SPACY_FILES = re.compile(r"(.*?)/?vocab/(vectors|key2row|strings\.json|vectors\.cfg)")
FASTTEXT = b"\xba\x16\x4f\x2f"
HEAD, LONG_HEAD = 1 << 16, 1 << 20  # bytes that are looked at; and of a CSV, whose rows are long
_SAVEZ = 'save np.savez("vectors.npz", words=..., matrix=...)'
_NEVER_LOADED = "it can run code and is never loaded; where you trust it"
_PYGLOSSARY = "convert it into lines with tabs: pyglossary {file} OUT.txt"


@dataclass(eq=False)
class Beginning:
    """The beginning of a file, of which as much is read as is asked for."""

    path: Path
    opened: ExitStack

    @cached_property
    def source(self) -> Source:
        """The content, unpacked; BadFile if it cannot be opened."""
        return self.opened.enter_context(open_source(self.path))

    @cached_property
    def raw(self) -> bytes:
        """The first bytes on the disk, none of a pipe or a folder."""
        return first_bytes(self.path, 512)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the content; those of a text without the mark of UTF-8."""
        return self.source.peek(HEAD).removeprefix(BOM)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not blank, without comments."""
        whole = self.head if len(self.head) < HEAD - len(BOM) else self.head.rpartition(b"\n")[0]
        lines = whole.decode(marked_encoding(self.head) or "utf-8", "replace").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]

    @cached_property
    def members(self) -> list[str]:
        """The names of the files in a .zip or .tar; none of another file, or of a broken one."""
        return names_in(self.path)

    @property
    def is_pipeline(self) -> bool:
        """Whether it is the folder of a spaCy pipeline, or an archive that may have one."""
        if self.path.is_dir():
            return any((one / "vocab").is_dir() for one in (self.path, *self.path.iterdir()))
        return any(map(SPACY_FILES.fullmatch, self.members))

    @property
    def is_binary(self) -> bool:
        """Whether it is no text in UTF-8."""
        text = self.head.decode(errors="replace")
        # The head may end inside a character.
        return "\0" in text or "\ufffd" in text[:-4]


@dataclass(frozen=True)
class Kind:
    """A kind of file: how it is recognised, who reads it, and for all others what makes it readable.

    It is recognised by the first bytes of its content, by the name of one of the files in a .zip, or by how
    it `looks`. One that is `whole` is recognised by its first bytes on the disk: it is not read from its
    start. Only those who ask for what is in `wanted` may take a file for one of this kind.
    """

    name: str
    noun: str
    readers: tuple[str, ...] = ()
    advice: str | Callable[[Beginning], str] = ""
    magic: tuple[bytes, ...] = ()
    inside: str = ""
    looks: Callable[[Beginning], object] | None = None
    whole: bool = False
    wanted: tuple[str, ...] = (VECTORS, DICTIONARY, SENTENCES, TABLE)

    def fits(self, file: Beginning) -> bool:
        """Whether a file is of this kind."""
        if self.magic and (file.raw if self.whole else file.head).startswith(self.magic):
            return True
        inside = file.members if self.inside and file.raw.startswith(b"PK") else ()
        if any(map(re.compile(self.inside).fullmatch, inside)):
            return True
        return self.looks is not None and bool(self.looks(file))


def detect(file: Beginning, wanted: str = VECTORS) -> Kind:
    """The kind of an open file; TEXT if it is no other of those that may be wanted."""
    return next((kind for kind in KINDS if wanted in kind.wanted and kind.fits(file)), TEXT)


def kind_of(path: Path | str, wanted: str = VECTORS) -> Kind:
    """The kind of a file or a folder, TEXT of a pipe, which is not looked at, and of what does not exist."""
    path = Path(path)
    if is_stream(path) or not path.exists():
        return TEXT
    with open_beginning(path) as file:
        return detect(file, wanted)


@contextmanager
def open_beginning(path: Path) -> Iterator[Beginning]:
    """A file to look at, and to read from its start in the block."""
    with ExitStack() as opened:
        yield Beginning(path, opened)


def readable_kind(file: Beginning, wanted: str) -> Kind:
    """The kind of an open file that is read as `wanted`; BadFile, with what makes it readable, of another."""
    kind = detect(file, wanted)
    if wanted in kind.readers:
        return kind
    raise refused(file, kind, wanted)


def refused(file: Beginning, kind: Kind, wanted: str) -> BadFile:
    """The error of a file of this kind, with what makes it readable as `wanted`."""
    advice = kind.advice if isinstance(kind.advice, str) else kind.advice(file)
    advice = advice or f"give it as {' or '.join(kind.readers)}, and here {EXPECTED[wanted]}"
    said = advice.replace("{file}", shlex.quote(file.path.name)).replace("{path}", repr(file.path.name))
    return BadFile(f"{file.path}: expected {EXPECTED[wanted]}, got {kind.noun}; {said}")


# What a first block looks like


def _matches(pattern: bytes) -> Callable[[Beginning], object]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda file: compiled.match(file.head)


def _named(ending: str) -> Callable[[Beginning], object]:
    return lambda file: file.is_binary and file.path.name.lower().removesuffix(".dz").endswith(ending)


def _folder_of(pattern: str) -> Callable[[Beginning], object]:
    return lambda file: file.path.is_dir() and next(file.path.glob(pattern), None)


def _all_lines(pattern: str) -> Callable[[Beginning], object]:
    compiled = re.compile(pattern)
    return lambda file: file.lines and all(map(compiled.match, file.lines))


def _are_numbered(file: Beginning) -> bool:
    """Whether each line is a number, one more than that of the line before, a tab and text."""
    found = [re.match(r"(\d{1,12})\t[^\t]+$", line) for line in file.lines]
    numbers = [int(one[1]) for one in found if one]
    return len(numbers) == len(found) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]


_MARKED = 0.25  # share of lines with the signs of a program


def _share(file: Beginning, sign: str) -> float:
    return sum(sign in line for line in file.lines) / max(1, len(file.lines))


_TAGGED, _FEWEST_TAGS = re.compile(r".{1,60}[_/|][A-Z][A-Z0-9$.:+=-]{0,20}"), 10


def _has_tags(file: Beginning) -> bool:
    """Whether nearly all words of the first lines have a tag behind them."""
    words = " ".join(file.lines[:CSV_SAMPLE]).split()
    return len(words) >= _FEWEST_TAGS and sum(map(bool, map(_TAGGED.fullmatch, words))) > 0.8 * len(words)


_KEYS = re.compile(
    rb'"(?:_?id|ids|custom_id|points|hits|rows|_source|_additional|predictions|vectors?|embeddings?)"\s*:',
    re.IGNORECASE,
)
_STRING, _LIST = r'"(?:[^"\\]|\\.)*"', r'"?\[\s*-?[\d.][^\[\]{}"]*\]?"?'
_PAIR, _TO_LIST = rf'\s*{_STRING}\s*:\s*(?:{_STRING}|[^\s"\[\]{{}},]+)\s*', rf"\s*{_STRING}\s*:\s*{_LIST}\s*"
_ROW = re.compile(rf"\{{(?:(?:{_PAIR},)+{_TO_LIST}|{_TO_LIST},{_PAIR})".encode())  # a value and a vector


def _is_store(file: Beginning) -> bool:
    start = file.head.lstrip().removeprefix(b"[").lstrip()  # lines of objects, or a list of them
    return start.startswith(b"{") and (_KEYS.search(start) or _ROW.match(start)) is not None


# Lists of numbers as JSON, numpy, Postgres and Python's tuples write them; some leave out the middle.
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_CELL = re.compile(
    rf"\s*(?:(?:array|(?:tf\.)?[tT]ensor)\(\s*)?[\[({{]{{1,2}}\s*({_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})+)\s*,?\s*"
    r"[\])}]{1,2}(?:\s*,\s*\w+=(?:\([\d, ]*\)|[^,()\[\]\s]+))*\)?\s*"
)
_SCALAR = re.compile(r"np\.float\d+\(([^()]*)\)")  # as numpy 2 writes those of a list
_TIGHT, _APART = re.compile(r"\d,\d"), re.compile(r"\d,?\s+[-+]?\d")  # both in 0,1 0,2, two numbers
_CUT = re.compile(r"\s*[\[(]\s*[-+.\d][-+\d.eE,\s]*\s(?:\.\.\.|…)[-+\d.eE,\s]*[\])]\s*")
_ALMOST = re.compile(r"(?is)\s*(?:\w[\w.]*\()?[\[({]+\s*(?:[-+.\d]|nan|inf|n?one|null).*[\s,;].*[\])}]\s*")
SPARSE_CELL = re.compile(r"\{(?:[0-9]+:[^{}]*)?\}/[0-9]+")
INTEGER = re.compile(r"-?[1-9][0-9]{0,18}|0")
NULLS = ("", "\\N", "NULL")
CSV_SAMPLE = 100  # rows that tell the columns of vectors
_MAY_BE_CSV = re.compile(
    rb"(?:^|[\",;:=\s(])[\[{(]{1,2}\s*(?:np\.float|[-+]?[0-9.])"
    rb"|\A(?:(?=[^\n]*[,;\t])[^\n]*\n[^\n]*?[,;\t]|[A-Za-z_]\w*\r?\n)"  # a bare list
    rb"\"?\s*[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?[ ,]"
)
_BEFORE_LIST = re.compile(
    r"^(?!\{\")\s*[({]?(['\"]?)(\S[^\[({]*?)\1[\s:=,;]{1,9}(?=(?:(?:array|tensor)\()?[\[({])"
)
_AFTER_LIST = re.compile(r"(?<=[\])}])[,;)}\s]{0,9}$")
_COUNTS = re.compile(r"\d+ \d+\s*")


@dataclass(frozen=True)
class CsvForm:
    """What separates the columns, their names, which of them have vectors, and whether line 1 is a header.

    The lists of vectors have brackets unless they are `bare`.
    """

    delimiter: str
    names: tuple[str, ...]
    vectors: tuple[str, ...]
    header: bool
    bare: bool = False


def csv_form(source: Source) -> CsvForm | None:
    """How a CSV that has a column of vectors such as [0.1,0.2] is laid out; None for another text."""
    if not _MAY_BE_CSV.search(source.peek(HEAD)):
        return None
    head = source.peek(LONG_HEAD)
    text = head.removeprefix(BOM).decode(errors="replace")
    texts = {**dict.fromkeys(",;\t", text), " ": "\n".join(bracketed(text.splitlines()))}
    fault = None
    for delimiter, one in texts.items():
        try:
            if (form := _form(one, delimiter, whole=len(head) < LONG_HEAD)) is not None:
                return form
        except BadFile as error:
            fault = reworded(error, f"{source.path}: {error}")
    if fault is not None:
        raise fault
    return None


def _form(text: str, delimiter: str, *, whole: bool) -> CsvForm | None:
    try:
        reader = csv.reader(StringIO(text), delimiter=delimiter.replace(" ", "\t"))
        records = [record for record in islice(reader, CSV_SAMPLE) if record]
    except csv.Error:
        return None
    if len(records) < CSV_SAMPLE and not whole:
        records.pop()  # cut off
    if not records or len({len(one) for one in records}) > 1:
        return None
    first = records[0]
    values = [
        _is_vector(cell) or _is_bare(cell) or bool(first[0] and INTEGER.fullmatch(cell)) for cell in first
    ]
    # An index has no name, and that of its column may be a number then.
    header = len(set(first)) == len(first) and not any(values) and not {*NULLS} & {*first[not first[0] :]}
    names = tuple(first) if header else tuple(f"column{place}" for place in range(1, len(first) + 1))
    columns = zip(names, zip(*records[header:], strict=True), strict=False)
    known = {name: [cell for cell in cells if cell not in NULLS] for name, cells in columns}
    if cut := next((cell for cells in known.values() for cell in cells if _CUT.fullmatch(cell)), None):
        raise BadFile(
            "expected vectors with all their numbers, got some that were left out where they were written "
            f"({' '.join(cut.split())[:60]!r}); write them as lists: vector.tolist()"
        )
    found = tuple(name for name, cells in known.items() if cells and all(map(_is_vector, cells)))
    lists = tuple(name for name, cells in known.items() if cells and all(map(_is_bare, cells)))
    sign = delimiter.replace(" ", "\t")
    apart = header or sign != "\t" if len(names) > 1 else header and names[0].isidentifier()
    if not found and lists and (apart or all(sign in cell for name in lists for cell in known[name])):
        return CsvForm(delimiter, names, lists, header, bare=True)
    almost = (cells for cells in known.values() if header and cells and all(map(_ALMOST.fullmatch, cells)))
    if not found and (odd := next((one for cells in almost for one in cells if not _is_vector(one)), None)):
        raise BadFile(f"expected vectors such as [0.1,0.2], got {odd[:60]!r}; write them as vector.tolist()")
    return CsvForm(delimiter, names, found, header) if found else None


def bracketed(lines: Iterable[str]) -> Iterator[str]:
    r"""Lines with a word and its list, maybe over several lines, as CSV has them: a tab between, and quoted.

    >>> list(bracketed(["2 3", "a b [1 2", " 3]", "c: (4, 5, 6),"]))
    ['', 'a b\t"[1 2', ' 3]"', 'c\t"(4, 5, 6)"']
    """
    for number, line in enumerate(lines):
        begun = _BEFORE_LIST.sub(r'\2\t"', line, count=1)
        yield "" if not number and _COUNTS.fullmatch(line) else _AFTER_LIST.sub('"', begun, count=1)


def _is_vector(cell: str) -> bool:
    return list_in_text(cell) is not None or SPARSE_CELL.fullmatch(cell) is not None


def _is_bare(cell: str) -> bool:
    return len(list_in_text(f"[{cell}]") or ()) > 2


def list_in_text(cell: str) -> list[float] | None:
    r"""The numbers of a list that is written as text; None for another text.

    >>> list_in_text("[0.1 0.2\n 3.]"), list_in_text("{0.1,1e-3}"), list_in_text("[0.1, ...]")
    ([0.1, 0.2, 3.0], [0.1, 0.001], None)
    """
    found = _CELL.fullmatch(_SCALAR.sub(r"\1", cell) if "np.float" in cell else cell)
    if found is None or ("." not in found[1] and _TIGHT.search(found[1]) and _APART.search(found[1])):
        return None
    return [float(one) for one in found[1].replace(",", " ").split()]


# A line "n d": eighteen digits fit in 64 bits, and int() refuses to read several thousand.
HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t\r]*")
_NO_TEXT = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1c\x1d\x1e\x1f")


def _is_word2vec(file: Beginning) -> bool:
    """Whether the content after a line "n d" is binary rather than text."""
    first, _, body = file.head.partition(b"\n")
    header = HEADER.fullmatch(first)
    if header is None:
        return False
    # Random bytes may contain one number by chance, but hardly two in a row.
    rows = [line.split() for line in body.split(b"\n")[:5]]
    if any(len(row) > 1 and all(map(is_number, row[-min(int(header[2]), 2) :])) for row in rows):
        return False
    if not _NO_TEXT.isdisjoint(body):
        return True
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return error.end < len(body)  # at the very end, only the head cut a character in two
    return False


def is_number(field: bytes) -> bool:
    """Whether a field is a number, finite or not."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field  # float() would take 1_000


_OF_GENSIM = re.compile(rb"(gensim\.[\w.]+)(?:\n|\x94?\x8c.)([A-Za-z]\w+)", re.DOTALL)


def _gensim_command(file: Beginning) -> str:
    # A keyed vectors' file of any gensim; that of a whole model has them as its attribute wv.
    found = _OF_GENSIM.search(file.head)
    kind = "" if found is None else found[2].decode()
    loaded, kind = ("", "KeyedVectors") if "Vectors" in kind else (".wv", kind)
    source, target = json.dumps(str(file.path)), json.dumps(str(file.path.with_suffix(".bin")))
    command = (
        f"from gensim.models import {kind}; "
        f"{kind}.load({source}){loaded}.save_word2vec_format({target}, binary=True)"
    )
    return f"{_NEVER_LOADED}, convert it: python -c {shlex.quote(command)}"


_PICKLE = rb"\x80[\x02-\x05]|c[A-Za-z_][\w.]*\n[A-Za-z_]\w*\n|\(i[\w.]+\n\w+\n|\([dl]p\d+\n|[}\])(]q[\0-\x05]"
_LAST_NUMBER = rb"(?![^\n]*\s[-+.\d]+(?:[eE][-+]?\d+)?\s*(?:\n|\Z))"  # not as a line of vectors ends
_GETTEXT = _matches(rb'(?:[^\n]*\n)??msgid\s+"')
_XML = _LAST_NUMBER + rb"\0*[\xef\xbb\xbf\xff\xfe\0 \t\r\n]*<\0?(?:\?\0?x\0?m\0?l|T\0?E\0?I[\s\0>.]"
_XML += rb"|t\0?[mb]\0?x[\s\0>]|m\0?a\0?r\0?t\0?i\0?f[\s\0>]|!\0?D\0?O\0?C\0?T|h\0?t\0?m\0?l[\s\0>])"

_ZARR = "np.save('vectors.npy', zarr.open({path})[:]); of a group, zarr.open({path}, path='NAME')[:]"


def _qdrant_command(file: Beginning) -> str:
    # Before an apostrophe in the path of the folder the shell would end the command.
    name = next(file.path.glob("collection/*/storage.sqlite")).parent.name
    command = (
        "from qdrant_client import QdrantClient as Q; print(*(p.model_dump_json() for p in "
        f"Q(path={json.dumps(str(file.path))}).scroll({json.dumps(name)}, limit=10**9, "
        "with_vectors=True)[0]), sep='\\n')"
    )
    return f"write its points as JSON lines: python -c {shlex.quote(command)} > OUT.jsonl"


def _hnswlib_size(file: Beginning) -> int:
    """The numbers of a vector in an index of hnswlib, 0 of another file."""
    if len(file.raw) < 96 or any(file.raw[:8]):
        return 0
    _, _, row, label, data = struct.unpack_from("<5Q", file.raw, 8)
    return int(label - data) // 4 if label + 8 == row > data else 0


def _is_usearch(file: Beginning) -> bool:
    # Its mark stands behind the vectors.
    rows, size = struct.unpack("<II", file.raw[:8]) if len(file.raw) > 8 else (0, 0)
    if is_stream(file.path) or not 0 < rows * size < file.path.stat().st_size:
        return False
    with file.path.open("rb") as opened:
        opened.seek(8 + rows * size)
        return opened.read(7) == b"usearch"


_MODELS = ("modules.json", "tokenizer.json", "wordembedding_config.json")  # in the folder of one
TEXT = Kind("text", "text", (VECTORS, DICTIONARY, SENTENCES, TABLE))
KINDS = (
    # Folders, and files that are not read from their start.
    Kind("spacy", "a spaCy pipeline", (VECTORS,), wanted=(VECTORS,), looks=lambda file: file.is_pipeline),
    Kind("static", "the folder of a model", (VECTORS,),
         looks=lambda file: any((file.path / name).is_file() for name in _MODELS)),
    *(Kind(name, noun, (), advice, looks=_folder_of(pattern)) for name, noun, pattern, advice in (
        ("vdf", "a dataset of vector-io", "VDF_META.json", "give one of its Parquet files"),
        ("delta", "a table of Delta Lake", "_delta_log",
         "write deltalake.DeltaTable({path}).to_pandas() as Parquet"),
        ("iceberg", "a table of Iceberg", "metadata/*.metadata.json",
         "write pyiceberg.table.StaticTable.from_metadata(...).scan().to_pandas() as Parquet"),
        ("hudi", "a table of Hudi", ".hoodie", "write spark.read.format('hudi').load({path}) as Parquet"),
        ("lance", "a table of Lance", "_versions", "write lance.dataset({path}).to_table() as Parquet"),
        ("lancedb", "a database of LanceDB", "*.lance", "write table.to_pandas() of one of them as Parquet"),
        ("datasets", "a dataset of Hugging Face", "**/*.arrow",
         "convert it: datasets.load_from_disk({path}).to_parquet('vectors.parquet')"),
        ("chroma", "a database of Chroma", "chroma.sqlite3",
         "write ids and embeddings.tolist() of collection.get(include=['embeddings']) as JSON"),
        ("zarr", "arrays of Zarr", "zarr.json", _ZARR),
        ("zarr 2", "arrays of Zarr", ".z*", _ZARR),
        ("qdrant", "a local database of Qdrant", "collection/*/storage.sqlite", _qdrant_command),
        ("tensorflow", "a model of TensorFlow", "saved_model.pb", f"load it there and {_SAVEZ}"),
    )),
    Kind("parts", "a folder of Parquet files, as Spark writes", (VECTORS,),
         "join them: import pandas; pandas.read_parquet({path}).to_parquet('all.parquet')",
         looks=_folder_of("**/*.parquet")),
    Kind("parquet", "a Parquet file", (VECTORS, SENTENCES, DICTIONARY, TABLE), "save its columns as CSV",
         (b"PAR1",), whole=True,
         looks=lambda file: file.path.suffix == ".parquet"),
    Kind("npy", "an array of numpy", (VECTORS,), magic=(b"\x93NUMPY",), whole=True),
    Kind("faiss", "a faiss index", (VECTORS,),  # its mark, then d, whose last byte is 0
         looks=lambda file: re.match(rb"I[A-Za-z0-9]{3}...\0", file.raw, re.DOTALL)),
    Kind("hnswlib", "an index of hnswlib", (), lambda file: f"write its vectors: i = hnswlib.Index('l2', "
         f"{_hnswlib_size(file)}); i.load_index({file.path.name!r}); k = i.get_ids_list(); np.savez("
         "'vectors.npz', words=[*map(str, k)], matrix=i.get_items(k))", looks=_hnswlib_size),
    Kind("usearch", "an index of USearch", (), "write its vectors: i = usearch.index.Index.restore({path}); "
         "k = i.keys[:]; np.savez('vectors.npz', words=[*map(str, k)], matrix=i.get(k))", looks=_is_usearch),
    Kind("safetensors", "a safetensors file", (VECTORS,),
         looks=lambda file: file.path.suffix == ".safetensors"),
    Kind("npz", "an archive of numpy", (VECTORS,), inside=r".*\.npy"),
    Kind("torch", "a file of torch.save", (VECTORS,), inside=r"(?:.*/)?data\.pkl"),
    Kind("xlsx", "an Excel workbook", (DICTIONARY, TABLE), "save it as CSV UTF-8",
         inside=r"xl/workbook\.xml"),
    Kind("opendocument", "OpenDocument, as LibreOffice writes", (),
         "save it as CSV or .xlsx, or run soffice --headless --convert-to csv {file}",
         looks=lambda file: file.raw[:2] == b"PK" and b"application/vnd.oasis.opendocument" in file.raw),
    # What is read from its start, and what is not read, as the first bytes tell.
    Kind("snapshot", "a snapshot of Qdrant", (), "restore it, and write its points as JSON lines",
         looks=lambda file: file.path.suffix == ".snapshot", wanted=(VECTORS,)),
    Kind("empty", "an empty archive", (), "download it again", looks=lambda file: not file.head),
    Kind("fasttext", "a fastText model", (VECTORS,), magic=(FASTTEXT,)),
    Kind("old torch", "a pickle of a PyTorch before 1.6", (),
         f"{_NEVER_LOADED}, load it with torch.load and {_SAVEZ}",
         magic=(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",)),
    Kind("gensim", "a pickle of gensim", (), _gensim_command,
         looks=lambda file: re.match(_PICKLE, file.head) and _OF_GENSIM.search(file.head)),
    Kind("pickle", "a Python pickle", (), f"{_NEVER_LOADED}, load it in Python and {_SAVEZ}",
         looks=_matches(_PICKLE)),
    Kind("hdf5", "HDF5", (), f"read it with pandas or h5py and {_SAVEZ}", (b"\x89HDF\r\n\x1a\n",)),
    Kind("sqlite", "an SQLite database, as Magnitude's are", (),
         f"export its table as CSV or, of vectors, read it with its own program and {_SAVEZ}",
         (b"SQLite format 3\0",)),
    Kind("arrow", "Arrow (Feather)", (),
         'convert it: pandas.read_feather(...).to_parquet("vectors.parquet")', (b"ARROW1",)),
    Kind("arrow stream", "a stream of Arrow, as datasets has it", (), "write pyarrow.ipc.open_stream({path})"
         ".read_all() as Parquet: pyarrow.parquet.write_table", (b"\xff\xff\xff\xff",)),
    Kind("pgcopy", "a binary dump of PostgreSQL", (), "write it again: COPY ... TO 'vectors.csv' CSV HEADER",
         (b"PGCOPY\n\xff\r\n\0",)),
    Kind("avro", "Avro", (), "convert it: polars.read_avro({path}).write_parquet('vectors.parquet')",
         (b"Obj\x01",)),
    Kind("gguf", "a model in GGUF", (), f"take its table of words out with gguf.GGUFReader and {_SAVEZ}",
         (b"GGUF",)),
    Kind("mat", "a MAT-file of MATLAB", (), f"read it with scipy.io.loadmat and {_SAVEZ}",
         (b"MATLAB 5.0 MAT-file",)),
    Kind("duckdb", "a database of DuckDB", (), "export its table: COPY t TO 'vectors.parquet'",
         looks=lambda file: file.head[8:12] == b"DUCK"),
    *(Kind(name, noun, (), advice, looks=_named(f".{name}"), wanted=(VECTORS,)) for name, noun, advice in (
        ("onnx", "a model in ONNX", f"run it on your words and {_SAVEZ}"),
        ("ann", "an index of Annoy", "np.save('vectors.npy', [index.get_item_vector(i) for i in "
         "range(index.get_n_items())])"),
        ("tfrecord", "records of TensorFlow", f"read them there and {_SAVEZ}"),
        ("fvecs", "vectors with a length before each", "read them: a = np.fromfile({path}, '<i4'); "
         "np.save('vectors.npy', a.reshape(-1, a[0] + 1)[:, 1:].copy().view('<f4'))"),
        ("fbin", "vectors behind two numbers", "read them: n, d = np.fromfile({path}, '<i4', 2); "
         "np.save('vectors.npy', np.fromfile({path}, '<f4', offset=8).reshape(n, d))"),
    )),
    Kind("pdf", "a PDF file", (), "copy its words into a table", (b"%PDF",)),
    Kind("xls", "an old Excel workbook", (), "save it as .xlsx or as CSV UTF-8",
         (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",)),
    Kind("lfs", "a pointer of Git LFS", (), "get the file itself: git lfs pull", (b"version https://git-lfs",)),
    # Dictionaries that pyglossary converts, by their names.
    *(Kind(name, f"the format of {of}", (), _PYGLOSSARY, looks=_named(f".{name}"), wanted=(DICTIONARY,))
      for name, of in (("bgl", "Babylon"), ("mdx", "MDict"), ("slob", "Aard 2"))),
    Kind("dsl", "the format of ABBYY Lingvo", (), _PYGLOSSARY, wanted=(DICTIONARY,),
         looks=lambda file: file.path.name.lower().removesuffix(".dz").endswith(".dsl")
         and (file.is_binary or re.search(rb"\A#NAME|\n[\t ]", file.head))),
    # Texts.
    Kind("store", "JSON lines of a vector store", (VECTORS,), looks=_is_store, wanted=(VECTORS,)),
    Kind("csv", "CSV of a vector store", (VECTORS,), looks=lambda file: csv_form(file.source),
         wanted=(VECTORS,)),
    Kind("sparse", "sparse vectors, place:number", (), "write all numbers of each word: reduce the matrix by "
         f"sklearn.decomposition.TruncatedSVD(300).fit_transform, and {_SAVEZ}", wanted=(VECTORS,),
         looks=lambda file: b":" in file.head
         and _all_lines(r"\d+ \d+\s*$|[^\s,]+(?:[ \t,]+\d+:[-+.\deE]+)+\s*$")(file)),
    Kind("json", "JSON, or what Python prints", (), "read it with json.load or ast.literal_eval and "
         f"{_SAVEZ}, or np.save of rows alone",
         looks=_matches(rb"\s*(?:\{\s*[\"']|\[\s*[\[{(\"'])"), wanted=(VECTORS,)),
    Kind("psql", "a table as psql and mysql print it", (), "write it with \\copy (SELECT ...) TO "
         "'vectors.csv' CSV HEADER", looks=_matches(rb"\+-+\+|[^\n|]* \|[^\n]*\n-+\+-"), wanted=(VECTORS,)),
    # Corpora, whose signs would be words: some are read, and a command extracts the text of all.
    *(Kind(name, noun, (SENTENCES,) if read else (), f"extract the text: {advice} > OUT.txt", looks=looks,
           wanted=(SENTENCES, *[TABLE] * (name == "tmx"))) for name, noun, read, advice, looks in (
        ("tmx", "a translation memory (TMX)", True,
         r"""sed -n '/lang="fr/s/.*<seg>\(.*\)<\/seg>.*/\1/p' {file}""",
         lambda file: b"<tmx" in file.head[:4096]),
        ("wikiextractor", "what wikiextractor writes", True, r"grep -v '^</\?doc' {file}",
         _matches(rb"\s*<doc\b[^<>\n]*>")),
        ("subtitles", "subtitles (SRT, WebVTT)", True,
         "grep -vE '^[0-9]*\\s*$|-->|^WEBVTT' {file} | sed 's/<[^>]*>//g'",
         _matches(rb"\s*(?:WEBVTT|(?:\d+\s*\n)?\s*\d[\d:.,]+ --> \d)")),
        ("conllu", "CoNLL-U", True, "sed -n 's/^# text = //p' {file}",
         _all_lines(r"\d[\d.-]*(?:\t[^\t]+){9}$")),
        ("jsonl", "JSON lines", True, "jq -r .text {file}", _all_lines(r'\{\s*".*\}\s*$')),
        ("labels", "text with labels of fastText", True, r"sed -E 's/__label__\S+ *//g' {file}",
         _all_lines(r"__label__\S+ ")),
        ("bpe", "text cut into pieces by subword-nmt (@@)", True, "sed 's/@@ //g' {file}",
         lambda file: _share(file, "@@ ") > _MARKED),
        ("sentencepiece", "text cut into pieces by SentencePiece", True, "sed 's/ //g; s/▁/ /g' {file}",
         lambda file: _share(file, "▁") > 2 * _MARKED),
        ("vertical", "vertical text, with a word a line", False,
         r"""awk -F'\t' '/^<\/s>/ {print s; s = ""} !/^</ {s = s $1 " "}' {file}""",
         lambda file: 0 < _share(file, "<") < 1 and _all_lines(r"</?\w[^<]*>\s*$|\S+(?:\t\S+)+\s*$")(file)),
        ("ass", "subtitles (ASS)", False,
         r"sed -nE 's/^Dialogue: ([^,]*,){9}//p' {file} | sed 's/{[^}]*}//g; s/\\N/ /g'",
         _matches(rb"\s*\[Script Info\]")),
        ("sbv", "subtitles (SBV)", False, "grep -vE '^[0-9:.,]*$' {file}",
         _matches(rb"\s*\d+:\d\d:\d\d\.\d+,\d+:\d\d:\d\d\.\d+\s")),
        ("microdvd", "subtitles (MicroDVD)", False, "sed 's/{[^}]*}//g; s/|/ /g' {file}",
         _all_lines(r"\{\d+\}\{\d+\}")),
        ("json list", "a list in JSON", False, "jq -r '.[] | .text? // .' {file}",
         _matches(rb'\s*\[\s*(?:\{\s*"|"[^"\n]*"\s*[,\]])')),
        ("named columns", "a table with a column of text", False, "python -c \"import pandas; t = pandas."
         "read_csv({path}, sep=None, engine='python'); print(*t.filter(regex='^(text|sentence|content)$')"
         ".iloc[:, 0], sep='\\n')\"",
         _matches(rb'(?=[^\n]*[,;\t])(?:[^\n]*[,;\t])?"?(?:text|sentence|content)"?[,;\t\r\n]')),
        ("numbered", "numbered lines, as of Leipzig's corpora", True, "cut -f2 {file}",
         lambda file: ".tsv" not in file.path.suffixes and _are_numbered(file)),
        ("dated", "lines with dates, as of chats and logs", False,
         r"sed -E 's/^\[?[0-9/.,: T-]*\]? *//' {file}",
         _all_lines(r"\[?\d{1,4}[./-]\d\d?[./-]\d{2,4}(?:,? |T)\d\d?:\d\d")),
        ("tagged", "words with tags, as word_NN or word/NN", False,
         r"sed -E 's/[_/|][^ ]*( |$)/\1/g' {file}", _has_tags),
        ("entities", "words with labels of entities, one a line", False,
         """awk 'NF {s = s $1 " "} !NF {print s; s = ""} END {print s}' {file}""",
         _all_lines(r"(?=.*\s(?:O|[BIES]-\w+)\s*$)\S+\s")),
        ("trees", "trees of phrases", False, r"sed -E 's/\([^ ()]* *//g; s/\)//g' {file}",
         _matches(rb"\s*\(\s*(?:[A-Z][A-Z0-9]*)?\s*\(\s*[A-Z][A-Z0-9-]*\s*[(\w]")),
        ("wikitext", "pages of a wiki", False, "pandoc -f mediawiki -t plain --wrap=none {file}",
         lambda file: _share(file, "]]") > _MARKED and _share(file, "[`") < _MARKED),
        ("rtf", "a document (RTF)", False, "pandoc -f rtf -t plain --wrap=none {file}",
         _matches(rb"\{\\rtf")),
        ("po", "messages of gettext", False, r"""sed -nE 's/^msgstr(\[[0-9]\])? "(.+)"$/\2/p' {file}""",
         _GETTEXT),
        ("lrc", "lyrics (LRC)", False, r"sed 's/\[[^]]*\]//g' {file}", _all_lines(r"\[\w+:[^\]]*\]")),
        ("html", "a web page", False, "w3m -dump -T text/html {file}",
         _matches(rb"\s*<(?:!doctype html|html|head|body)\b")),
        ("xliff", "XLIFF", False, r"sed -n 's/.*<target[^>]*>\(.*\)<\/target>.*/\1/p' {file}",
         lambda file: b"<xliff" in file.head[:4096]),
        ("opus", "XML, as of OPUS", False, "sed 's/<[^>]*>//g' {file}",
         lambda file: _share(file, "<") > 3 * _MARKED and _all_lines(r"\s*<[/?!\w][^<]*>")(file)),
    )),
    Kind("xml", "XML or a web page, perhaps of an error", (DICTIONARY,), "download the file again",
         looks=_matches(_XML)),
    Kind("utf-16", "UTF-16", (DICTIONARY, SENTENCES, TABLE), "convert it with iconv -f UTF-16 -t UTF-8",
         looks=lambda file: marked_encoding(file.head)),
    Kind("table", "a dictionary or another table of muse", (DICTIONARY,),
         "give it as --dictionary, and vectors here", (b"source\ttarget\t",), wanted=(VECTORS,)),
    Kind("sql", "a dump of a database, as SQL", (), "load it into one and write its table as CSV, as SQLite "
         "does: sqlite3 x.db < {file}; sqlite3 -csv -header x.db 'SELECT * FROM NAME' > OUT.csv",
         looks=_matches(rb"\s*(?:--[^\n]*\n\s*)*(?:INSERT INTO|CREATE TABLE|DROP TABLE|BEGIN)\b")),
    Kind("cldf", "words of several languages, one a row, as CLDF has them", (), "join two: python -c \""
         "import pandas; t = pandas.read_csv({path}).groupby('Language_ID'); t.get_group('fra').merge("
         "t.get_group('eng'), on='Parameter_ID')[['Form_x', 'Form_y']].to_csv('OUT.tsv', sep='\\t', "
         "index=False, header=['source', 'target'])\"", wanted=(DICTIONARY,),
         looks=_matches(rb"(?=[^\n]*\bLanguage_ID\b)(?=[^\n]*\bParameter_ID\b)(?=[^\n]*\bForm\b)")),
    Kind("gls", "the source of a dictionary for Babylon", (), "put its words on one line: awk -v RS= -F'\\n' "
         r"""'!/^#/ {split($1, w, "|"); print w[1] "\t" $2}' {file} > OUT.tsv""", wanted=(DICTIONARY,),
         looks=lambda file: file.path.suffix == ".gls"
         or re.match(rb"\s*#(?:(?:stripmethod|sametypesequence|bookname)=|## Glossary)", file.head)),
    Kind("gettext", "a catalogue of gettext", (), "convert it: po2csv {file} OUT.csv",
         wanted=(DICTIONARY, TABLE), looks=_GETTEXT),
    Kind("cedict", "CC-CEDICT or EDICT", (), _PYGLOSSARY, wanted=(DICTIONARY,),
         looks=_all_lines(r"\S+ (?:\S+ )?\[[^\]]*\] /.*/ *\r?$")),
    Kind("moses", "a phrase table of Moses", (), "give lex.f2e, which lies beside it", wanted=(DICTIONARY,),
         looks=_all_lines(r".* \|\|\| .* \|\|\| ")),
    Kind("word2vec", "word2vec binary", (VECTORS,), looks=_is_word2vec, wanted=(VECTORS,)),
    Kind("raw", "bytes that are no text, perhaps bare numbers", (), "read them: np.save('vectors.npy', "
         "np.fromfile({path}, '<f4').reshape(-1, d)); of GloVe, give vectors.txt", wanted=(VECTORS,),
         looks=lambda file: file.is_binary and not _NO_TEXT.isdisjoint(file.head[:512])
         and "\ufffd" in file.head[:512].decode(errors="replace")[:-4]),
)  # fmt: skip
