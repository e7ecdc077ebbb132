"""The run of `muse align`, from files to a space on disk, in one call.

The settings are checked before any work. Then the vectors of every language are read, from files or arrays,
and normalised, and the dictionary if there is one; the mappings are learned; the space is saved.
"""

import hashlib
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.api.answers import RankerInputs, choose_answers, judged
from muse.api.inputs import (
    RunInputs,
    check_helper,
    check_outside,
    outside_scores,
    pseudo_dictionary,
    read_dictionary,
    read_evidence,
    read_inputs,
    with_helper,
)
from muse.api.outcome import AlignResult, differences, manifest_entry, provenance, signature_of, weakest
from muse.api.settings import check, check_files, checked_corpora, checked_texts, settings_of, train_vectors
from muse.api.space import InteractiveSpace
from muse.errors import BadSetting, Mismatch, MuseError, counted, named_as_in_python
from muse.files.atomic import only_writer
from muse.files.source import is_stream
from muse.files.space_folder import MANIFEST, checksum
from muse.files.space_manifest import Manifest, is_space, read_manifest
from muse.learn.bilingual import PARTS, Learned
from muse.learn.multilingual import Bridge, LearnedMany, learn_many
from muse.learn.settings import AlignConfig, AlignOptions
from muse.optional import load
from muse.options import RunOptions, check_names, of_checkpoint, options_of, takes
from muse.progress import Progress, messages_shown
from muse.ranking.derived import write_derived
from muse.ranking.external_scores import ExternalScores
from muse.ranking.model import ChoiceReport
from muse.ranking.query import example_words
from muse.run.checkpoint import Checkpoint, checkpoint_folder
from muse.run.memory import peak_memory_mb
from muse.run.runtime import Runtime, pick_device
from muse.search.exact import searching_by, set_threads
from muse.space import Space, add_to_space, check_addition, check_out, load_space, save_space, space_of_saved

log = logging.getLogger(__name__)


