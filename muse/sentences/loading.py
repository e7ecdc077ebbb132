"""Loading: a sentence encoder by its name, unfitted, or by its folder, as it was saved.

A name is a kind with options in brackets, then corrections; several stand side by side:

mean   idf   sif   power-mean[-inf,1,inf,3]   idf+pcr   power-mean+znorm[global]   mean+ngrams
power-mean&./projection+znorm   ./bgt+language
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from muse.errors import BadFile, BadSetting, did_you_mean
from muse.files.source import DAMAGED
from muse.progress import Progress
from muse.sentences.encoders.composed import (
    CONCATENATED,
    CORRECTED,
    OLD_ROTATED,
    ROTATED,
    SIF,
    Concatenated,
    Corrected,
    restored_moments,
    restored_rotated,
)
from muse.sentences.encoders.corrections import OPTIONS, Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.pooling import parsed_power
from muse.sentences.encoders.saving import AGAIN, Saved, check_space, read_encoder
from muse.sentences.encoders.trained import KIND as TRAINED
from muse.sentences.encoders.trained import restore_trained
from muse.sentences.encoders.words import DEFAULT_POWERS, Lookup, PowerMean, WeightedMean
from muse.sentences.systems.bgt.bgt_system import LANGUAGE, language_latents
from muse.sentences.systems.network_encoder import KIND as NETWORK
from muse.sentences.systems.registry import SYSTEMS, restore_system
from muse.space import Space

BESIDE = "&"
NGRAMS = "ngrams"
_ONE = re.compile(r"([a-z][a-z-]*)(?:\[([^][]*)\])?")
_NAME = re.compile(r"(?:\+?[a-z][a-z-]*(?:\[[^][]*\])?)+")
_CORRECTIONS = re.compile(rf"(?:\+(?:{'|'.join(OPTIONS)})(?:\[[^][]*\])?)+$")
# From a lookup and the options in brackets; from the saved settings, a space and the restored parts.
Make = Callable[[Lookup, str], SentenceEncoder]
Restore = Callable[[Saved, Space, Sequence[SentenceEncoder]], SentenceEncoder]


def load_encoder(
    name: str | Path, space: Space, *more: Space, progress: Progress | None = None
) -> SentenceEncoder:
    """The unfitted encoder of that name, or the one saved in that folder, for a space.

    A name takes precedence over a folder of the same name: ./mean is the folder. Corrections may follow
    either, as in power-mean+znorm. With & several are put side by side, and are then corrected together:
    power-mean&./projection+znorm. The language latents of a saved bgt are FOLDER+language. One encoder reads
    each of the spaces, several encoders read one space together or a space each.

    Raise BadSetting for an unknown name, and Mismatch for an encoder that was saved for another space.
    """
    spaces = (space, *more)
    for one in spaces:
        if not any(one.vectors(language).frequency_ordered for language in one.languages):
            raise BadSetting(
                "sentences are encoded by the words of a space, got unlabelled vectors; take a space of words"
            )
    if isinstance(name, Path) or _is_folder(name):
        return _restored(Path(name), spaces)
    texts = side_by_side(name)
    if len(texts) > 1:
        return _beside(texts, spaces, progress)
    folder, of_language = _folder_of(name)
    if _is_name(name) or ("/" not in name and not (folder and Path(folder).exists())):
        return _made(name, spaces, progress)
    encoder = _restored(Path(folder), spaces)
    return _corrected(language_latents(encoder) if of_language else encoder, corrections_of(name)[1])


def saved_in(name: Path | str) -> list[Path]:
    """The folders of the saved encoders in a name for load_encoder; none if it has only names of encoders.

    Raise BadSetting for a name that ends with & or begins with it.
    """
    if isinstance(name, Path) or _is_folder(name):
        return [Path(name)]
    texts = [text for text in side_by_side(name) if not _is_name(text)]
    return [Path(_folder_of(text)[0]) for text in texts]


def _is_folder(name: str) -> bool:
    """Whether the whole name is a file or folder, and not the name of an encoder."""
    return bool(name) and Path(name).exists() and not _is_name(name)


def _is_name(name: str) -> bool:
    return is_name(name) and parsed(name)[0][0] in MAKERS


def _folder_of(name: str) -> tuple[str, bool]:
    """A name without corrections and without +language, and whether that was there."""
    folder, _ = corrections_of(name)
    return (folder, False) if Path(folder).exists() else language_of(folder)


def is_name(text: str) -> bool:
    """Whether a text has the form of one name, whatever the kind."""
    return bool(_NAME.fullmatch(text))


def parsed(name: str) -> list[tuple[str, str]]:
    """The kind of a name and its corrections, each with its options.

    >>> parsed("power-mean[1,3]+pcr")
    [('power-mean', '1,3'), ('pcr', '')]
    """
    return [(match[1], match[2] or "") for match in _ONE.finditer(name)]


def corrections_of(name: str) -> tuple[str, list[tuple[str, str]]]:
    """A name or a folder without the corrections after it, and these.

    >>> corrections_of("./projection+znorm")
    ('./projection', [('znorm', '')])
    """
    match = _CORRECTIONS.search(name)
    return (name, []) if match is None else (name[: match.start()], parsed(match[0]))


def language_of(name: str) -> tuple[str, bool]:
    """A folder without the +language after it, and whether there was one: its language latents are meant.

    >>> language_of("./bgt+language")
    ('./bgt', True)
    """
    folder = name.removesuffix(f"+{LANGUAGE}")
    return folder, folder != name


def side_by_side(name: str) -> list[str]:
    """The names or folders between the &; BadSetting if one of several is empty.

    >>> side_by_side("power-mean & ./projection+znorm")
    ['power-mean', './projection+znorm']
    """
    found = [one.strip() for one in name.split(BESIDE)] if BESIDE in name else [name]
    if len(found) > 1 and not all(found):
        raise BadSetting(f"there must be an encoder on both sides of &, got {name!r}")
    return found


def _beside(texts: Sequence[str], spaces: Sequence[Space], progress: Progress | None) -> SentenceEncoder:
    # The corrections of the last are those of all together.
    if len(spaces) not in (1, len(texts)):
        raise BadSetting(
            f"encoders side by side read one space or a space each, got {len(texts)} encoders and "
            f"{len(spaces)} spaces; name the space of each, the first one again where it is meant"
        )
    *others, last = texts
    last, corrections = corrections_of(last)
    for text in others:
        if corrections_of(text)[1]:
            raise BadSetting(
                f"corrections apply to all encoders side by side and follow the last, got {text!r} before "
                f"others; write {'&'.join((*(corrections_of(one)[0] for one in others), last))}"
                f"{text.removeprefix(corrections_of(text)[0])}"
            )
    own = spaces if len(spaces) > 1 else [spaces[0]] * len(texts)
    parts = [
        load_encoder(text, one, progress=progress) for text, one in zip((*others, last), own, strict=True)
    ]
    return _corrected(Concatenated(parts, shared=len(spaces) == 1), corrections)


def _corrected(encoder: SentenceEncoder, corrections: Sequence[tuple[str, str]]) -> SentenceEncoder:
    for correction in corrections:
        encoder = Corrected(encoder, Correction.parse(*correction))
    return encoder


def _made(name: str, spaces: Sequence[Space], progress: Progress | None) -> SentenceEncoder:
    if not _is_name(name):
        raise BadSetting(
            f"an encoder must be one of {', '.join(MAKERS)}, optionally followed by "
            f"+{', +'.join([NGRAMS, *OPTIONS])}, or the folder of a saved one; got {name!r}"
            f"{did_you_mean(name, MAKERS)}"
        )
    (kind, options), *after = parsed(name)
    ngrams = after[:1] == [(NGRAMS, "")]
    lookups = [Lookup(space, "ngrams" if ngrams else "skip", progress=progress) for space in spaces]
    parts = [MAKERS[kind](lookup, options) for lookup in lookups]
    encoder = parts[0] if len(parts) == 1 else Concatenated(parts)
    return _corrected(encoder, after[ngrams:])


def _mean(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("mean", options)
    return PowerMean(lookup)


def _idf(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("idf", options.removeprefix("rank"))
    return WeightedMean(lookup, "idf")


def _sif(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("sif", options.removeprefix("rank"))
    return Corrected(WeightedMean(lookup, "sif"), SIF, sif=True)


def _power_mean(lookup: Lookup, options: str) -> SentenceEncoder:
    if not options:
        return PowerMean(lookup, DEFAULT_POWERS)
    try:
        powers = tuple(parsed_power(p) for p in options.split(","))
    except ValueError:
        raise BadSetting(
            f"power-mean needs numbers in brackets, as in power-mean[-inf,1,inf]; got {options!r}"
        ) from None
    return PowerMean(lookup, powers)


def _untrained(lookup: Lookup, options: str) -> SentenceEncoder:
    raise BadSetting(
        f"{', '.join(SYSTEMS)} need training: run muse train SPACE --encoder NAME, and give the "
        "folder it wrote as the encoder (as ./NAME if the folder has the name of an encoder)"
    )


def _no_options(name: str, options: str) -> None:
    if options:
        raise BadSetting(f"{name} has no options in brackets, got {options!r}")


# Trained encoders have an entry here too, whose error says how to train them.
MAKERS: Mapping[str, Make] = {
    "mean": _mean,
    "idf": _idf,
    "sif": _sif,
    "power-mean": _power_mean,
    **dict.fromkeys(SYSTEMS, _untrained),
}


def _restored(folder: Path, spaces: Sequence[Space], whole: Path | None = None) -> SentenceEncoder:
    # `whole` is the folder that was named; this one may be a part of it.
    saved, whole = read_encoder(folder), whole or folder
    if saved.kind not in (*RESTORERS, CONCATENATED):
        raise BadFile(f"{folder}: this version of muse has no encoder {saved.kind!r}; upgrade muse")
    try:
        if saved.kind == CONCATENATED:
            return _restored_beside(saved, spaces, whole)
        if not saved.parts:
            _check_count(whole, 1, spaces)
        check_space(folder, saved.spaces, spaces[0])
        parts = [_restored(part, spaces, whole) for part in saved.parts]
        return RESTORERS[saved.kind](saved, spaces[0], parts)
    except DAMAGED as error:
        raise BadFile(
            f"{folder}: expected the settings of a {saved.kind} encoder, got others ({error!r}); {AGAIN}"
        ) from error


def _restored_beside(saved: Saved, spaces: Sequence[Space], whole: Path) -> SentenceEncoder:
    shared = bool(saved.settings["shared"])
    _check_count(whole, 1 if shared else len(saved.parts), spaces)
    own = [spaces[0]] * len(saved.parts) if shared else spaces
    parts = [_restored(part, [space], whole) for part, space in zip(saved.parts, own, strict=True)]
    return Concatenated(parts, shared)


def _check_count(folder: Path, needed: int, spaces: Sequence[Space]) -> None:
    if len(spaces) != needed:
        others = "its other space" if needed == 2 else f"its other {needed - 1} spaces"
        advice = "leave out --also" if needed == 1 else f"use it by itself, and name {others} with --also"
        raise BadSetting(
            f"{folder}: this saved encoder reads {needed} space{'s' if needed > 1 else ''}, "
            f"got {len(spaces)}; {advice}"
        )


def _restore_power_mean(saved: Saved, space: Space, _: Sequence[SentenceEncoder]) -> SentenceEncoder:
    return _made(saved.name, [space], None)


def _restore_weighted(saved: Saved, space: Space, _: Sequence[SentenceEncoder]) -> SentenceEncoder:
    made = parsed(saved.name)
    lookup = Lookup(space, "ngrams" if (NGRAMS, "") in made else "skip")
    return WeightedMean(lookup, made[0][0], saved.arrays)


def _restore_corrected(saved: Saved, _: Space, parts: Sequence[SentenceEncoder]) -> SentenceEncoder:
    correction = Correction.parse(*parsed(str(saved.settings["correction"]))[0])
    return Corrected(
        parts[0], correction, restored_moments(saved.arrays, parts[0].dimension), bool(saved.settings["sif"])
    )


def _restore_rotated(saved: Saved, _: Space, parts: Sequence[SentenceEncoder]) -> SentenceEncoder:
    return restored_rotated(saved, parts[0])


RESTORERS: Mapping[str, Restore] = {
    "power-mean": _restore_power_mean,
    "weighted": _restore_weighted,
    CORRECTED: _restore_corrected,
    ROTATED: _restore_rotated,
    OLD_ROTATED: _restore_rotated,
    TRAINED: restore_trained,
    NETWORK: restore_system,
}
