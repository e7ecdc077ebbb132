"""Systems trained on the toy text, and a folder with the files that they are trained on."""

from collections.abc import Mapping
from pathlib import Path

from muse.normalise import Normalisation
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.systems.registry import TrainedSystem, train_system
from muse.sentences.systems.system import TrainingRequest
from muse.space import SideToSave, save_space
from muse.vectors import Vectors
from tests.support.parallel import WORDS, part_of, rows, toy_space, toy_text, write_text
from tests.support.spaces import PROVENANCE

OTHERS = {"fr": 300, "de": 100}  # the pairs of each language with en
LABELS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
HEADER = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\tSemEval_set\n"


def set_options(*given: str, **settings: object) -> list[str]:
    """The options --set of settings, given as KEY=VALUE or by name."""
    pairs = [*given, *(f"{name}={value}" for name, value in settings.items())]
    return [part for pair in pairs for part in ("--set", pair)]


def texts_of(folder: Path, ending: str = "txt", languages: tuple[str, ...] = ("en", "fr")) -> list[str]:
    """The options --text of the files of languages in a folder."""
    return [part for name in languages for part in ("--text", f"{name}={folder / name}.{ending}")]


def text_of_three() -> dict[str, list[tuple[str, str]]]:
    """The pairs of en with fr, and with de, whose words are called otherwise."""
    german = [(en, fr.replace("fr", "de")) for en, fr in toy_text(OTHERS["de"], seed=1)]
    return {"fr": toy_text(OTHERS["fr"]), "de": german}


def folder_of_three(folder: Path) -> Path:
    """The folder with a space of three languages, their text, documents, parallel text and inferences."""
    (en, fr), steps = rows(), Normalisation(("unit",), ())
    sides = {
        name: SideToSave(Vectors(name, [f"{name}{i}" for i in range(WORDS)], matrix), steps)
        for name, matrix in {"en": en, "fr": fr, "de": fr[:, ::-1].copy()}.items()
    }
    save_space(folder / "space", sides, pivot="en", provenance=PROVENANCE)
    text = text_of_three()
    sentences = {name: [other for _, other in pairs] for name, pairs in text.items()}
    english = sentences["en"] = [en for en, _ in text["fr"]]
    for name, lines in sentences.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        novels = [f"{place // 20}\t{line}\n" for place, line in enumerate(lines)]
        (folder / f"{name}.novels").write_text("".join(novels), encoding="utf-8")
    for name, pairs in text.items():
        write_text(folder / f"{name}.tsv", pairs)
    lines = [f"{i}\t{text}\t{text}\t{LABELS[i % 3]}\t{part_of(i)}\n" for i, text in enumerate(english[:60])]
    (folder / "nli").write_text(HEADER + "".join(lines), encoding="utf-8")
    return folder


def train_on_toy(
    system: str, folder: Path, settings: Mapping[str, str], trainer: Mapping[str, float], ends: str = ""
) -> TrainedSystem:
    """The system after training on 600 pairs of the toy text; space, text and `out` are in the folder.

    Sentences end in each of the characters `ends` in turn.
    """
    marks = list(ends) or [""]
    pairs = [
        (f"{english}{marks[i % len(marks)]}", f"{other}{marks[i % len(marks)]}")
        for i, (english, other) in enumerate(toy_text(600))
    ]
    request = TrainingRequest(
        toy_space(folder / "space"), "fr", folder / "out",
        parallel=(write_text(folder / "pairs.tsv", pairs),), settings=settings, trainer=trainer,
    )  # fmt: skip
    return train_system(system, request, Runtime(progress=Progress(quiet=True)))
