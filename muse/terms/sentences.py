"""Sentences: where terms stand in the texts, as examples of their use."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from muse.errors import BadSetting
from muse.examples.index import Example, find_sentences, write_index
from muse.files.source import is_stream
from muse.files.text_slices import text_files
from muse.progress import Progress
from muse.vectors import Vectors

Find = Callable[[str], tuple[Example, ...]]
# What neither sheets nor XML can have, of the sentence or of the name of its file.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def check_texts(texts: Sequence[Sequence[Path]]) -> None:
    """Raise BadSetting for a text that can be read only once."""
    if streams := [file for files in texts for file in text_files(files) if is_stream(file)]:
        raise BadSetting(
            f"--examples needs texts that can be read twice, got the stream {streams[0]}; write it to a "
            "file, or give --examples 0"
        )


@contextmanager
def example_finders(
    texts: tuple[Sequence[Path], Sequence[Path]],
    sides: tuple[Vectors, Vectors],
    most: int,
    progress: Progress,
) -> Iterator[tuple[Find, Find]]:
    """What finds the `most` best sentences with a term, in the text of either language.

    Each text is indexed in a temporary folder.
    """
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("source", "target")]
        for path, files, vectors in zip(paths, texts, sides, strict=True):
            if most:
                write_index(path, files, vectors, progress=progress)

        def finder(path: Path, vectors: Vectors) -> Find:
            @cache
            def find(term: str) -> tuple[Example, ...]:
                return tuple(map(_writable, find_sentences(path, vectors, term, most))) if most else ()

            return find

        one, two = map(finder, paths, sides)
        yield one, two


def _writable(example: Example) -> Example:
    text, file = (_UNWRITABLE.sub("\ufffd", one) for one in (example.text, example.file))
    return example._replace(text=text, file=file)