@takes(AlignOptions, "as_json")
@named_as_in_python()
def align(
    src: str | Sequence[str] | None = None,
    tgt: str | None = None,
    *,
    config: AlignConfig | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> InteractiveSpace:
    """The aligned space of the languages, learned from their vectors and saved.

    `options` are those of the command `muse align`, by their names with underscores and with the same
    defaults. `config` has settings as one value, which options beside it replace. What the command prints is
    shown on stderr, with the progress, unless `quiet`; `verbose` shows more. `threads` is the number of CPU
    threads. Raise BadSetting for an unknown name or a wrong value. Where one of several languages cannot be
    mapped, the others are saved before its error is raised.

    In place of a file of vectors an object will do that holds words and their rows, most frequent first: a
    pair (words, array), a dict, gensim's KeyedVectors, a DataFrame indexed by words, a spaCy pipeline, what
    `read_vectors` returns. An array (n, d) alone has rows in no order, such as the vectors that a model gives
    to texts; the id of row i is str(i). All are copied, not changed. Raise BadSetting for an array of another
    shape or type. Check `space.verdict` before you use the space.
    """
    check_names(align, options)
    how = RunOptions(**{name: options.pop(name) for name in options_of(RunOptions) if name in options})
    settings = settings_of(config, src=src, tgt=tgt, **options)
    if not isinstance(progress, Progress | None):
        raise BadSetting(f"progress must be a muse.progress.Progress, got {progress!r}; or use quiet")
    if how.threads is not None:
        set_threads(how.threads)
    with nullcontext() if how.quiet else messages_shown(logging.DEBUG if how.verbose else logging.INFO):
        shown = progress or Progress(quiet=how.quiet)
        report = run(settings, device=how.device, progress=shown)
        space = InteractiveSpace.of(report.aligned)
        for line in report.lines():
            log.info("%s", line)
        log.log(*_advice(space, weakest(report.learned)))
    report.check()
    return space


def _advice(space: InteractiveSpace, language: str) -> tuple[int, str]:
    """What to do with a space at the prompt, and the level of the message."""
    label = space.verdict.languages.get(language, space.verdict)
    if label != "aligned":
        measure = 'measure it before you use it, muse.evaluate(space, "pairs.txt")'
        use = "do not use it" if label == "failed" else measure
        return logging.WARNING, (
            f"The alignment of {language} is judged {label}: {use}. A few translations to learn from "
            '(dictionary="pairs.txt"), or vectors of more words, may help.'
        )
    words = example_words(space, language, 1) if space.vectors(language).frequency_ordered else []
    looked_up = [f'space.{name}("{words[0]}")' for name in ("translate", "neighbours") if words]
    uses = ", ".join([*looked_up, "space.dictionary()", 'muse.evaluate(space, "pairs.txt")'])
    return logging.INFO, f"What next: {uses}"


def run(config: AlignConfig, *, device: str = "auto", progress: Progress | None = None) -> AlignResult:
    """The report of a run of `config`: check the arguments, train vectors on texts, read, learn, save.

    Checkpoints are kept beside the space until it is saved, so that a killed run can be resumed with
    `config.resume`.
    """
    began, device, progress = time.perf_counter(), pick_device(device), progress or Progress(quiet=True)
    check(config)
    texts, corpora = checked_texts(config), checked_corpora(config)
    check_outside(config)
    for space in (config.into, config.help_from):
        if space is not None:
            read_manifest(space)  # first: what is no space is not a wrong --out
    check_out(config.folder)
    with searching_by(config.backend), only_writer(config.folder):
        config = _resolved(config)
        check_helper(config)
        check_files(config, besides=texts)
        _check_replaced(config, texts)
        checked = time.perf_counter()
        train_vectors(texts, config.seed, progress)
        began += time.perf_counter() - checked  # the report has the seconds of the alignment alone
        parts = 3 + PARTS * len(config.src)  # reading, saving, answers, and those of each language
        inputs = read_inputs(config, progress.part(1, parts))
        config = _of_repeated(_of_rows(config, inputs), inputs)
        config = with_helper(config, inputs)
        config, outside = _with_scores(config, inputs, device, progress)
        loaded, memory = time.perf_counter(), peak_memory_mb()
        runtime = Runtime(device, progress.part(2, parts), _checkpoint(config, inputs))
        try:
            try:
                *vectors, target = inputs.learned_from()
                learned = learn_many(
                    vectors, target, config=config, runtime=runtime,
                    via=[side.vectors for side in inputs.via.values()], saved=_saved(config),
                )  # fmt: skip
            except MuseError:  # then nothing is kept to resume
                runtime.checkpoint.abandon()
                raise
            learning, loading = time.perf_counter(), loaded - began
            before = {"seconds": {"load": round(loading, 2)}, "peak_memory_mb": {"load": memory}}
            saving = progress.part(parts - 1, parts)
            aligned, languages, answers, choosing = _save(config, inputs, learned, before, outside, saving)
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(runtime.checkpoint.interrupted()) from error
        runtime.checkpoint.clear()
        end = time.perf_counter()
        if corpora:
            found = {one: text for one, text in corpora.items() if one in aligned.languages}
            aligned = load("terms.extension").add_units(aligned, config.folder, found)
        ended = time.perf_counter()
    seconds = {"load": loading, **learned.seconds, "save": end - learning - choosing}
    seconds |= ({"answers": choosing} if answers else {}) | ({"terms": ended - end} if corpora else {})
    seconds["total"] = ended - began
    return AlignResult(
        aligned, config, languages, seconds, inputs.words(), learned.joint, learned.failures, answers
    )


def _check_replaced(config: AlignConfig, untrained: Collection[str]) -> None:
    """Raise BadSetting if a space would be replaced that was made with other settings or inputs.

    A run that is resumed may replace what it was about to replace, and a space may grow. One that failed is
    replaced anyway, as the advice that follows it does.
    """
    grows = config.into is not None and config.folder.resolve() == config.into.resolve()
    if config.force or config.resume or grows or not is_space(config.folder):
        return
    made = read_manifest(config.folder)
    if all(one.label == "failed" for one in made.mapped):
        return
    if differ := differences(config, made, untrained=untrained):
        raise BadSetting(
            f"{config.folder} has a space that was made otherwise: {'; '.join(differ)}; give --force to "
            "replace it, or another --out"
        )


def _resolved(config: AlignConfig) -> AlignConfig:
    """The settings with all pairs read, the target known, and no re-weighting of a shared target."""
    pivot = config.tgt
    if config.into is not None:
        pivot = check_addition(config.into, config.src, config.tgt)
        saved = read_manifest(config.into).languages
        for language in config.via:
            if language in saved:
                raise BadSetting(
                    f"--via needs a language that {config.into} lacks, got {language!r}; leave it out: the "
                    "languages of the space serve as detours anyway"
                )
    # Where several are mapped, a dictionary may be of any.
    languages = (config.src[0], pivot) if pivot is not None and len(config.src) == 1 else None
    if config.dictionary is not None:
        read = read_dictionary(config.dictionary, languages, config.dictionary_format)
        config = replace(config, lexicon=read)
    if config.evidence is not None:
        config = replace(config, scored=read_evidence(config.evidence, languages, config.evidence_format))
    if config.reweights and not config.moves_target:
        log.info("no re-weighting: it would move %s, which all languages share", config.tgt or "the pivot")
        config = replace(config, reweight=False)
    return replace(config, fixed_target=not config.moves_target, tgt=pivot)


def _of_rows(config: AlignConfig, inputs: RunInputs) -> AlignConfig:
    """The config with the settings for rows, which the space records, if no two languages have words."""
    mapped = [side.vectors for side in (*inputs.sources.values(), *inputs.via.values())]
    if inputs.target.vectors.frequency_ordered and any(side.frequency_ordered for side in mapped):
        return config
    if config.reweights:
        log.info("no re-weighting: unlabelled vectors have few pairs to weight directions by")
    return config.for_unranked_rows()


def _of_repeated(config: AlignConfig, inputs: RunInputs) -> AlignConfig:
    """The config with pairs of rows in place of pairs of ids that several rows have."""
    if config.lexicon is None or inputs.target.vectors.frequency_ordered or len(inputs.sources) > 1:
        return config
    (source,) = inputs.sources.values()
    found = config.lexicon.pairs_of_rows(source.vectors.index, inputs.target.vectors.index)
    if found.replaced:
        log.info(
            "%s: %s with ids of several rows, as many on both sides, which are paired in their order",
            config.dictionary, counted(found.replaced, "pair"),
        )  # fmt: skip
    if found.left_out:
        log.warning(
            "%s: left out %d of %d pairs, whose ids have several rows, and not as many on both sides; give "
            "each row an id of its own",
            config.dictionary, found.left_out, len(config.lexicon),
        )  # fmt: skip
    if not found.lexicon.pairs:
        raise Mismatch(
            f"{config.dictionary}: at least one pair must tell which rows belong together, got none: all ids "
            "have several rows, and not as many on both sides; give each row an id of its own"
        )
    return replace(config, lexicon=found.lexicon)


def _with_scores(
    config: AlignConfig, inputs: RunInputs, device: str, progress: Progress
) -> tuple[AlignConfig, ExternalScores | None]:
    """The config with the pairs of an encoder or of evidence, if one is given, and its scores."""
    if config.text_pairs is not None and not inputs.target.vectors.frequency_ordered:
        raise BadSetting("--text-pairs needs words, got unlabelled vectors; leave it out")
    if not (config.encoder or config.encoder_emb or config.evidence):
        return config, None
    source, target = inputs.learned_from()
    outside = outside_scores(config, source, target, device=device, progress=progress)
    return replace(config, pseudo_dictionary=pseudo_dictionary(outside, source, target)), outside


def _saved(config: AlignConfig) -> list[Bridge]:
    """The languages of the space that grows, for detours only: those that did not fail."""
    saved = list[Bridge]()
    if config.into is not None:
        space = load_space(config.into, check=False)  # checked when its pivot was read
        for language in space.languages:
            made, vectors = space.manifest.language(language), space.vectors(language)
            label = made.verdict.label or space.manifest.verdict.label
            if language != space.pivot and label != "failed":
                identity = np.eye(vectors.dimension, dtype=np.float32)
                saved.append(Bridge(vectors, identity, made.method, made.via, label == "aligned"))
    return saved


def _checkpoint(config: AlignConfig, inputs: RunInputs) -> Checkpoint:
    """The checkpoints beside the space, cleared unless resumed; BadSetting if they are of another run."""
    pairs = [
        [lexicon.pairs, lexicon.scores, lexicon.probabilities]
        for lexicon in (config.lexicon, config.pseudo_dictionary)
        if lexicon is not None
    ]
    how = (of_checkpoint(config), config.rounds, config.frequency_ordered, config.fixed_target, *pairs)
    fingerprint = [hashlib.sha256(repr(how).encode("utf-8", "surrogatepass")).hexdigest()]
    sides = [*inputs.sources.values(), *inputs.via.values()]
    if config.into is None:
        sides.append(inputs.target)
    else:  # the manifest stands for the pivot of a space
        fingerprint.append(checksum(config.into / MANIFEST))
    for side in sides:
        files = [Path(file) for file in side.files]
        if files and not any(map(is_stream, files)):
            fingerprint += map(checksum, files)
        else:  # a pipe or an array, which has no file to be read again
            found = hashlib.sha256("\0".join(side.vectors.words).encode())
            found.update(side.vectors.matrix.tobytes())
            fingerprint.append(found.hexdigest())
    return Checkpoint.open(checkpoint_folder(config.folder), fingerprint, resume=config.resume)


def _save(
    config: AlignConfig, inputs: RunInputs, learned: LearnedMany, before: dict[str, Any],
    outside: ExternalScores | None, progress: Progress,
) -> tuple[Space, Mapping[str, Learned], dict[str, tuple[ChoiceReport, ChoiceReport]], float]:  # fmt: skip
    """The space as it was saved, with all that is derived of it; what was learned, judged by its answers too;
    how these were chosen, and seconds.
    """
    sides, words, target_map = {}, inputs.words(), None
    for language, one in learned.languages.items():
        target_map = one.alignment.target_map  # None if several languages share the target
        sides[language] = replace(
            inputs.sources[language], mapping=one.alignment.source_map,
            more=manifest_entry(config, one, signature_of(config, language, one, words)),
            store_map=one.alignment.store_map,
        )  # fmt: skip
    if config.into is None:
        sides[config.pivot] = replace(inputs.target, mapping=target_map)
    answers, choosing = dict[str, tuple[ChoiceReport, ChoiceReport]](), 0.0
    languages: Mapping[str, Learned] = learned.languages

    def derive(folder: Path, manifest: Manifest) -> Manifest:
        nonlocal choosing, languages
        saving.close()
        space = space_of_saved(folder, manifest)
        if config.answers != "csls":
            began = time.perf_counter()
            known = RankerInputs(config.lexicon, outside, text_pairs=config.text_pairs)
            normalised = {side.language: side for side in inputs.learned_from()}
            answers.update(choose_answers(
                space, folder, learned.languages, normalised, known, seed=config.seed,
                progress=progress.skip_parts(1),
            ))  # fmt: skip
            choosing = time.perf_counter() - began
            languages = judged(languages, answers)
        write_derived(space, folder, languages)
        return manifest.judged({language: one.verdict for language, one in languages.items()})

    made = provenance(config, learned.languages, learned.joint, before)
    with ExitStack() as saving:
        saving.enter_context(progress.stage("saving", 0))
        if config.into is not None:
            manifest = add_to_space(config.folder, config.into, sides, provenance=made, derive=derive)
        else:
            manifest = save_space(config.folder, sides, pivot=config.pivot, provenance=made, derive=derive)
    return space_of_saved(config.folder, manifest), languages, answers, choosing
