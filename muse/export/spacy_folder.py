"""SpaCy folders: the words of each language as the vectors of a blank pipeline, for spacy.load.

spaCy's tokenizer of the language is used if spaCy knows its ISO code, else `xx`, for any language.
"""

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.export.vector_files import WrittenFile
from muse.files.atomic import atomic_folder, writing
from muse.files.space_folder import folder_name
from muse.files.vectors.spacy import SETTINGS, VOCAB
from muse.files.writing import check_folder_place
from muse.optional import library
from muse.space import Space
from muse.space.saving import check_not_an_input

log = logging.getLogger(__name__)

OURS = {VOCAB, "config.cfg", "meta.json", "tokenizer"}
ANY = "xx"
_CODE = re.compile("[a-z]{2,3}")


@dataclass(frozen=True, kw_only=True)
class SpacyWritten(WrittenFile):
    """A written folder, and the code of its pipeline."""

    pipeline: str


def export_spacy(
    space: Space, out: Path, *, language: str | None = None, max_vocab: int | None = None
) -> list[SpacyWritten]:
    """The folders for spacy.load, each written atomically, with the words and rows (n, d) of the space.

    `out` becomes the folder of `language`, or else has a folder in it for every language.
    """
    library("spacy", "spaCy's format", "spacy")
    from spacy.attrs import LOWER
    from spacy.vectors import Vectors as Library

    if language is not None:
        space.side(language)
    places = {language: out} if language else {name: out / folder_name(name) for name in space.languages}
    for place in places.values():
        check_folder_place(place, OURS)
    check_not_an_input(space.manifest, places.values())
    written = []
    for name, place in places.items():
        vectors = space.vectors(name).most_frequent(max_vocab)
        kept = vectors
        if "" in vectors.words:  # the empty word, whose hash is no key; else no copy: it stays memory-mapped
            kept = vectors.chosen(np.array([row for row, word in enumerate(vectors.words) if word], int))
        if not len(kept):
            raise Mismatch(f"{place}: expected words of {name}, got none; choose another --lang")
        others = ", ".join(other for other in space.languages if other != name)
        nlp = _blank(name)
        nlp.meta["description"] = f"Word vectors of {name}, in one space with {others}"
        for word in kept.words:
            nlp.vocab.strings.add(word)
        nlp.vocab.vectors = Library(strings=nlp.vocab.strings, data=kept.matrix, keys=kept.words, name=name)
        with writing(place), atomic_folder(place.resolve()) as partial:
            nlp.to_disk(partial)
            if all(word == word.lower() for word in kept.words):
                # Capitalised tokens then find them; spaCy heeds this setting, but does not write it.
                settings = partial / VOCAB / SETTINGS
                found = json.loads(settings.read_text(encoding="utf-8"))
                settings.write_text(json.dumps(found | {"attr": LOWER}), encoding="utf-8")
        lost = len(vectors) - len(kept)
        written.append(SpacyWritten(place, name, len(kept), lost, pipeline=nlp.lang))
    return written


def _blank(language: str) -> Any:
    import spacy

    if _CODE.fullmatch(language):
        try:
            return spacy.blank(language)
        except ImportError as error:  # an unknown code, or a tokenizer that needs another package
            reason = str(error).partition("\n")[0]
            log.info("%s: the tokenizer is that of %s, any language: %s", language, ANY, reason)
    return spacy.blank(ANY)
