"""Outcome: the result of a run of `muse align`, for its JSON and for the manifest of the space."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muse.api.settings import files_of, source_of
from muse.errors import MuseError, reworded
from muse.evaluation.score import Signature
from muse.files.space_folder import MANIFEST
from muse.files.space_manifest import InputFile, Manifest, input_file, plain, read_manifest
from muse.learn.bilingual import Learned
from muse.learn.joint import Joint
from muse.learn.schedule import first_rounds, refinement, refines_plainly
from muse.learn.settings import AlignConfig
from muse.learn.transport import TransportConfig
from muse.options import departures, options_of, recorded
from muse.ranking.model import ChoiceReport
from muse.run.memory import peak_memory_mb
from muse.space import Provenance, Space
from muse.vectors import ShortRepr

# What may help a mapping that is not aligned.
FEW_WORDS = 5_000  # with fewer, even a right mapping may be called failed
FEW_PAIRS = 50  # translations: with fewer, more help
PAIRS = "pairs.txt"  # stands for a list of translations that there is not yet


@dataclass(frozen=True, repr=False)
class AlignResult(ShortRepr):
    """The result of a run: the space, its settings, what was learned, seconds by stage, words by language.

    `learned` has every language that was mapped, in the order requested.
    """

    aligned: Space
    config: AlignConfig
    learned: Mapping[str, Learned]
    seconds: Mapping[str, float]
    words: Mapping[str, int]
    joint: Joint | None = None
    failures: Mapping[str, MuseError] = field(default_factory=dict)
    """The languages that could not be mapped beside others, which are saved without them."""
    answers: Mapping[str, tuple[ChoiceReport, ChoiceReport]] = field(default_factory=dict)
    """How the answers of each language were chosen, to the pivot and back; empty where CSLS ranks."""

    @property
    def space(self) -> Path:
        """The folder of the space."""
        return self.config.folder

    @property
    def target(self) -> str:
        """The pivot."""
        return self.config.pivot

    def check(self) -> None:
        """Raise the error of the first language that could not be mapped, if there are any."""
        for language, error in self.failures.items():
            kept = " and ".join(self.learned)
            raise reworded(
                error,
                f"{error}; {kept} saved in {self.space} without {language}: once it is mended, add it with "
                f"--into {self.space}",
            )

    def lines(self, *, methods: bool = False) -> list[str]:
        """The lines that `muse align` prints: for each mapped language, then for the whole run.

        With `methods`, the lines that say how the mapping was found are among them.
        """
        fields, several = self.as_json(), len(self.learned) > 1
        rows: list[tuple[str, object] | None] = [("space", fields["space"])]
        for language, learned in self.learned.items():
            own = self.fields(language)
            rows += [None, ("language", language)] if several else []
            rows.append(("learned from", self._learned_from(learned)))
            if methods:
                rows += ("initialisation", learned.alignment.method), ("criterion", own["criterion"])
            rows += [] if learned.supervision is None else [("held out", learned.supervision)]
            rows.append(("verdict", f"{own['verdict']} (confidence {own['confidence']:.2f})"))
            if language in self.answers:
                chosen = self.answers[language][0]
                rows += [("answers", chosen)]
                rows += [] if chosen.expected is None else [("expected", chosen.expected)]
            rows.append(("signature", own["signature"]))
        rows += [] if self.joint is None else [None, ("joint", self.joint)]
        took = "time", f"{fields['seconds']['total']:.1f} s, {fields['peak_memory_mb'] or 0:.0f} MB"
        rows.insert(len(rows) - (not several), took)
        return ["" if row is None else f"{row[0]:15} {row[1]}" for row in rows]

    def _learned_from(self, learned: Learned) -> str:
        """What a mapping was learned from, in plain words."""
        found = "the vectors alone"
        if learned.supervision is not None:
            found = f"the vectors and {_LEARNED_FROM[_pairs_of(self.config)]}"
        elif "identical" in learned.alignment.inits:
            found = "the vectors and words that both languages spell alike (identical strings)"
        return f"{found}, over {' and '.join(learned.via)}" if learned.via else found

    def as_json(self) -> dict[str, Any]:
        """The fields of `muse align --json`: of the least confident language, and of each if several."""
        fields = self.fields(weakest(self.learned))
        if len(self.learned) == 1:
            return fields
        fields |= {"seconds": _rounded(self.seconds), "words": dict(self.words)}
        fields["unsupervised"] = all(map(_unsupervised, self.learned.values()))
        fields["joint"] = None if self.joint is None else self.joint.as_json()
        return fields | {"languages": {language: self.fields(language) for language in self.learned}}

    def fields(self, language: str) -> dict[str, Any]:
        """The fields of one mapped language."""
        learned = self.learned[language]
        verdict = learned.verdict
        own = dict(self.seconds) if len(self.learned) == 1 else learned.seconds
        return {
            "space": str(self.space),
            "init": learned.alignment.init,
            "criterion": round(learned.alignment.criterion, 4),
            "verdict": verdict.label,
            "confidence": verdict.confidence,
            "agreement": verdict.agreement,
            "mutual": verdict.mutual,
            "unsupervised": _unsupervised(learned),
            **_supervision(self.config, learned),
            **self._expected(language),
            **_answers(*self.answers.get(language, ())),
            "seconds": _rounded(own),
            "candidates": [candidate.as_json() for candidate in learned.candidates],
            "words": {side: self.words[side] for side in (language, self.target)},
            "peak_memory_mb": peak_memory_mb(),
            "signature": str(signature_of(self.config, language, learned, self.words)),
            "via": list(learned.via),
        }

    def _expected(self, language: str) -> dict[str, Any]:
        """The fields of how many first answers are expected to be right; null where nothing is known."""
        found = self.answers[language][0].expected if language in self.answers else None
        return {"expected_p_at_1": None, "expected_ci95": None} if found is None else found.as_json()


def weakest(learned: Mapping[str, Learned]) -> str:
    """The language whose mapping has the lowest confidence."""
    return min(learned, key=lambda language: learned[language].verdict.confidence)


def _unsupervised(learned: Learned) -> bool:
    return learned.supervision is None and "identical" not in learned.alignment.inits


_LEARNED_FROM = {
    "dictionary": "a dictionary", "encoder": "an encoder's pairs", "program": "a program's pairs",
    "space": "the pairs of a general space",
}  # fmt: skip


def _supervision(config: AlignConfig, learned: Learned) -> dict[str, Any]:
    if learned.supervision is None:
        return {}
    return {"supervision": {**learned.supervision.as_json(), "pairs_of": _pairs_of(config)}}


def _pairs_of(config: AlignConfig) -> str:
    """What gave the pairs that were learned from, if any were; those of a dictionary go before others."""
    if config.dictionary is not None:
        return "dictionary"
    if config.lexicon is not None:
        return "space"
    return "encoder" if config.evidence is None else "program"


def _answers(*of: ChoiceReport) -> dict[str, Any]:
    there_and_back = [one.as_json() for one in of]
    return {"answers": {**there_and_back[0], "back": there_and_back[1]}} if of else {}


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {stage: round(value, 2) for stage, value in seconds.items()}


def manifest_entry(config: AlignConfig, learned: Learned, signed: Signature) -> dict[str, Any]:
    """The entry of one language in the manifest: how it was mapped, when and by which command."""
    return {
        "method": learned.alignment.method,
        "via": list(learned.via),
        "criterion": learned.alignment.criterion,
        "verdict": learned.verdict,
        "candidates": [{**one.as_record(), "chosen": one is learned.chosen} for one in learned.candidates],
        "reason": learned.reason,
        **_supervision(config, learned),
        "history": learned.history,
        "seconds": _rounded(learned.seconds),
        "peak_memory_mb": learned.memory,
        "seed": config.seed,
        "signature": str(signed),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": list(config.command),
    }


def provenance(
    config: AlignConfig, learned: Mapping[str, Learned], joint: Joint | None, before: Mapping[str, Any]
) -> Provenance:
    """How the space was made, for its manifest; criterion and verdict are of the least confident language.

    `before` are further entries, such as the time and memory for reading the files.
    """
    least = learned[weakest(learned)]
    methods = dict.fromkeys(one.alignment.method for one in learned.values())
    more: dict[str, Any] = {"candidates": [candidate.as_json() for candidate in least.candidates], **before}
    more |= _supervision(config, least)
    if joint is not None:
        more["joint"] = joint.as_json()
    return Provenance(
        method="+".join(methods),
        settings={**recorded(config), "refinement": refinement(config), "rounds": first_rounds(config)},
        seed=config.seed,
        criterion=least.alignment.criterion,
        verdict=least.verdict,
        inputs=_inputs(config),
        more=more,
    )


def differences(config: AlignConfig, made: Manifest, *, untrained: Collection[str] = ()) -> list[str]:
    """How a space that is there differs from what `config` would make, as far as is recorded of it.

    Files are the same if their checksums are; pipes and arrays have none. Vectors of `untrained` languages
    are not there yet. With `into`, the languages that are added are compared.
    """
    found = []
    base = set() if config.into is None else set(read_manifest(config.into).languages)
    if {*made.languages} != {*config.src, config.pivot} | base or made.pivot != config.pivot:
        found.append(f"its languages {', '.join(made.languages)} with the pivot {made.pivot}")
    if config.into is None:
        found += _other_settings(config, made)
        if not _same_files(made.inputs, _inputs(config)):
            found.append(
                "another --dictionary, --via, --text-pairs, or source of help (--encoder, --help-from ...)"
            )
    for language in config.src if config.into is not None else (*config.src, config.pivot):
        record = made.languages.get(language)
        if record is not None and (
            language in untrained or not _same_files(record.files, files_of(config, language))
        ):
            found.append(f"other vectors of {language}")
    return found


def _other_settings(config: AlignConfig, made: Manifest) -> Iterator[str]:
    of_words = made.language(made.pivot).ranked and any(one.ranked for one in made.mapped)
    if not of_words and config.reweight is None:
        config = replace(config, reweight=False)  # as unlabelled vectors would set it
    now = plain({**recorded(config), "seed": config.seed})
    then = {**made.settings, "seed": made.seed}
    for name, one in options_of(AlignConfig).items():
        if one.compared and name in then and then[name] != now[name]:
            yield f"{one.flag} {_shown(then[name])} (now {_shown(now[name])})"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _same_files(made: Sequence[InputFile], now: Sequence[Path] | None) -> bool:
    if now is None or any(one.sha256 is None for one in made):
        return True  # nobody can tell
    return [one.sha256 for one in made] == [input_file(path).sha256 for path in now]


def _inputs(config: AlignConfig) -> tuple[Path, ...]:
    """The files of the dictionary, detours, an encoder or program, and text pairs; arrays have none.

    The manifest stands for a space that helps: it has the checksums of the others.
    """
    over = (source_of(config, language) for language in config.via)
    space = None if config.help_from is None else config.help_from / MANIFEST
    others = [config.encoder, *config.encoder_emb, space, config.evidence, config.text_pairs]
    return tuple(one for one in (config.dictionary, *over, *others) if isinstance(one, Path))


def signature_of(config: AlignConfig, source: str, learned: Learned, words: Mapping[str, int]) -> Signature:
    """The signature of the mapping of a language; `words` has the number of words of each."""
    target, how = config.pivot, refinement(config)
    more, matching = ["no-refine" if how is None else "refine"], "csls:10"
    if refines_plainly(config):
        more = ["refine:plain"]
    if isinstance(how, TransportConfig):
        matching = f"transport:{how.epsilon:g}"
    elif how is not None:
        matching = str(how.retrieval)
    if config.recipe is not None:  # with the parts of it that were given otherwise
        but = ",".join(departures(config))
        more.append(f"recipe:{config.recipe}" + (f" but {but}" if but else ""))
    return Signature(
        matching, f"{source}-{target}", ",".join(config.normalise) or "none", learned.alignment.method,
        seed=config.seed, vocabulary=(words[source], words[target]),
        more=tuple([*more, "joint"] if config.joint else more),
    )  # fmt: skip
