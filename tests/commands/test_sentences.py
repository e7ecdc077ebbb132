"""`muse mine` and the tasks of `muse evaluate` on sentences, through the command line, with all bad input."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from muse.files.space_folder import checksum
from muse.sentences.encoders.saving import ARRAYS
from muse.sentences.loading import load_encoder
from muse.space import SideToSave, load_space, save_space
from tests.support.command import Command, refused, tree
from tests.support.spaces import PROVENANCE, side_to_save

WORDS = 40
DIMENSION = 16


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A saved space fr, en of which word i of one translates word i of the other, and texts in both."""
    rows = np.random.default_rng(0).normal(0.3, 2, (WORDS, DIMENSION)).astype(np.float32)
    sides: dict[str, SideToSave] = {
        language: side_to_save(language, rows, plain=True) for language in ("en", "fr")
    }
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    rng = np.random.default_rng(1)
    lines = [rng.choice(WORDS, size=int(rng.integers(2, 9)), replace=False) for _ in range(120)]
    for language in ("fr", "en"):
        write(
            tmp_path / f"{language}.txt", [" ".join(f"{language}{word}" for word in line) for line in lines]
        )
    return tmp_path / "space"


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def texts(space: Path) -> list[object]:
    return ["--source", space.parent / "fr.txt", "--target", space.parent / "en.txt"]


def sentences(space: Path, *more: object) -> list[object]:
    return ["evaluate", space, "--task", "sentences", *more]


def pairs_of(space: Path) -> list[tuple[str, str]]:
    fr, en = ((space.parent / f"{name}.txt").read_text().splitlines() for name in ("fr", "en"))
    return list(zip(fr, en, strict=True))


