"""Loading: a sentence encoder by its name, unfitted, or by its folder, as it was saved.

A name is a kind with options in brackets, then corrections; several stand side by side:

mean   idf   sif   power-mean[-inf,1,inf,3]   idf+pcr   power-mean+znorm[global]   mean+ngrams
power-mean&./projection+znorm   ./bgt+language
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, BadSetting, did_you_mean
from muse.files.source import DAMAGED
from muse.progress import Progress
from muse.sentences.encoders import composed, words
from muse.sentences.encoders.composed import OPTIONS, Concatenated, Corrected, Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.pooling import parsed_power
from muse.sentences.encoders.saving import AGAIN, Saved, check_space, read_encoder
from muse.sentences.encoders.words import Lookup, PowerMean, TrainedEncoder, WeightedMean
from muse.sentences.systems.backbone import is_pretrained, pretrained
from muse.sentences.systems.bgt.bgt_system import LANGUAGE, language_latents
from muse.sentences.systems.network_encoder import KIND as NETWORK
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import SYSTEMS, restore_system
from muse.space import Space, load_space

BESIDE, NGRAMS = "&", "ngrams"
_STEP = r"[a-z][a-z-]*(?:\[[^][]*\])?"
_NAME = re.compile(rf"{_STEP}(?:\+{_STEP})*")
_CORRECTIONS = re.compile(rf"(?:\+(?:{'|'.join(OPTIONS)})(?:\[[^][]*\])?)*$")
KINDS = ("mean", "idf", "sif", "power-mean", *SYSTEMS)  # trained ones too: the error says how to train them
# From the saved settings, a space and the restored parts.
Restore = Callable[[Saved, Space, Sequence[SentenceEncoder]], SentenceEncoder]


class Named(NamedTuple):
    """One encoder of an expression: a name or a folder, and the corrections after it.

    `latents`: those of the language are meant, of a bgt in the folder.
    """

    name: str
    corrections: str = ""
    is_folder: bool = False
    latents: bool = False


def parse(name: Path | str) -> list[Named]:
    """The encoders that an expression puts side by side; BadSetting if one of several is empty.

    A name takes precedence over a folder of the same name: ./mean is the folder.

    >>> parse("power-mean+ngrams & ./bgt+language+znorm")[0]
    Named(name='power-mean+ngrams', corrections='', is_folder=False, latents=False)
    >>> parse("power-mean+ngrams & ./bgt+language+znorm")[1]
    Named(name='./bgt', corrections='+znorm', is_folder=True, latents=True)
    """
    if isinstance(name, Path) or (name and Path(name).exists() and not _is_name(name)):
        return [Named(str(name), is_folder=True)]
    texts = [text.strip() for text in name.split(BESIDE)] if BESIDE in name else [name]
    if len(texts) > 1 and not all(texts):
        raise BadSetting(f"there must be an encoder on both sides of &, got {name!r}")
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> Named:
    found = _CORRECTIONS.search(text)
    corrections = found[0] if found else ""
    base = text.removesuffix(corrections)
    if _is_name(text):
        return Named(base, corrections)
    latents = not Path(base).exists() and base.endswith(f"+{LANGUAGE}")
    folder = base.removesuffix(f"+{LANGUAGE}") if latents else base
    is_folder = "/" in text or (bool(folder) and Path(folder).exists())
    return Named(folder, corrections, is_folder=True, latents=latents) if is_folder else Named(text)


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and steps(text)[0][0] in KINDS


def steps(name: str) -> list[tuple[str, str]]:
    """The kind of a name, what follows it after +, each with its options.

    >>> steps("power-mean[1,3]+pcr")
    [('power-mean', '1,3'), ('pcr', '')]
    """
    return [(step.partition("[")[0], step.partition("[")[2][:-1]) for step in re.findall(_STEP, name)]


def saved_in(name: Path | str) -> list[Path]:
    """The folders of the saved encoders in an expression; none if it has only names of encoders."""
    return [Path(one.name) for one in parse(name) if one.is_folder]


def learned_words(folder: Path, space: Space) -> Space:
    """The word vectors that a saved encoder has learned, in place of the space's; BadSetting without any."""
    loaded = load_encoder(folder, space)
    if not isinstance(loaded, TrainedEncoder | NetworkEncoder):
        raise BadSetting(
            f"{folder}: --encoder must be one that learned word vectors, such as x-cbow, got {loaded.name}"
        )
    return loaded.words


def load_encoder(
    name: str | Path, space: Space | Path | str, *more: Space | Path | str, progress: Progress | None = None
) -> SentenceEncoder:
    """The unfitted encoder of that name, or the one saved in that folder, for a space.

    A name takes precedence over a folder of the same name: ./mean is the folder. Corrections may follow
    either, as in power-mean+znorm. With & several are put side by side, and are then corrected together:
    power-mean&./projection+znorm. The language latents of a saved bgt are FOLDER+language. One encoder reads
    each of the spaces, or of those in folders; several encoders read one space together or a space each.

    Raise BadSetting for an unknown name, and Mismatch for an encoder that was saved for another space.
    """
    for one in (space, *more):
        if not isinstance(one, Space | Path | str):
            raise BadSetting(f"an encoder reads a space or its folder, got {one!r:.60}; use muse.load")
    spaces = [one if isinstance(one, Space) else load_space(one) for one in (space, *more)]
    for one in spaces:
        if not any(one.vectors(language).frequency_ordered for language in one.languages):
            raise BadSetting(
                "sentences are encoded by the words of a space, got unlabelled vectors; take a space of words"
            )
    named = parse(name)
    if len(named) == 1:
        return _corrected(_loaded(named[0], spaces, progress), steps(named[0].corrections))
    if len(spaces) not in (1, len(named)):
        raise BadSetting(
            f"encoders side by side read one space or a space each, got {len(named)} encoders and "
            f"{len(spaces)} spaces; name the space of each, the first one again where it is meant"
        )
    if early := [one for one in named[:-1] if one.corrections]:
        raise BadSetting(
            "corrections apply to all encoders side by side and follow the last, got "
            f"'{early[0].name}{early[0].corrections}' before others; write "
            f"{BESIDE.join(other.name for other in named)}{early[0].corrections}"
        )
    own = spaces if len(spaces) > 1 else spaces * len(named)
    parts = [_loaded(one, [reads], progress) for one, reads in zip(named, own, strict=True)]
    return _corrected(Concatenated(parts, shared=len(spaces) == 1), steps(named[-1].corrections))


