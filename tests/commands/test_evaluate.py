"""`muse evaluate`: tasks as commands and as an option, two spaces compared, hubness and bad input."""

from pathlib import Path

import pytest

from muse.space import save_space
from tests.support.command import Command, refused, refused_leaving
from tests.support.spaces import PROVENANCE, sides_to_save


@pytest.fixture
def space(space: Path, here: Path) -> Path:
    gold = "".join(f"fr{i} en{(7 * i) % 40}\n" for i in range(30))
    (here / "gold.txt").write_text(f"{gold}nosuch en1\n")
    rated = "".join(f"fr{i}\ten{i}\t{(11 * i) % 5}\n" for i in range(30))
    (here / "rated.txt").write_text(f"{rated}nosuch\ten1\t4\n")
    return space


def words(space: Path, *more: object) -> list[object]:
    return ["evaluate", space, "--dictionary", space.parent / "gold.txt", *more]


def rated(space: Path, *more: object) -> list[object]:
    return ["evaluate", space, "--task", "similarity", "--pairs", space.parent / "rated.txt", *more]


def test_words(muse: Command, space: Path) -> None:
    fields = muse(*words(space, "--json")).json
    assert (fields["queries"], fields["covered"]) == (31, 30)
    assert fields["mrr_ci95"][0] <= fields["mrr"] == fields["map"] <= fields["mrr_ci95"][1]
    assert [(band["name"], band["queries"]) for band in fields["bands"]] == [("1-39", 30)]
    assert {part["name"] for part in fields["parts"]} == {"different", "number"}
    shown = muse(*words(space)).out
    assert f"MRR = {fields['mrr']:.3f} [" in shown
    assert "  1-39         P@1 = " in shown


def test_similarity(muse: Command, space: Path) -> None:
    fields = muse(*rated(space, "--json")).json
    assert (fields["pairs"], fields["covered"]) == (31, 30)
    assert -1 <= fields["spearman"] <= 1
    assert fields["pearson_ci95"][0] <= fields["pearson"] <= fields["pearson_ci95"][1]
    shown = muse(*rated(space)).out
    assert shown.startswith("Pearson = ")
    assert "rated.txt@" in shown.splitlines()[0]
    assert shown.splitlines()[-1] == "coverage 30/31"


def test_a_space_against_itself(muse: Command, space: Path) -> None:
    fields = muse(*words(space, "--against", space, "--json")).json
    against = fields["against"]
    assert (against["difference"], against["p_value"], against["queries"]) == (0, 1, 30)
    assert (against["p_at_1"], against["signature"]) == (fields["p_at_1"], fields["signature"])
    assert "difference = +0.0 [+0.0, +0.0], p = 1.0000" in muse(*words(space, "--against", space)).out


def test_every_retrieval_is_compared(muse: Command, space: Path) -> None:
    more = ["--retrieval", "nn", "--retrieval", "csls", "--hubness", "--against", space, "--json"]
    fields = muse(*words(space, *more)).json
    assert list(fields) == ["nn", "csls", "hubness"]
    assert fields["nn"]["against"]["difference"] == fields["csls"]["against"]["difference"] == 0


def test_hubness(muse: Command, space: Path) -> None:
    found = muse(*words(space, "--hubness", "--json")).json["hubness"]
    assert list(found) == ["nn", "csls"]
    assert sum(count for _, count in found["nn"]["largest"]) <= 39 * 10
    assert "hubness with csls:10: skewness of the 10-occurrence" in muse(*words(space, "--hubness")).out


def test_spaces_that_cannot_be_compared(muse: Command, space: Path) -> None:
    other = space.parent / "other"
    save_space(other, sides_to_save("de"), pivot="en", provenance=PROVENANCE)
    refused(muse(*words(space, "--against", other)), "both contain fr and en", "en, de")
    save_space(other, sides_to_save("fr"), pivot="fr", provenance=PROVENANCE)
    refused(muse(*words(space, "--against", other)), "the same pivot, got en and fr")
    refused(muse(*words(space, "--against", space.parent / "nosuch")), "nosuch")


BAD_RATINGS = {
    "one rating gone": (
        b"fr1\ten1\t3\nfr2\ten2\n",
        ["rated.txt:2: expected 3 columns, ", "got 2 ('fr2 | en2')"],
    ),
    "no numbers": (b"fr1\ten1\thigh\n", ["rated.txt:1"]),
    "a header alone": (b"word1\tword2\tscore\n", ["rated.txt: expected word, second word, rating"]),
    "empty": (b"", ["rated.txt: expected content"]),
    "missing": (None, ["rated.txt: expected a file"]),
}