def joined(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return ["\t".join(pair) for pair in pairs]


def mining(space: Path, *more: object) -> list[object]:
    out = space.parent / "out.tsv"
    return ["mine", space, "--src-lang", "fr", "--tgt-lang", "en", *texts(space), "--out", out, *more]


def test_translations_of_sentences_are_found(muse: Command, space: Path) -> None:
    fields = muse(*sentences(space, *texts(space), "--json")).json
    assert (fields["p_at_1"], fields["queries"], fields["empty"]) == (100, 120, 0)
    assert fields["p_at_1"] <= fields["p_at_5"] <= fields["p_at_10"]
    assert fields["ci95"] == [96.9, 100]
    for part in ("csls:10", "fr-en", "fr.txt@", "+en.txt@", "encoder:mean", "vocab:40/40", "seed:7"):
        assert part in fields["signature"]
    assert "P@1 = 100.0 [96.9, 100.0] | csls:10" in muse(*sentences(space, *texts(space))).out


def test_a_signature_tells_saved_encoders_of_one_name_apart(muse: Command, space: Path) -> None:
    def weights(encoder: object, *more: object) -> str | None:
        asked = sentences(space, *texts(space), "--encoder", encoder, *more, "--json")
        named = re.findall(r" weights:(\S+)", muse(*asked).json["signature"])
        assert len(named) <= 1
        return named[0] if named else None

    loaded, folder = load_space(space), space.parent
    text = (folder / "fr.txt").read_text(encoding="utf-8").splitlines()
    for name, read in (("one", text), ("same", text), ("other", text[:20])):
        load_encoder("idf", loaded).fit(read, "fr").save(folder / name)
    one, same, other = (weights(folder / name) for name in ("one", "same", "other"))
    assert one == same != other
    assert one == checksum(folder / "one" / ARRAYS)[:4]
    fit = [part for name in ("fr", "en") for part in ("--fit", f"{name}={folder / name}.txt")]
    assert weights(f"{folder / 'one'}+centre", *fit) == one
    assert weights(f"mean & {folder / 'one'} & {folder / 'other'}") == f"{one}+{other}"
    assert weights("mean & idf") is None


def test_every_retrieval_and_both_ways(muse: Command, space: Path) -> None:
    methods = ("nn", "csls", "isf", "margin")
    chosen = [part for method in methods for part in ("--retrieval", method)]
    fields = muse(*sentences(space, *texts(space), *chosen, "--both-ways", "--json")).json
    assert tuple(fields) == (*methods, "reverse")
    assert "margin:4 | fr-en" in fields["margin"]["signature"]
    assert "margin:4 | en-fr" in fields["reverse"]["margin"]["signature"]


def test_one_file_of_two_columns_has_the_pivot_first(muse: Command, space: Path) -> None:
    path = write(space.parent / "both.tsv", joined((en, fr) for fr, en in pairs_of(space)))
    for direction in (["--src", "fr"], ["--src", "en", "--tgt", "fr"]):
        fields = muse(*sentences(space, "--parallel", path, *direction, "--json")).json
        assert (fields["p_at_1"], fields["queries"]) == (100, 120)


def test_an_encoder_is_fitted_before_it_is_used(muse: Command, space: Path) -> None:
    fit = [part for name in ("fr", "en") for part in ("--fit", f"{name}={space.parent / name}.txt")]
    fields = muse(*sentences(space, *texts(space), "--encoder", "mean+znorm", *fit, "--json")).json
    assert "encoder:mean+znorm" in fields["signature"]
    refused(muse(*sentences(space, *texts(space), "--encoder", "mean+znorm")), "--fit")


def test_similarity_of_sentences(muse: Command, space: Path) -> None:
    rng = np.random.default_rng(2)
    pairs = [(rng.choice(WORDS, 6, replace=False), int(rng.integers(6))) for _ in range(60)]
    for name in ("fr", "en"):
        rows = []
        for words, shared in pairs:  # as many words in common as the rating says
            first, second = words[:5], [*words[:shared], *((words[shared:5] + 7) % WORDS)]
            cells = [" ".join(f"{name}{word}" for word in side) for side in (first, second)]
            rows.append(f"{cells[0]},{cells[1]},{shared}")
        write(space.parent / f"{name}.csv", rows)
    one = ["evaluate", space, "--task", "sts", "--src", "fr", "--pairs", space.parent / "fr.csv"]
    fields = muse(*one, "--json").json
    assert (fields["pairs"], fields["empty"]) == (60, 0)
    assert fields["spearman"] > 0.7
    assert fields["spearman_ci95"][0] < fields["spearman"] < fields["spearman_ci95"][1]
    across = muse(*one, "--tgt", "en", "--target-pairs", space.parent / "en.csv", "--json").json
    assert across["spearman"] == pytest.approx(fields["spearman"], abs=1e-6)
    assert "fr.csv@" in across["signature"]
    assert "+en.csv@" in across["signature"]
    assert muse(*one).out.startswith("Pearson = ")
    (space.parent / "en.csv").write_text("en1,en2,3\n" * 60)
    refused(
        muse(*one, "--tgt", "en", "--target-pairs", space.parent / "en.csv"), "the same pair, got the rating"
    )
    (space.parent / "en.csv").write_text((space.parent / "fr.csv").read_text().rsplit("\n", 2)[0] + "\n")
    refused(muse(*one, "--tgt", "en", "--target-pairs", space.parent / "en.csv"), "row 60 of", "and none in")
    refused(muse(*one, "--tgt", "en"), "--tgt is for --target-pairs, got none", code=2)


@pytest.fixture
def task(space: Path) -> Path:
    """A folder of sentences with the class of each, by its first word."""
    folder = space.parent / "task"
    folder.mkdir()
    rng = np.random.default_rng(3)
    lines = [(place % 2, rng.choice(np.arange(2, WORDS), 3)) for place in range(80)]
    for name in ("fr", "en"):
        words = [
            " ".join([f"{name}{label}"] * 3 + [f"{name}{word}" for word in rest]) for label, rest in lines
        ]
        write(folder / f"{name}.txt", words)
    write(folder / "labels.txt", ["yes" if label else "no" for label, _ in lines])
    return folder


def test_transfer(muse: Command, space: Path, task: Path) -> None:
    command = ["evaluate", space, "--task", "transfer", "--data", task, "--runs", 2]
    fields = muse(*command, "--json").json
    assert fields["learned"] == "en"
    score = fields["tested"]["fr"]["macro_f1"]
    assert score["transfer"] == score["in_language"] == score["source"] == 100
    assert score["drop"] == 0
    for part in ("logistic | en-fr", "task@", "encoder:mean", "runs:2", "drawn:0"):
        assert part in score["signature"]
    assert "in fr itself 100.0" in muse(*command).out


def test_transfer_with_moments_of_its_own_text_and_two_spaces(muse: Command, space: Path, task: Path) -> None:
    command = ["evaluate", space, "--task", "transfer", "--data", task, "--runs", 2]
    more = ["--encoder", "power-mean&mean+znorm", "--also", space, "--fit", "task", "--json"]
    fields = muse(*command, *more).json
    score = fields["tested"]["fr"]["macro_f1"]
    assert score["transfer"] == 100
    assert "encoder:power-mean[-inf,1,inf]&mean+znorm | also:space | fit:task | runs:2" in score["signature"]
    files = [part for name in ("fr", "en") for part in ("--fit", f"{name}={task / name}.txt")]
    same = muse(*command, *more[:4], *files, "--json").json["tested"]["fr"]["macro_f1"]
    assert same["transfer_ci95"] == score["transfer_ci95"]
    assert "fit:task" not in same["signature"]
    refused(
        muse(*sentences(space, *texts(space), "--fit", "task")), "--fit task is for --task transfer", code=2
    )


def test_probes(muse: Command, space: Path) -> None:
    files = [part for name in ("fr", "en") for part in ("--text", f"{name}={space.parent / name}.txt")]
    command = ["evaluate", space, "--task", "probe", *files, "--probe", "length", "--probe", "language"]
    fields = muse(*command, "--json").json
    assert set(fields) == {"length", "language"}
    assert set(fields["length"]) == {"fr", "en"}
    assert fields["language"]["chance"] == 50
    assert fields["length"]["fr"]["chance"] == pytest.approx(100 / fields["length"]["fr"]["classes"])
    assert "language = " in muse(*command).out
    mine = ["--text", f"fr={space.parent / 'fr.txt'}"]
    alone = ["evaluate", space, "--task", "probe", *mine, "--probe", "language"]
    refused(muse(*alone), "two languages or more", code=2)


def test_probes_of_style_are_made_where_they_are_asked_for(muse: Command, space: Path) -> None:
    rng = np.random.default_rng(7)
    files: list[object] = []
    for language, article in (("fr", "le"), ("en", "the")):
        words = [" ".join(f"{language}{word}" for word in rng.integers(2, WORDS, 4)) for _ in range(120)]
        lines = [f"{article} {text}{' ,' * (place % 2)} ." for place, text in enumerate(words)]
        files += ["--text", f"{language}={write(space.parent / f'style.{language}', lines)}"]
    command = ["evaluate", space, "--task", "probe", *files, "--json"]
    fields = muse(*command, "--probe", "signs", "--probe", "first-sign", "--probe", "gender").json
    assert {name: set(found) for name, found in fields.items()} == {
        "signs": {"fr", "en"}, "first-sign": {"fr", "en"}, "gender": {"fr"},
    }  # fmt: skip
    assert all(one["chance"] == 50 for found in fields.values() for one in found.values())
    refused(muse(*command[:4], *files[2:], "--probe", "gender"), "one of es, fr, it", "got en")


def test_probes_whose_classes_are_given(muse: Command, space: Path) -> None:
    rng = np.random.default_rng(5)
    drawn = [
        (part, int(rng.integers(2)))
        for part, count in (("tr", 120), ("va", 30), ("te", 50))
        for _ in range(count)
    ]
    words = [" ".join(f"fr{word}" for word in rng.choice(np.arange(2, WORDS), 3)) for _ in drawn]
    lines = [
        f"{part}\t{'AB'[label]}\tfr{label} fr{label} {rest}"
        for (part, label), rest in zip(drawn, words, strict=True)
    ]
    tense = write(space.parent / "tense.txt", lines)
    command = ["evaluate", space, "--task", "probe", "--src", "fr", "--labelled", tense]
    command += ["--classifier", "mlp"]
    fields = muse(*command, "--json").json["tense"]["fr"]
    assert fields["accuracy"] == 100
    assert (fields["classes"], fields["trained"], fields["tested"]) == (2, 120, 50)
    most = max(Counter(label for part, label in drawn).values()) / len(drawn)
    assert fields["chance"] == pytest.approx(100 * most)
    refused(muse(*command, "--folds", 4), "--folds is for --text, got none", code=2)
    refused(
        muse(*(word for word in command if word not in ("--src", "fr"))),
        "--labelled is for --lang, got none",
        code=2,
    )


def test_relatedness_is_learned(muse: Command, space: Path) -> None:
    rng = np.random.default_rng(6)
    for name in ("train", "test"):
        rows = []
        for _ in range(120):  # what matters is whether the first word, said three times, is the same
            one, other, *rest = rng.choice(WORDS, 6, replace=False)
            first = one if rng.integers(2) else other
            sides = [[one] * 3 + rest[:2], [first] * 3 + rest[2:]]
            said = [" ".join(f"fr{word}" for word in side) for side in sides]
            rows.append(f"{said[0]},{said[1]},{5 if first == one else 1}")
        write(space.parent / f"{name}.csv", rows)
    files = ["--train-pairs", space.parent / "train.csv", "--pairs", space.parent / "test.csv"]
    command = ["evaluate", space, "--task", "relatedness", "--src", "fr", *files]
    fields = muse(*command, "--json").json
    assert fields["pearson"] > 0.9
    assert (fields["pairs"], fields["trained"]) == (120, 120)
    assert "regression | fr-fr" in fields["signature"]
    assert "train:train.csv@" in fields["signature"]
    refused(muse(*command[:-4], *files[2:]), "Missing option '--train-pairs'", code=2)


@pytest.mark.parametrize("score", ["margin", "csls", "cosine"])
def test_pairs_are_mined(muse: Command, space: Path, score: str) -> None:
    target = (space.parent / "en.txt").read_text().splitlines()
    write(space.parent / "en.txt", target[::-1])
    source = (space.parent / "fr.txt").read_text().splitlines()
    write(space.parent / "fr.txt", [*source, source[3], "", "  ", "unheard", "fr1\tfr2\tfr3\tfr4"])
    ended = muse(*mining(space, "--score", score, "--json"))
    fields = ended.json
    out = Path(fields["out"])
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert fields["pairs"] == len(rows) >= 120
    assert all(len(row) == 3 for row in rows)
    scores = [float(row[0]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    wanted = dict(zip(source, target, strict=True))
    found = {row[1]: row[2] for row in rows}
    assert sum(found.get(one) == other for one, other in wanted.items()) >= 119
    assert fields["source"] == {"lines": 125, "empty": 2, "repeated": 1, "unknown": 1}
    assert fields["target"] == {"lines": 120, "empty": 0, "repeated": 0, "unknown": 0}
    assert "encoder:idf[rank]" in fields["signature"]


def test_a_threshold_and_what_is_printed(muse: Command, space: Path) -> None:
    everything = muse(*mining(space, "--json")).json["pairs"]
    out = space.parent / "out.tsv"
    middle = float(out.read_text().splitlines()[everything // 2].split("\t")[0])
    ended = muse(*mining(space, "--threshold", middle))
    kept = [float(line.split("\t")[0]) for line in out.read_text().splitlines()]
    assert 0 < len(kept) < everything
    assert min(kept) >= middle - 1e-4  # four decimals are written
    assert ended.out == f"{len(kept)} pairs in {out} | margin:4 | encoder:idf[rank]\n"
    assert muse(*mining(space, "--threshold", 1e6, "--json")).json["pairs"] == 0
    assert out.read_text() == ""


def test_a_signature_names_the_text_that_the_encoder_learned_from(muse: Command, space: Path) -> None:
    command = sentences(space, *texts(space), "--encoder", "idf", "--json")
    fit = f"fr={space.parent / 'fr.txt'}"
    one = muse(*command, "--fit", fit).json["signature"]
    both = muse(*command, "--fit", fit, "--fit", f"en={space.parent / 'en.txt'}").json["signature"]
    assert "fit:" not in muse(*command).json["signature"]
    (named,) = [part for part in one.split(" | ") if part.startswith("fit:")]
    assert named.startswith("fit:fr=fr.txt@")
    assert f"| {named}+en=en.txt@" in both
    write(space.parent / "fr.txt", [*(space.parent / "fr.txt").read_text().splitlines()[::-1]])
    changed = muse(*command, "--fit", fit).json["signature"]
    assert f"| {named} |" in one
    assert f"| {named} |" not in changed


def bad_sentences(folder: Path) -> dict[str, tuple[list[object], str, int]]:
    """What cannot be evaluated, what is said of it, and the exit code."""
    fr, en = folder / "fr.txt", folder / "en.txt"
    files, texts = ["--source", fr, "--target", en], ["--source", fr, "--target"]
    short = write(folder / "short.txt", ["en1", "en2"])
    empty = write(folder / "empty.txt", [])
    few = write(folder / "few.csv", ["fr1,fr2,3"])
    sts, probe = ["--task", "sts", "--src", "fr", "--pairs"], ["--task", "probe", "--text"]
    return {
        "unequal counts": ([*texts, short], r"got 120 in .*, 2 in .*short.txt", 1),
        "empty file": (["--source", empty, "--target", empty], "empty.txt: expected content", 1),
        "no file": (["--source", folder / "no.txt", "--target", short], "no.txt", 1),
        "one column": (["--parallel", short], "short.txt:1: expected 2 columns", 1),
        "wrong language": ([*files, "--src", "de"], "got 'de'", 1),
        "unknown encoder": ([*files, "--encoder", "magic"], "got 'magic'", 1),
        "no encoder": ([*files, "--encoder", folder / "nosuch"], "nosuch", 1),
        "fit of another": ([*files, "--fit", f"de={short}"], "got 'de'", 1),
        "sts few": ([*sts, few], "at least 3 rated pairs", 1),
        "sts language": (["--task", "sts", "--src", "de", "--pairs", few], "got 'de'", 1),
        "no folder": (["--task", "transfer", "--data", folder / "nosuch"], "nosuch: .* LANG.txt", 1),
        "probe language": ([*probe, f"de={short}"], "got 'de'", 1),
        "probe of little": ([*probe, f"en={short}"], "give more text", 1),
        "no text": ([], "needs --source FILE and --target FILE, or --parallel FILE", 2),
        "both": ([*files, "--parallel", fr], "--parallel replaces --source and --target", 2),
        "no language": (["--task", "sts", "--pairs", few], "Missing option '--src'", 2),
        "no pairs": (["--task", "sts"], "Missing option '--pairs'", 2),
        "no data": (["--task", "transfer"], "Missing option '--data'", 2),
        "nothing to probe": (["--task", "probe"], "--task probe needs --text LANG=FILE", 2),
        "no LANG=": ([*probe, "fr"], "--text needs LANG=FILE, got 'fr'", 2),
        "fit of none": ([*files, "--fit", "x.txt"], "got 'x.txt'; write its language before it, as in", 2),
        "fit twice": ([*files, "--fit", f"fr={fr}", "--fit", f"fr={en}"], "each language once", 2),
        "another task": (["--task", "words", "--dictionary", few, "--retrieval", "margin"],
                         "margin is for --task sentences", 2),
    }  # fmt: skip


def test_bad_input_of_evaluate(muse: Command, space: Path) -> None:
    cases = bad_sentences(space.parent)
    before = tree(space.parent)
    for arguments, message, code in cases.values():
        ended = muse(*sentences(space, *arguments))
        refused(ended, code=code)
        assert re.search(message, " ".join(ended.err.split())), message
        assert tree(space.parent) == before


def test_bad_input_of_transfer(muse: Command, space: Path, task: Path) -> None:
    command = ["evaluate", space, "--task", "transfer", "--data", task]
    refused(muse(*command, "--tgt", "de"), "got 'de'")
    refused(muse(*command, "--src", "fr", "--tgt", "fr"), "two languages, got fr twice", code=2)
    labels = (task / "labels.txt").read_text().splitlines()
    write(task / "labels.txt", labels[:-3])
    refused(muse(*command), "got 80 in", "77 in", "labels.txt")
    write(task / "labels.txt", ["yes"] * 80)
    refused(muse(*command), "at least two classes, got 1")
    write(task / "labels.txt", ["yes"] * 77 + ["no"] * 3)
    refused(muse(*command), "at least 5 sentences of each class, got 3")
    (task / "fr.txt").unlink()
    refused(muse(*command), "LANG.txt for a language of the space other than en", "got en.txt, labels.txt")


@pytest.mark.parametrize(
    ("option", "tasks"),
    [
        (["--hubness"], "words"),
        (["--search", "auto"], "words or mining"),  # the default, but asked for
        (["--search", "exact"], "words or mining"),
        (["--target-pairs", "a"], "sts"),
        (["--runs", 5], "transfer"),
        (["--size", 60], "probe"),
        (["--classifier", "mlp"], "transfer or probe"),
    ],
    ids=str,
)
def test_options_of_another_task_are_refused(
    muse: Command, space: Path, option: list[object], tasks: str
) -> None:
    ended = muse(*sentences(space, *texts(space), *option))
    refused(ended, f"{option[0]} is for --task {tasks}, not for sentences.", code=2)


def test_neighbours_of_a_retrieval_without_any_are_refused(muse: Command, space: Path) -> None:
    asked = [*texts(space), "--neighbours", 4, "--retrieval", "nn"]
    refused(
        muse(*sentences(space, *asked)), "--neighbours is for --retrieval csls or margin, not for nn.", code=2
    )
    assert muse(*sentences(space, *asked, "--retrieval", "margin")).code == 0


def test_a_file_with_the_pivot_needs_the_pivot(muse: Command, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(WORDS, DIMENSION)).astype(np.float32)
    names = ("en", "fr", "de")
    sides: dict[str, SideToSave] = {language: side_to_save(language, rows, plain=True) for language in names}
    save_space(tmp_path / "three", sides, pivot="en", provenance=PROVENANCE)
    path = write(tmp_path / "both.tsv", ["fr1\tde1"])
    asked = sentences(tmp_path / "three", "--parallel", path, "--src", "fr", "--tgt", "de")
    refused(muse(*asked), "--parallel needs the pivot, en,", "--src fr and --tgt de")


def test_known_pairs_tell_the_best_threshold_and_what_another_is_worth(muse: Command, space: Path) -> None:
    lines = joined(pairs_of(space))
    gold = write(space.parent / "gold.tsv", [*lines[::2], "elsewhere\tnowhere", lines[0]])
    best = muse(*mining(space, "--gold", gold, "--json")).json["gold"]
    mined = [line.split("\t") for line in (space.parent / "out.tsv").read_text().splitlines()]
    right = np.array(["\t".join(pair) in lines[::2] for _, *pair in mined])
    f1 = 200 * right.cumsum() / (np.arange(1, len(right) + 1) + 60)
    assert (best["known"], best["f1"]) == (60, pytest.approx(f1.max()))
    assert best["threshold"] == pytest.approx(float(mined[f1.argmax()][0]), abs=1e-3)
    signature = muse(*mining(space, "--gold", gold, "--json")).json["signature"]
    parts = ("margin:4 | fr-en | ", " | vocab:40/40 | gold:gold.tsv@", " | encoder:idf[rank] | muse ")
    assert all(part in signature for part in parts)
    ended = muse(*mining(space, "--gold", gold, "--threshold", 1e3))
    assert ended.out.splitlines()[1].endswith(signature)
    assert ended.out.splitlines()[1].startswith("F1 = 0.0 at 1000 (precision 0.0, recall 0.0 of 60 known")
    swapped = write(gold, joined((two, one) for one, two in pairs_of(space)[::2]))
    assert muse(*mining(space, "--gold", swapped, "--json")).json["gold"]["f1"] == best["f1"]
    other = write(space.parent / "other.tsv", [f"x{line}" for line in lines])
    refused(muse(*mining(space, "--gold", other)), "other.tsv", "got none among 120", "belong together")


def test_pairs_of_ids_as_bucc_has_them(muse: Command, space: Path) -> None:
    lines = joined(pairs_of(space))
    gold = write(space.parent / "gold.tsv", lines[::2])
    asked = ["evaluate", "mining", space, *texts(space), "--json", "--gold", gold]
    wanted = muse(*asked).json
    for side, language in enumerate(("fr", "en")):
        numbered = [f"{language}-{n:09}\t{line.split(chr(9))[side]}" for n, line in enumerate(lines)]
        write(space.parent / f"{language}.txt", numbered)
    for first, second in (("fr", "en"), ("en", "fr")):
        write(gold, [f"{first}-{n:09}\t{second}-{n:09}" for n in range(0, 120, 2)])
        ended = muse(*asked)
        assert ended.json["f1"] == wanted["f1"] and ended.json["known"] == 60
        assert "fr.txt: what stands before the tabs are ids of the sentences" in ended.err
    assert muse(*mining(space)).code == 0
    assert not any("fr-0" in line for line in (space.parent / "out.tsv").read_text().splitlines())


def test_mining_is_evaluated_without_writing_pairs(muse: Command, space: Path) -> None:
    gold = write(space.parent / "gold.tsv", joined(pairs_of(space)[::2]))
    written = muse(*mining(space, "--gold", gold, "--json")).json
    before = tree(space.parent)
    asked = ["evaluate", "mining", space, *texts(space), "--gold", gold]
    found = muse(*asked, "--json").json
    assert found == {"pairs": written["pairs"], **written["gold"], "signature": written["signature"]}
    assert muse(*asked, "--threshold", 1e3).out.startswith("F1 = 0.0 at 1000 (precision 0.0")
    assert tree(space.parent) == before
    refused(muse(*asked[:-2]), "Missing option '--gold'", code=2)


def test_known_pairs_are_found_however_they_are_encoded(muse: Command, space: Path) -> None:
    plain = [(f"été {one} fin", f"été {two} fin") for one, two in pairs_of(space)]
    texts = ["--source", write(space.parent / "a.txt", [one for one, _ in plain])]
    texts += ["--target", write(space.parent / "b.txt", [two for _, two in plain])]
    gold = write(space.parent / "gold.tsv", joined(plain[::2]))
    expected = muse(*mining(space, *texts, "--gold", gold, "--json"))
    assert expected.json["gold"]["known"] == 60
    assert "left out: they" not in expected.err
    messy = [(normalize("NFD", one).replace(" ", "\u00a0 ") + " ", f"  {two}\u3000") for one, two in plain]
    gold = write(space.parent / "messy.tsv", joined([*messy[::2], ("x", "y")]))
    found = muse(*mining(space, *texts, "--gold", gold, "--json"))
    assert found.json["gold"] == expected.json["gold"]
    assert "messy.tsv: 1 of 61 pairs left out: they are no line of --source and line" in found.err
    # The same lines once more are repeated.
    write(space.parent / "a.txt", [*(one for one, _ in plain), *(one for one, _ in messy)])
    again = muse(*mining(space, *texts, "--gold", gold, "--json"))
    assert again.json["source"] == {**expected.json["source"], "lines": 240, "repeated": 120}
    assert again.json["gold"] == expected.json["gold"]


def test_bad_input_of_mine(muse: Command, space: Path) -> None:
    folder = space.parent
    empty = write(folder / "empty.txt", [])
    before = tree(folder)
    refused(muse(*mining(space, "--src-lang", "de")), "got 'de'")
    refused(muse(*mining(space, "--tgt-lang", "fr")), "two languages, got 'fr' twice", code=2)
    refused(muse(*mining(space, "--encoder", "magic")), "got 'magic'")
    refused(muse(*mining(space, "--source", empty)), "empty.txt", "expected content")
    refused(muse(*mining(space, "--source", folder / "no.txt")), "no.txt")
    refused(muse(*mining(space, "--out", empty / "out.tsv")), "expected a folder to write in, got the file")
    refused(muse(*mining(space, "--out", folder)), "expected the name of a file")
    refused(muse("mine", folder, *mining(space)[2:]), "manifest")
    refused(muse(*mining(space, "--score", "magic")), "magic", code=2)
    assert tree(folder) == before