def _corrected(encoder: SentenceEncoder, corrections: Sequence[tuple[str, str]]) -> SentenceEncoder:
    for correction in corrections:
        encoder = Corrected(encoder, Correction.parse(*correction))
    return encoder


def _loaded(one: Named, spaces: Sequence[Space], progress: Progress | None) -> SentenceEncoder:
    if not one.is_folder:
        return _made(one.name, spaces, progress)
    if is_pretrained(folder := Path(one.name)):
        return pretrained(folder, spaces[0])
    encoder = _restored(folder, spaces)
    return language_latents(encoder) if one.latents else encoder


def _made(name: str, spaces: Sequence[Space], progress: Progress | None = None) -> SentenceEncoder:
    if not _is_name(name):
        raise BadSetting(
            f"an encoder must be one of {', '.join(KINDS)}, optionally followed by "
            f"+{', +'.join([NGRAMS, *OPTIONS])}, or the folder of a saved one; got {name!r}"
            f"{did_you_mean(name, KINDS)}"
        )
    (kind, options), *after = steps(name)
    ngrams = after[:1] == [(NGRAMS, "")]
    lookups = [Lookup(space, "ngrams" if ngrams else "skip", progress=progress) for space in spaces]
    parts = [_encoder(lookup, kind, options) for lookup in lookups]
    return _corrected(parts[0] if len(parts) == 1 else Concatenated(parts), after[ngrams:])


def _encoder(lookup: Lookup, kind: str, options: str) -> SentenceEncoder:
    if kind in SYSTEMS:
        raise BadSetting(
            f"{', '.join(SYSTEMS)} need training: run muse train SPACE --encoder NAME, and give the "
            "folder it wrote as the encoder (as ./NAME if the folder has the name of an encoder)"
        )
    if kind == "power-mean":
        try:
            powers = tuple(map(parsed_power, options.split(","))) if options else words.DEFAULT_POWERS
        except ValueError:
            raise BadSetting(
                f"power-mean needs numbers in brackets, as in power-mean[-inf,1,inf]; got {options!r}"
            ) from None
        return PowerMean(lookup, powers)
    if options not in ("", "rank" if kind != "mean" else ""):
        raise BadSetting(f"{kind} has no options in brackets, got {options!r}")
    if kind == "mean":
        return PowerMean(lookup)
    encoder = WeightedMean(lookup, kind)
    return Corrected(encoder, composed.SIF, sif=True) if kind == "sif" else encoder


def _restored(folder: Path, spaces: Sequence[Space], whole: Path | None = None) -> SentenceEncoder:
    # `whole` is the folder that was named; this one may be a part of it.
    saved, whole = read_encoder(folder), whole or folder
    if saved.kind not in RESTORERS:
        raise BadFile(f"{folder}: this version of muse has no encoder {saved.kind!r}; upgrade muse")
    try:
        apart = saved.kind == composed.CONCATENATED and not saved.settings["shared"]
        needed = len(saved.parts) if apart else 1
        if len(spaces) != needed and (saved.kind == composed.CONCATENATED or not saved.parts):
            advice = "leave out --also" if needed == 1 else "use it by itself, and name others with --also"
            raise BadSetting(
                f"{whole}: this saved encoder reads {needed} space{'s' if needed > 1 else ''}, "
                f"got {len(spaces)}; {advice}"
            )
        own = [[space] for space in spaces] if apart else [spaces] * len(saved.parts)
        check_space(folder, saved.spaces, spaces[0])
        parts = [_restored(part, reads, whole) for part, reads in zip(saved.parts, own, strict=True)]
        try:
            return RESTORERS[saved.kind](saved, spaces[0], parts)
        except BadSetting as error:
            raise ValueError(str(error)) from error
    except DAMAGED as error:
        raise BadFile(
            f"{folder}: expected the settings of a {saved.kind} encoder, got others ({error!r}); {AGAIN}"
        ) from error


RESTORERS: Mapping[str, Restore] = {
    "power-mean": lambda saved, space, _: _made(saved.name, [space]),
    "weighted": lambda saved, space, _: words.restored_weighted(
        saved,
        Lookup(space, "ngrams" if (NGRAMS, "") in steps(saved.name) else "skip"),
        steps(saved.name)[0][0],
    ),
    composed.CORRECTED: lambda saved, _, parts: composed.restored_corrected(saved, parts[0]),
    composed.CONCATENATED: lambda saved, _, parts: Concatenated(parts, bool(saved.settings["shared"])),
    words.TRAINED: words.restore_trained,
    NETWORK: restore_system,
}
