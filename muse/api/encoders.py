"""Load sentence encoders: an unfitted one by name, or a saved one from its folder.

A name is a kind of encoder, with options in brackets, followed by corrections:

    mean   idf   sif   power-mean[-inf,1,inf,3]   idf+pcr   power-mean+znorm[global]   mean+ngrams
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from muse.encoders.composed import SIF, Concatenated, Corrected, restored_moments
from muse.encoders.corrections import OPTIONS, Correction
from muse.encoders.encoder import SentenceEncoder
from muse.encoders.lookup import Lookup
from muse.encoders.rotated import restored
from muse.encoders.saving import AGAIN, Saved, check_space, read_encoder
from muse.encoders.trained import KIND as TRAINED
from muse.encoders.trained import restore_trained
from muse.encoders.words import DEFAULT_POWERS, PowerMean, WeightedMean
from muse.errors import BadFile, BadSetting, did_you_mean
from muse.files.source import DAMAGED
from muse.progress import Progress
from muse.space import AlignedSpace
from muse.systems.network_encoder import KIND as NETWORK
from muse.systems.registry import SYSTEMS, restore_system

# From a lookup and the options in brackets; from the saved settings, a space and the restored parts.
Make = Callable[[Lookup, str], SentenceEncoder]
Restore = Callable[[Saved, AlignedSpace, Sequence[SentenceEncoder]], SentenceEncoder]

_ONE = re.compile(r"([a-z][a-z-]*)(?:\[([^][]*)\])?")
_NAME = re.compile(r"(?:\+?[a-z][a-z-]*(?:\[[^][]*\])?)+")
NGRAMS = "ngrams"


def load_encoder(
    name: str | Path, space: AlignedSpace, *more: AlignedSpace, progress: Progress | None = None
) -> SentenceEncoder:
    """The unfitted encoder of that name, or the one saved in that folder, for a space.

    A name takes precedence over a folder of the same name: ./mean is the folder.

    With `more` spaces, the vectors of their encoders are concatenated before any correction. Raise BadSetting
    for an unknown name, and Mismatch for an encoder that was saved for another space.
    """
    if isinstance(name, str) and (_is_name(name) or not _is_place(name)):
        return _made(name, (space, *more), progress)
    return _restored(Path(name), (space, *more))


def _is_place(name: str) -> bool:
    return "/" in name or (name != "" and Path(name).exists())


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and _parsed(name)[0][0] in MAKERS


def _parsed(name: str) -> list[tuple[str, str]]:
    # power-mean[1,3]+pcr as (power-mean, 1,3), (pcr, "").
    return [(match[1], match[2] or "") for match in _ONE.finditer(name)]


def _made(name: str, spaces: Sequence[AlignedSpace], progress: Progress | None) -> SentenceEncoder:
    if not _is_name(name):
        raise BadSetting(
            f"an encoder must be one of {', '.join(MAKERS)}, optionally followed by "
            f"+{', +'.join([NGRAMS, *OPTIONS])}, or the folder of a saved one; got {name!r}"
            f"{did_you_mean(name, MAKERS)}"
        )
    (kind, options), *after = _parsed(name)
    ngrams = after[:1] == [(NGRAMS, "")]
    lookups = [Lookup(space, "ngrams" if ngrams else "skip", progress=progress) for space in spaces]
    parts = [MAKERS[kind](lookup, options) for lookup in lookups]
    encoder = parts[0] if len(parts) == 1 else Concatenated(parts)
    for correction in after[ngrams:]:
        encoder = Corrected(encoder, Correction.parse(*correction))
    return encoder


def _restored(folder: Path, spaces: Sequence[AlignedSpace]) -> SentenceEncoder:
    saved = read_encoder(folder)
    if saved.kind not in (*RESTORERS, "concatenated"):
        raise BadFile(f"{folder}: this version of muse has no encoder {saved.kind!r}; upgrade muse")
    if saved.kind == "concatenated":
        if len(saved.parts) != len(spaces):
            raise BadSetting(f"{folder}: this encoder needs {len(saved.parts)} spaces, got {len(spaces)}")
        return Concatenated(
            [_restored(part, [space]) for part, space in zip(saved.parts, spaces, strict=True)]
        )
    check_space(folder, saved.spaces, spaces[0])
    parts = [_restored(part, spaces) for part in saved.parts]
    try:
        return RESTORERS[saved.kind](saved, spaces[0], parts)
    except DAMAGED as error:
        raise BadFile(
            f"{folder}: expected the settings of a {saved.kind} encoder, got others ({error!r}); {AGAIN}"
        ) from error


def _mean(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("mean", options)
    return PowerMean(lookup)


def _power_mean(lookup: Lookup, options: str) -> SentenceEncoder:
    if not options:
        return PowerMean(lookup, DEFAULT_POWERS)
    try:
        powers = tuple(float(p) for p in options.split(","))
    except ValueError:
        raise BadSetting(
            f"power-mean needs numbers in brackets, as in power-mean[-inf,1,inf]; got {options!r}"
        ) from None
    return PowerMean(lookup, powers)


def _idf(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("idf", options.removeprefix("rank"))
    return WeightedMean(lookup, "idf")


def _sif(lookup: Lookup, options: str) -> SentenceEncoder:
    _no_options("sif", options.removeprefix("rank"))
    return Corrected(WeightedMean(lookup, "sif"), SIF, sif=True)


def _no_options(name: str, options: str) -> None:
    if options:
        raise BadSetting(f"{name} has no options in brackets, got {options!r}")


def _restore_power_mean(saved: Saved, space: AlignedSpace, _: Sequence[SentenceEncoder]) -> SentenceEncoder:
    return _made(saved.name, [space], None)


def _restore_weighted(saved: Saved, space: AlignedSpace, _: Sequence[SentenceEncoder]) -> SentenceEncoder:
    made = _parsed(saved.name)
    lookup = Lookup(space, "ngrams" if (NGRAMS, "") in made else "skip")
    return WeightedMean(lookup, made[0][0], saved.arrays)


def _restore_corrected(saved: Saved, _: AlignedSpace, parts: Sequence[SentenceEncoder]) -> SentenceEncoder:
    correction = Correction.parse(*_parsed(str(saved.settings["correction"]))[0])
    return Corrected(
        parts[0], correction, restored_moments(saved.arrays, parts[0].dimension), bool(saved.settings["sif"])
    )


def _restore_rotated(saved: Saved, _: AlignedSpace, parts: Sequence[SentenceEncoder]) -> SentenceEncoder:
    return restored(saved, parts[0])


def _untrained(lookup: Lookup, options: str) -> SentenceEncoder:
    raise BadSetting(
        f"{', '.join(SYSTEMS)} need training: run muse train SPACE --encoder NAME, and give the "
        "folder it wrote as the encoder (as ./NAME if the folder has the name of an encoder)"
    )


# Trained encoders have an entry here too, whose error says how to train them.
MAKERS: Mapping[str, Make] = {
    "mean": _mean,
    "idf": _idf,
    "sif": _sif,
    "power-mean": _power_mean,
    **dict.fromkeys(SYSTEMS, _untrained),
}
RESTORERS: Mapping[str, Restore] = {
    "power-mean": _restore_power_mean,
    "weighted": _restore_weighted,
    "corrected": _restore_corrected,
    "turned": _restore_rotated,
    TRAINED: restore_trained,
    NETWORK: restore_system,
}
