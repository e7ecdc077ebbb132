"""The run of `muse align`, from files to a space on disk, in one call.

Reading: the vectors of one language of a run of `muse align`, from a file or an array, normalised.

The dictionary to learn from: its pairs, and how its third column counts.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.api.outcome import Report, occasion, of_language, provenance, signature
from muse.api.settings import Given, Request, RowArray, Untrained, request_of
from muse.errors import BadSetting, MuseError
from muse.files import read_lexicon, read_vectors
from muse.files.atomic import only_writer
from muse.files.plain_text import read_lines
from muse.files.row_texts import with_texts
from muse.files.source import is_stream
from muse.files.space_folder import MANIFEST, checksum
from muse.files.space_manifest import read_manifest
from muse.files.vectors.table import ReadOptions, gather, no_ngrams_error
from muse.learn.many import Intermediate, LearnedMany, Others, learn_many
from muse.learn.pair import PARTS, check_pair, normalise_in_place
from muse.lexicon import Lexicon
from muse.progress import Progress
from muse.run.checkpoint import Checkpoint, open_checkpoint
from muse.run.memory import peak_memory_mb
from muse.run.runtime import Runtime, pick_device
from muse.space import (
    AlignedSpace,
    SideToSave,
    add_to_space,
    check_addition,
    check_language,
    check_out,
    load_space,
    save_space,
)
from muse.vectors import Vectors

log = logging.getLogger(__name__)


def read_side(request: Request, language: str, given: Given, progress: Progress) -> SideToSave:
    """The vectors of a language, normalised, with the files that they were read from.

    Words whose vectors are all zeros are left out, with a warning: nothing can be learned of them. Rows
    without words keep their numbers, and those of zeros are found by no search.
    """
    listed, texts = request.word_list(language), request.texts(language)
    if isinstance(given, RowArray):
        if listed is not None:
            raise no_ngrams_error(Path(language))
        table = with_texts(given.table(language), texts)
        vectors = gather(table, ReadOptions(language, request.max_vocab, request.lowercase))
        vectors = _with_directions(vectors, "the array")
        # No files: the digest stands for them.
        return SideToSave(*normalise_in_place(vectors, request.config.steps))
    vectors = read_vectors(
        given, language=language, max_vocab=request.max_vocab, lowercase=request.lowercase,
        words=None if listed is None else [word for word in read_lines(listed) if word], texts=texts,
        progress=progress,
    )  # fmt: skip
    check_language(language, vectors.words)
    if vectors.repeated:
        log.warning("%s: dropped %d duplicate %s (%s)", given, vectors.repeated, vectors.noun, language)
    vectors = _with_directions(vectors, given)
    files = tuple(file for file in (given, listed, texts) if file is not None)
    return SideToSave(*normalise_in_place(vectors, request.config.steps), files=files)


def _with_directions(vectors: Vectors, given: object) -> Vectors:
    """The words whose vectors are not all zeros, or all unlabelled vectors; warns of those that are."""
    kept = vectors.nonzero()
    if zeros := len(vectors) - len(kept):
        action = "left out" if vectors.ranked else "no counterpart will be found for"
        log.warning(
            "%s: %s %d of %d %s (%s), with vectors of zeros",
            given, action, zeros, len(vectors), vectors.noun, vectors.language,
        )  # fmt: skip
    return kept if vectors.ranked else vectors


def read_dictionary(path: Path) -> Lexicon:
    """The pairs of a dictionary; says on the log how a third column of numbers is read."""
    lexicon = read_lexicon(path)
    # Whether scores are weights depends on their range, which their author may not have had in mind.
    if lexicon.scores is None or lexicon.probabilities is not None:
        return lexicon
    if lexicon.weights is None:
        log.info(
            "%s: the third column is no weight, since it is not from 0 to 1: all pairs count alike", path
        )
    else:
        log.info("%s: the third column, from 0 to 1, is read as the weights of the pairs", path)
    return lexicon


@dataclass(frozen=True, eq=False)
class _Inputs:
    """The vectors read: the languages to map, the target, and languages for detours only."""

    sources: dict[str, SideToSave]
    target: SideToSave
    via: dict[str, SideToSave]

    def words(self) -> dict[str, int]:
        """The number of words of each language."""
        sides = [*self.sources.values(), self.target]
        return {side.vectors.language: len(side.vectors) for side in sides}


def align(
    source: str | Sequence[str],
    target: str | None = None,
    *,
    device: str = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> AlignedSpace:
    """The aligned space of the languages, learned from their vectors and saved.

    `options` are those of the command `muse align` by their names, with underscores, each with the same
    default: `init`, `seed`, `dictionary`, `max_vocab`, `lower`, `no_identical`, `normalise`, `refine`,
    `reweight`, `joint`, `out`, `resume`, `src_emb`, `tgt_emb`, `via`, `via_emb`, `into`, `src_words`,
    `tgt_words`, `src_texts`, `tgt_texts`; the names of the fields of `Request` do as well. `config` has all
    settings of learning, and the options that are given beside it replace its own. `progress` shows how far
    the run is: `muse.progress.Progress()` on stderr. Raise BadSetting for an unknown name or a wrong value.

    In place of a file of vectors an array (n, d) will do: rows in no order, such as the vectors that a model
    gives to texts. It is copied, not changed, and the id of row i is str(i). Raise BadSetting for an array of
    another shape or type. The verdict is in `space.manifest["verdict"]`; check it before you use the space.
    """
    report = run(request_of(source, target, options), device=device, progress=progress)
    return load_space(report.space)


def run(
    request: Request,
    *,
    device: str = "auto",
    progress: Progress | None = None,
    untrained: Untrained | None = None,
) -> Report:
    """The report of a run of `request`: check the arguments, read, learn, save.

    Vectors of `untrained` are trained after all is checked that does not need them. Checkpoints are kept
    beside the space until it is saved, so that a killed run can be resumed with `request.resume`.
    """
    began = time.perf_counter()
    device = pick_device(device)
    request.check()
    if request.into is not None:
        read_manifest(request.into)  # first: what is no space is not a wrong --out
    check_out(request.folder)
    with only_writer(request.folder):
        request = _resolved(request)
        request.check_files(besides=() if untrained is None else untrained.languages)
        if untrained is not None:
            checked = time.perf_counter()
            untrained.train()
            began += time.perf_counter() - checked  # the report has the seconds of the alignment alone
        return _run(request, device, progress, began)


def _run(request: Request, device: str, progress: Progress | None, began: float) -> Report:
    progress = progress or Progress(quiet=True)
    parts = 2 + PARTS * len(request.sources)  # reading and saving, and those of each language
    inputs = _load(request, progress.part(1, parts))
    request = _of_rows(request, inputs)
    loaded, loading = time.perf_counter(), {"load": peak_memory_mb()}
    checkpoint = _checkpoint(request, inputs)
    runtime = Runtime(device, progress.part(2, parts), checkpoint)
    try:
        vectors = [side.vectors for side in inputs.sources.values()]
        learned = learn_many(
            vectors, inputs.target.vectors, config=request.config, runtime=runtime,
            others=_others(request, inputs),
        )  # fmt: skip
    except MuseError:
        checkpoint.abandon()
        raise
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(checkpoint.interrupted()) from error
    saving = time.perf_counter()
    before = {"seconds": {"load": round(loaded - began, 2)}, "peak_memory_mb": loading}
    with progress.part(parts, parts).stage("saving", 0):
        _save(request, inputs, learned, before)
    checkpoint.clear()
    end = time.perf_counter()
    seconds = {"load": loaded - began, **learned.seconds, "save": end - saving, "total": end - began}
    return _report(request, learned, seconds, inputs.words())


def _resolved(request: Request) -> Request:
    """The request with its dictionary read, its target known, and no re-weighting of a shared target."""
    config = request.config
    if request.dictionary is not None:
        plan = replace(config.plan, lexicon=read_dictionary(request.dictionary))
        config = replace(config, plan=plan)
    if config.reweight and not request.moves_target:
        log.info(
            "no re-weighting: it would move %s, which all languages share", request.target or "the pivot"
        )
        config = replace(config, reweight=False)
    config = replace(config, fixed_target=not request.moves_target)
    if request.into is None:
        return replace(request, config=config)
    pivot = check_addition(request.into, request.sources, request.target)
    saved = read_manifest(request.into)["languages"]
    for language in request.via:
        if language in saved:
            raise BadSetting(
                f"--via needs a language that {request.into} lacks, got {language!r}; leave it out: the "
                "languages of the space serve as detours anyway"
            )
    return replace(request, config=config, target=pivot)


def _load(request: Request, progress: Progress) -> _Inputs:
    """Every language, read and checked; the target first."""
    files = dict(zip(request.sources, request.source_files(), strict=True))
    files |= dict(zip(request.via, request.via_files(), strict=True))
    if request.into:
        target = _pivot(request.into)
    else:
        target = read_side(request, request.pivot, request.pivot_file(), progress)
    sides = {}
    for language, given in files.items():
        sides[language] = read_side(request, language, given, progress)
        lexicon = request.config.plan.lexicon if language in request.sources else None
        check_pair(sides[language].vectors, target.vectors, lexicon)
    return _Inputs(
        {language: sides[language] for language in request.sources},
        target,
        {language: sides[language] for language in request.via},
    )


def _of_rows(request: Request, inputs: _Inputs) -> Request:
    """The request with the settings for rows, which the space records, if no two languages have words."""
    mapped = [side.vectors for side in (*inputs.sources.values(), *inputs.via.values())]
    if inputs.target.vectors.ranked and any(side.ranked for side in mapped):
        return request
    if request.config.reweight:
        log.info("no re-weighting: unlabelled vectors have few pairs to weight directions by")
    return replace(request, config=request.config.for_unranked_rows())


def _others(request: Request, inputs: _Inputs) -> Others:
    """The languages for detours only: those of `--via`, and those of the saved space that did not fail."""
    saved = []
    if request.into is not None:
        space = load_space(request.into, check=False)  # checked when its pivot was read
        for language in space.languages:
            entry = space.manifest["languages"][language]
            verdict = (entry.get("verdict") or space.manifest.get("verdict") or {}).get("label")
            if language != space.pivot and verdict != "failed":
                identity = np.eye(space.manifest["dimension"], dtype=np.float32)
                method, via = entry.get("method") or "", tuple(map(str, entry.get("via") or ()))
                aligned = verdict == "aligned"
                saved.append(Intermediate(space.vectors(language), identity, method, via, aligned))
    return Others([side.vectors for side in inputs.via.values()], saved)


def _pivot(folder: Path) -> SideToSave:
    """The rows of the pivot of the saved space, as they are in the space."""
    space = load_space(folder)
    side = space.side(space.pivot)
    # A copy: the folder with the memory-mapped rows may be replaced while they are in use.
    vectors = replace(side.vectors, matrix=np.array(side.vectors.matrix))
    return SideToSave(vectors, side.normalisation)


def _checkpoint(request: Request, inputs: _Inputs) -> Checkpoint:
    """The checkpoints beside the space, cleared unless resumed; BadSetting if they are of another run."""
    settings = repr(
        (request.sources, request.target, request.via, request.max_vocab, request.lowercase, request.config)
    )
    sides = (*inputs.sources.values(), *inputs.via.values(), inputs.target)
    files = [path for side in sides for path in side.files]
    if request.into is not None:
        files.append(request.into / MANIFEST)
    fingerprint = [settings, *(checksum(Path(path)) for path in files if not is_stream(Path(path)))]
    read = sides if request.into is None else sides[:-1]  # the manifest stands for the pivot of a space
    fingerprint += [
        _digest(side) for side in read
        if not side.files or any(is_stream(Path(path)) for path in side.files)
    ]  # fmt: skip
    return open_checkpoint(request.folder, fingerprint, resume=request.resume)


def _digest(side: SideToSave) -> str:
    """What stands for the checksum of a file if it was a pipe or an array: the sha256 of words and rows."""
    found = hashlib.sha256("\0".join(side.vectors.words).encode())
    found.update(side.vectors.matrix.tobytes())
    return found.hexdigest()


def _save(request: Request, inputs: _Inputs, learned: LearnedMany, before: dict[str, Any]) -> None:
    sides, target_map, words = {}, None, inputs.words()
    for language, one in learned.languages.items():
        pair = {name: words[name] for name in (language, request.pivot)}
        more = {**of_language(one, request.config, pair), **occasion(request)}
        target_map = one.alignment.target_map  # None if several languages share the target
        sides[language] = replace(inputs.sources[language], mapping=one.alignment.source_map, more=more)
    made = provenance(request, learned.languages, learned.joint, before)
    if request.into is not None:
        add_to_space(request.folder, request.into, sides, provenance=made)
        return
    save_space(
        request.folder,
        {**sides, request.pivot: replace(inputs.target, mapping=target_map)},
        pivot=request.pivot,
        provenance=made,
    )


def _report(
    request: Request, learned: LearnedMany, seconds: dict[str, float], words: dict[str, int]
) -> Report:
    signatures = {
        language: signature(request.config, one, {name: words[name] for name in (language, request.pivot)})
        for language, one in learned.languages.items()
    }
    return Report(request.folder, request.pivot, learned.languages, seconds, words, signatures, learned.joint)