@pytest.mark.parametrize("name", BAD_RATINGS)
def test_bad_ratings(muse: Command, space: Path, name: str) -> None:
    content, parts = BAD_RATINGS[name]
    path = space.parent / "rated.txt"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    refused_leaving(space.parent, muse, rated(space), *parts)


def test_a_pair_that_is_rated_twice_is_told(muse: Command, space: Path) -> None:
    path = space.parent / "rated.txt"
    path.write_text("fr1\ten1\t3\nfr2\ten2\t1\nfr3\ten4\t2\nfr2\ten2\t1\n")
    assert "repeated" not in muse(*rated(space)).err
    path.write_text(path.read_text() + "fr1\ten1\t0.5\n")
    ended = muse(*rated(space))
    assert (
        "rated.txt: 1 pair repeated with another rating, the first counts, such as of 'fr1' and" in ended.err
    )
    assert "coverage 3/3" in ended.out


def test_a_task_is_a_command_or_an_option(muse: Command, space: Path) -> None:
    gold, ratings = space.parent / "gold.txt", space.parent / "rated.txt"
    asked = ["words", space, "--dictionary", gold, "--json"]
    assert muse("evaluate", *asked).json == muse(*words(space, "--json")).json
    assert muse("evaluate", "--dictionary", gold, "--json", "--task", "words", space).json["covered"] == 30
    for before in (["similarity", space], [space, "--task=similarity"], ["--task", "similarity", space]):
        assert muse("evaluate", *before, "--pairs", ratings, "--json").json["pairs"] == 31


def test_a_space_may_have_the_name_of_a_task(muse: Command, space: Path, here: Path) -> None:
    space.rename(here / "words")
    assert muse("evaluate", "./words", "--dictionary", "gold.txt").code == 0
    assert muse("evaluate", "words", "words", "--dictionary", "gold.txt").code == 0
    refused(muse("evaluate", "words", "--dictionary", "gold.txt"), "Missing argument 'SPACE'", code=2)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("words space", "Missing option '--dictionary'"),
        ("rows space", "evaluate rows needs --pairs FILE, or --source FILE and --target FILE."),
        (
            "words space --encoder x",
            "--encoder is for evaluate sentences, mining, sts, relatedness, nli, transfer, probe or links, "
            "not for words.",
        ),
        ("words space --dictionary gold.txt --retrieval margin", "margin is for evaluate sentences."),
        ("sts space --src fr --pairs x --fit task", "--fit task is for evaluate transfer"),
        ("nli space --pairs a --data b", "--pairs takes one value, got a, b; leave one."),
        ("words space --retrievl x", "No such option '--retrievl'. Did you mean '--retrieval'?"),
        ("wrds space --dictionary gold.txt", "'wrds'. Did you mean 'words'?"),
        ("space --task", "Option '--task' requires an argument."),
        ("--json", "Missing option '--dictionary'"),
    ],
    ids=str,
)
def test_usage_of_tasks(muse: Command, space: Path, here: Path, line: str, part: str) -> None:
    (here / "x").write_text("a,b,1\n")
    refused(muse("evaluate", *line.split()), part, code=2)


def test_help_lists_the_tasks(muse: Command, space: Path) -> None:
    shown = muse("evaluate", "--help").out
    assert "  similarity   Correlation of cosines with rated word pairs." in shown
    assert len(shown.splitlines()) < 40
    assert muse("evaluate", "space", "--task", "sts", "--help").out.startswith("Usage: muse evaluate sts ")


def test_a_dictionary_of_other_languages_is_named(muse: Command, space: Path) -> None:
    pairs = [f"fr{row} en{row}" for row in range(4)] + [f"de{row} de{row}" for row in range(60)]
    other = space.parent / "other.txt"
    other.write_text("\n".join(pairs), encoding="utf-8")
    ended = muse("evaluate", space, "--dictionary", other)
    assert ended.code == 0
    assert ended.err == (
        "is the dictionary of fr and en? 94 % of its pairs are two identical strings and 6 % are known; "
        "check its languages, and --max-vocab\n"
    )
    assert muse(*words(space)).err == ""
