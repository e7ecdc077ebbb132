"""Links: Pharaoh's format, both directions joined, the hidden Markov model, what text teaches, and scores."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from muse.errors import BadFile, BadSetting
from muse.links.contextual import AT_ONCE, TokenEncoder
from muse.links.evaluation import counts_of, figures, read_gold
from muse.links.linker import Linker
from muse.links.links import Links, Symmetrisation, TokenPair, read_pharaoh, symmetrised
from muse.links.positions import LONGEST_JUMP, posteriors
from muse.links.sentence import is_tokenised
from muse.sentences.encoders.words import Lookup, PowerMean, TrainedEncoder
from muse.space import load_space, save_space
from tests.support.command import Command, process
from tests.support.spaces import PROVENANCE, raw_rows, rotation, side_to_save
from tests.support.tiny_bert import SPECIAL, save_tiny_bert

FR = [f"fr{n}" for n in range(60)]


def save(folder: Path) -> None:
    """A space in which word n of fr translates word n of en."""
    rows, turn = raw_rows(0, 500, 40), rotation(1, 40)
    sides = {"en": side_to_save("en", rows, plain=True)}
    sides["fr"] = side_to_save("fr", rows @ turn, turn, plain=True)
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def brute_force(emission: np.ndarray, jumps: np.ndarray, null: float) -> tuple[np.ndarray, float]:
    """The posteriors (s, t) and the likelihood, by going through all sequences of links."""
    s, t = emission.shape

    def step(a: int, b: int) -> float:
        return float(jumps[b - a + LONGEST_JUMP])

    found, total = np.zeros((s, t)), 0.0
    for links in product(range(s + 1), repeat=t):
        share, at = 1.0, 0
        for place, to in enumerate(links):
            if to == 0:
                share *= null
                continue
            share *= (1 - null) * step(at, to) / sum(step(at, one) for one in range(1, s + 1))
            share, at = share * emission[to - 1, place], to
        share *= step(at, s + 1) / sum(step(at, one) for one in range(1, s + 2))
        total += share
        for place, to in enumerate(links):
            if to:
                found[to - 1, place] += share
    return found / total, total


def test_posteriors_are_those_of_all_sequences_of_links() -> None:
    rng = np.random.default_rng(0)
    jumps = rng.random(2 * LONGEST_JUMP + 1)
    emission, lengths = rng.random((2, 3, 4)), np.array([4, 2])
    found, counts, loglik = posteriors(emission, lengths, jumps, 0.2)
    for one, length, values, log in zip(found, lengths, emission, loglik, strict=True):
        wanted, likelihood = brute_force(values[:, :length], jumps, 0.2)
        np.testing.assert_allclose(one[:, :length], wanted)
        assert not one[:, length:].any() and np.isclose(np.exp(log), likelihood)
    assert np.isclose(counts.sum(), found.sum())  # every link is the end of a jump


def test_pharaoh_is_written_and_read_again() -> None:
    links = read_pharaoh("2-0:0.250 0-1", "x:1")
    assert links.pharaoh(probabilities=True) == "0-1:1.000 2-0:0.250" and len(links) == 2
    with pytest.raises(BadFile, match="x:7: expected links such as 0-1"):
        read_pharaoh("0-1 a", "x:7")


def test_directions_are_joined() -> None:
    def flags(text: str) -> np.ndarray:
        made = np.zeros((4, 4), bool)
        made[tuple(zip(*[(i, j) for i, j, _ in read_pharaoh(text, "")], strict=True))] = True
        return made

    one, two = flags("0-0 1-1 1-2 3-3"), flags("0-0 1-1 2-1")
    ways: tuple[Symmetrisation, ...] = ("intersection", "union", "grow-diag", "grow-diag-final-and")
    joined = {how: Links.of(symmetrised(one, two, how), np.ones((4, 4))).pharaoh() for how in ways}
    assert joined["intersection"] == "0-0 1-1"
    assert joined["union"] == "0-0 1-1 1-2 2-1 3-3"
    assert joined["grow-diag"] == "0-0 1-1 1-2 2-1"  # 3-3 is beside none of them
    assert joined["grow-diag-final-and"] == "0-0 1-1 1-2 2-1 3-3"


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    save(tmp_path / "space")
    return Linker(load_space(tmp_path / "space"), ("fr", "en"))


def test_translations_are_linked_in_any_order_and_unknown_words_by_their_string(
    linker: Linker,
) -> None:
    found, empty = linker.link([("fr20 X-9 fr25".split(), "en20 en25 X-9".split()), ([], ["en20"])])
    assert found.pharaoh() == "0-0 1-2 2-1" and not len(empty)
    assert all(share > 0.5 for *_, share in found)


def test_text_teaches_words_that_the_space_lacks_and_a_dictionary_does(linker: Linker) -> None:
    rng = np.random.default_rng(0)
    text = []
    for _ in range(60):
        some = rng.choice(60, 4, replace=False)
        order = rng.permutation(5)
        source = [*(f"fr{n}" for n in some), "#1"]
        target = [*(f"en{n}" for n in some), "#one"]
        text.append((source, [target[place] for place in order]))
    asked = (["#1", "#2"], ["#two", "#one"])
    linker.learn(lambda: text, 1)
    assert "0-1" in linker.link([asked])[0].pharaoh()
    told = Linker(linker.space, ("fr", "en"), dictionary=[("#2", "#two")])
    assert "1-0" in told.link([asked])[0].pharaoh()


def test_what_was_learned_is_kept(linker: Linker, tmp_path: Path) -> None:
    text = [(FR[n : n + 3], [f"en{m}" for m in range(n, n + 3)]) for n in range(12)]
    linker.learn(lambda: text, 1)
    linker.save(tmp_path / "t.npz")
    again = Linker(linker.space, ("fr", "en"))
    again.load(tmp_path / "t.npz")
    for one, two in zip(linker.link(text), again.link(text), strict=True):
        assert one.pharaoh() == two.pharaoh()
        np.testing.assert_allclose(one.probability, two.probability, atol=1e-3)
    kept = dict(np.load(tmp_path / "t.npz"))
    damaged = {
        "jumps": kept["jumps"][:, :5], "temperature": np.zeros(1), "slots": kept["slots"][:-1],
        "values": kept["values"][:, None], "sums0": kept["sums0"] * np.nan, "seen1": kept["seen1"][1:],
        "languages": np.array([255], np.uint8), "version": np.array([0]), "size": np.array([4]),
    }  # fmt: skip
    for name, values in damaged.items():
        np.savez(tmp_path / "d.npz", **{**kept, name: values})
        with pytest.raises(BadFile, match="expected what muse link learned"):
            again.load(tmp_path / "d.npz")
    (tmp_path / "d.npz").write_bytes(b"PK")
    for path, error in ((tmp_path / "d.npz", "expected what muse link learned"), (tmp_path / "no", "exist")):
        with pytest.raises(BadFile, match=error):
            again.load(path)


def test_error_rate_as_in_its_paper() -> None:
    gold = read_pharaoh("0-0", "")
    assert len(gold) == 1
    # A = {00, 11, 12}, S = {00}, P = S + {11}: |A & S| = 1, |A & P| = 2
    counts = np.array([[3, 1, 2, 1]], float)
    assert figures(counts.sum(axis=0)).round(2).tolist() == [25.0, 66.67, 100.0, 80.0]


def test_gold_in_both_formats(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1-1 2p1\n\n2-2\n")
    (tmp_path / "b").write_text("0001 1 1 S\n0001 2 1 P\n3 2 2\n")
    (tmp_path / "c").write_text("0-0 1?0\n\n1-1\n")
    one, two, three = (read_gold(tmp_path / name).of(3) for name in "abc")
    assert one == two == three and one[0].possible == {(0, 0), (1, 0)} and one[0].sure == {(0, 0)}
    assert counts_of([frozenset({(0, 0), (0, 1)}), frozenset(), frozenset()], one).sum(axis=0).tolist() == [
        2,
        2,
        1,
        1,
    ]


def test_tokenised_text_is_recognised() -> None:
    assert is_tokenised(["oui , monsieur .", "non !"], "fr")
    assert not is_tokenised(["Oui, monsieur.", "Non."], "fr")


TEXT = "fr20 fr21 , fr22\n\nfr30 fr31\n", "en20 en21 , en22\n\nen31 en30\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save(tmp_path / "space")
    for name, text in zip(("a.fr", "a.en"), TEXT, strict=True):
        (tmp_path / name).write_text(text)
    (tmp_path / "gold").write_text("1-1 2-2 3-3 4-4\n\n1-2 2-1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_link_and_measure(muse: Command, folder: Path) -> None:
    done = muse("link", "space", "--source", "a.fr", "--target", "a.en", "--out", "a.links", "--json")
    wanted = {"sentences": 3, "links": 6, "empty": 1, "out": "a.links"}
    assert json.loads(done.out) == wanted
    assert (folder / "a.links").read_text() == "0-0 1-1 2-2 3-3\n\n0-1 1-0\n"
    (folder / "a.tsv").write_text("".join(map("{}\t{}\n".format, *(text.splitlines() for text in TEXT))))
    table = muse("link", "space", "--pairs", "a.tsv", "--format", "jsonl")
    last = json.loads(table.out.splitlines()[-1])
    assert [one[:2] for one in last["links"]] == [[0, 1], [1, 0]] and last["target_words"][1] == [
        "en30",
        5,
        9,
    ]
    words = ("evaluate", "links", "space", "--source", "a.fr", "--target", "a.en", "--gold", "gold", "--json")
    score = json.loads(muse(*words, "--against", "a.links").out)
    assert (score["aer"], score["recall"], score["sentences"], score["against"]["difference"]) == (
        0,
        100,
        3,
        0,
    )
    assert (
        json.loads(muse("evaluate", "links", "--links", "a.links", "--gold", "gold", "--json").out)["aer"]
        == 0
    )


@pytest.mark.parametrize(
    ("name", "text", "words", "error"),
    [
        ("a.en", "en20\n", "link", "same number of lines, got 1 in a.en and more in a.fr"),
        ("a.en", "\n" * 3, "link", "3 of 3 pairs with an empty sentence"),
        ("a.fr", f"x\n\n{'x' * 1_000_000}\n", "link", "a.fr:3: expected a sentence of at most 20,000 char"),
        ("gold", "1-1\n\n1-3\n", "evaluate links", "gold:3: expected links of 2 and 2 words, got one of"),
        ("gold", "1-1\n", "evaluate links", "gold: expected links of 3 pairs of sentences, got 1"),
        ("gold", "1-1\nx\n\n", "evaluate links", "gold:2: expected gold links such as 1-2"),
        ("gold", "1 1 1 S\n1 1\n", "evaluate links", "gold:2: expected the numbers of a sentence"),
        ("gold", "1 1 00\n", "evaluate links", "gold:1: expected the numbers of a sentence"),
    ],
    ids=["lines", "empty", "long", "beyond", "fewer", "format", "naacl", "zero"],
)  # fmt: skip
def test_bad_input_is_one_error(
    muse: Command, folder: Path, name: str, text: str, words: str, error: str
) -> None:
    (folder / name).write_text(text)
    more = ["--gold", "gold"] if "evaluate" in words else ["--out", "x.links"]
    done = muse(*words.split(), "space", "--source", "a.fr", "--target", "a.en", *more)
    assert error in done.err and "Traceback" not in done.err
    assert done.code == (0 if name == "a.en" and not text.strip() else 1)
    assert (folder / "x.links").exists() == (done.code == 0)


def test_a_page_has_uncertain_links_too(muse: Command, folder: Path) -> None:
    # Either of two unknown words may be the counterpart of a third.
    for name, text in (("a.fr", "fr20 xx yy fr21\n"), ("a.en", "en21 zz en20\n")):
        (folder / name).write_text(text)
    words = ("link", "space", "--source", "a.fr", "--target", "a.en", "--json")
    counts = [muse(*words, *more).json["links"] for more in ((), ("--format", "html"))]
    assert counts[0] < counts[1] == muse(*words, "--threshold", "0.2").json["links"]


def test_an_error_in_a_pipe_does_not_name_its_copy(folder: Path) -> None:
    done = process("link", "space", cwd=folder, stdin="fr20\n")
    assert done.code == 1 and done.errors[0].startswith("error: /dev/stdin:1: expected 2 columns")


def test_sentences_that_are_empty_teach_an_encoder_nothing(linker: Linker, tmp_path: Path) -> None:
    bert = save_tiny_bert(tmp_path / "bert", [*SPECIAL, "fr20", "fr21", "en20", "en21"], longest=16)
    encoder = TokenEncoder(linker.space, ("fr", "en"), bert)
    empty: list[TokenPair] = [([], ["en20"])]
    words: list[TokenPair] = [(["fr20", "fr21"], ["en20", "en21"])] * 3
    wanted = TokenEncoder(linker.space, ("fr", "en"), bert).log_odds(words)
    found = encoder.log_odds(empty * AT_ONCE + words)
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one[AT_ONCE:], two, atol=1e-5)


def test_every_encoder_with_vectors_of_words_links(linker: Linker, folder: Path) -> None:
    # Words that the space lacks, but an encoder of words alone has.
    sentences = pytest.importorskip("sentence_transformers")
    names = [*(f"{side}w{n}" for side in ("fr", "en") for n in range(40)), "[UNK]"]
    rows = np.random.default_rng(0).standard_normal((40, 16)).astype(np.float32)
    made = Tokenizer(WordLevel({name: n for n, name in enumerate(names)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    weights = np.concatenate([rows, rows + 0.1, np.zeros((1, 16), np.float32)])
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    static = modules.StaticEmbedding(made, embedding_weights=weights)
    sentences.SentenceTransformer(modules=[static], device="cpu").save(str(folder / "static"))
    space = linker.space
    swapped = {"fr": np.roll(space.vectors("fr").matrix, 1, axis=0)}
    TrainedEncoder("swapped", space, ("fr", "en"), swapped).save(folder / "learned")
    for name, source, target, wanted in (
        ("static", "frw5 frw9 frw2", "enw2 enw5 enw9", "0-1 1-2 2-0"),
        ("learned", "fr31 fr41 fr51", "en50 en30 en40", "0-1 1-2 2-0"),
    ):
        encoder = TokenEncoder(space, ("fr", "en"), folder / name)
        kind = "w" * (name == "static")
        encoder.log_odds([([f"fr{kind}{n}"], [f"en{kind}{n}"]) for n in range(40)])
        (odds,) = encoder.log_odds([(source.split(), target.split())])[0]
        assert " ".join(f"{i}-{j}" for i, j in enumerate(odds.argmax(axis=1))) == wanted
        unknown = encoder.log_odds([(["zz"], target.split())])
        assert not any(ways[0].any() for ways in unknown)
    PowerMean(Lookup(space)).save(folder / "mean")
    with pytest.raises(BadSetting, match="must be one that learned word vectors"):
        TokenEncoder(space, ("fr", "en"), folder / "mean")


def test_what_align_texts_writes_is_linked(muse: Command, folder: Path) -> None:
    made = ("align-texts", "space", "--source", "a.fr", "--target", "a.en", "--out")
    for name in ("b.tsv", "b.csv.gz", "b.jsonl.gz"):
        assert muse(*made, name).code == 0
        lines = muse("link", "space", "--pairs", name).out
        assert lines == "0-0 1-1 2-2 3-3\n0-1 1-0\n"


def test_pairs_that_do_not_translate_each_other_are_left_out(muse: Command, folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.choice(60, 6, replace=False) for _ in range(40)]
    lines = [" ".join(f"fr{n}" for n in row) for row in rows]
    right = [" ".join(f"en{n}" for n in row) for row in rows[:20]]
    wrong = [" ".join(f"en{n}" for n in row) for row in [*rows[21:], rows[20]]]
    text = [f"{one}\t{two}\n" for one, two in zip(lines, right + wrong, strict=True)]
    (folder / "a.tsv").write_text("".join([*text, "\t\n"]))
    words = ("link", "space", "--pairs", "a.tsv", "--min-score", "0", "--left-out", "rest.tsv")
    done = muse(*words, "--format", "tsv", "--out", "kept.tsv", "--json")
    assert done.json["left_out"] == 21 and done.json["empty"] == 1
    kept, rest = ((folder / name).read_text().splitlines() for name in ("kept.tsv", "rest.tsv"))
    assert [line.partition("\t")[2] for line in kept] == [line.strip() for line in text[:20]]
    assert max(float(line.split("\t")[0]) for line in rest[:-1]) < 0 and rest[-1] == "nan\t\t"
    counts = [muse("link", "space", "--pairs", name).out.count("\n") for name in ("kept.tsv", "rest.tsv")]
    assert counts == [20, 21]  # a score is no sentence
    assert muse(*words, "--out", "a.links").code == 0
    assert (folder / "a.links").read_text().endswith("\n" * 22)  # each pair has a line
