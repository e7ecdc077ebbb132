"""Markup stays whole, and ordinary text has none."""

import time

import numpy as np
import pytest

from muse.text.markup import is_markup, split_at_markup, split_at_spans
from muse.text.tokens import Tokeniser
from muse.text.written import TranslatedToken, joined_line, written_tokens
from muse.translate.text import TextReader, Translator
from muse.vectors import Vectors
from tests.support.spaces import plain_space

MARKUP = [
    "/etc/passwd", "/usr/lib/python3.11/", "~/x", "./a/b.txt", "../c", "src/main.py", "C:\\tmp\\x", "C:\\",
    "\\\\host\\share", "%s", "%5.2f", "%s%d", "%1$s", "%(name)d", "{}", "{name}", "{0:>3}", "{{y}}", "${x}",
    "$HOME", "$name", "<b>", "</b>", "<br/>", "<xs:a>", "snake_case", "MAX_SIZE_2", 'href="x/y">',
]  # fmt: skip
ORDINARY = [
    "and/or", "km/h", "5%", "100%sure", "he/she", "/she", "12/05/2020", "1/2", "$5", "$US500", "US$", "<3",
    "a<b", "x=1", "{", "%", "/", "/kæt/", "Flugbegleiter_in", "Lehrer_innen",
    "jede_r", "auteur_rice", "$million", "a.m./p.m.", "and/or.it", "CamelCase", "etc.", "_so_",
    "C:", "rock'n'roll", "http://a.org/b/c_d?x=%s", "a_b@c.org", "www.a.org/b/c", "</3",
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "fr", "xx"])
@pytest.mark.parametrize("token", MARKUP)
def test_markup_is_one_token_wherever_it_stands(language: str, token: str) -> None:
    assert is_markup(token)
    tokens = Tokeniser(language).tokens
    assert tokens(f"cat {token} dog") == ["cat", token, "dog"]
    assert tokens(f"{token}, ({token}).")[:4] == [token, ",", "(", token]
    assert tokens(f"{token}: cat")[:2] == [token, ":"]


@pytest.mark.parametrize("part", ORDINARY)
def test_ordinary_text_has_none(part: str) -> None:
    assert split_at_markup(part) == [(part, False)]


def tokens_of(language: str, line: str) -> list[str]:
    return [token.text for token in written_tokens(Tokeniser(language), line)]


def unchanged(language: str, line: str) -> str:
    """The line of the tokens of a line, all of them copied."""
    tokeniser = Tokeniser(language)
    copied = [TranslatedToken(one.written, one, True) for one in written_tokens(tokeniser, line)]
    return joined_line(copied, tokeniser)


@pytest.mark.parametrize(
    "line",
    [
        "The <b>cat</b> is in /etc/passwd: %s, {name} (see C:\\tmp\\x).",
        '<a href="x/y">Link</a> <br/> and <br> a <i>b</i>.',
        "viens /a/mots-les/x %d",
        "cp <source> <target> now",
    ],
)
def test_a_line_with_markup_comes_back(line: str) -> None:
    for language in ("en", "xx"):
        assert unchanged(language, line) == line
    assert "/a/mots-les/x" in Tokeniser("fr").tokens("viens /a/mots-les/x")


TAGS = [
    '<a href="x" title="a b">', '<a href="http://a.org/b" title="it\'s, « a » b">', "<a title='1 > 2 , 3'>",
    '<img src="a.png" alt="a  b"/>', '<img\tsrc="a" alt = "b c" />', "<br />", "</a >",
    '<input type="text" disabled>', "<input disabled>", "<option selected value=x,y>", "<br >",
    "<IMG SRC=a.png isMap>", "<track default kind = captions>", "<!-- not a , b -->", "<!---->",
    '<xs:a b:c="d e">',
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "fr", "xx"])
@pytest.mark.parametrize("tag", TAGS)
def test_a_whole_tag_is_one_token_and_comes_back_as_it_was(language: str, tag: str) -> None:
    assert is_markup(tag)
    for line in (f"cat {tag} dog", f"cat{tag}dog", f"{tag}, ({tag})."):
        tokens = tokens_of(language, line)
        assert tokens.count(tag) == line.count(tag)
        assert [token for token in tokens if token != tag] == tokens_of(language, line.replace(tag, " "))
        assert unchanged(language, line) == line


def test_a_tag_keeps_the_spaces_that_text_of_its_language_has_not() -> None:
    line = '猫 狗 <a title="猫 狗"> 猫'
    copied = [TranslatedToken(one.written, one, True) for one in written_tokens(Tokeniser("en"), line)]
    assert joined_line(copied, Tokeniser("zh")) == '猫狗 <a title="猫 狗"> 猫'


def test_tags_without_quoted_values_are_tags_if_they_are_closed() -> None:
    line = "<option selected>black <b x=y>cat</b></option> <hr noshade/> <b y> <b x=z>"
    tokens = tokens_of("en", line)
    assert tokens[:4] == ["<option selected>", "black", "<b x=y>", "cat"]
    assert tokens[6:] == ["<hr noshade/>", "<b", "y", ">", "<b", "x=z", ">"]
    assert unchanged("en", line) == line


@pytest.mark.parametrize(
    "line",
    [
        "la < le and le > la",
        "a <b and c> d",
        "if x <y and z=3> 2",
        "cp <your file> <target folder>",
        "Map<String, List<Integer>>",
        "<3 you > me",
        "from <john smith@a.org>",
        'la < le, "le" > la',
        "cp <input file> <source file> <param default> <source readonly> now",
        "the <details required> and <link hidden> are given",
        "<input disabled file>",
        "<source required=x more>",
        "x <input and disabled> y",
        "a < input disabled > b",
        "<b disabled> or <folder selected>",
        "<!-- open, and -- > not closed",
    ],
)
def test_what_is_no_tag_is_translated(line: str) -> None:
    assert split_at_spans(line) == [(line, "")]


@pytest.mark.parametrize(
    "line",
    [
        *(part * 20_000 for part in ("<!-- ", '<a b="', "<a b='\"", "<a ", '<a b="c" ', "</a ", "<a b> ")),
        "<" * 100_000, "<input" + " disabled" * 50_000, "<input" + " a=bc" * 50_000 + " <",
        "<input a =" + " " * 100_000, "<input a" + " " * 100_000, "<input a=" + "b" * 100_000,
        "<input" + " disabled" * 50_000 + " a" + " " * 50_000 + ">",
        "<input" + " disabled" * 50_000 + " " * 50_000 + ">", "<input" + " a  =  b" * 50_000 + ">",
    ],
    ids=lambda line: line[:12],
)  # fmt: skip
def test_long_tags_and_those_that_never_end_take_linear_time(line: str) -> None:
    began = time.process_time()
    whole = line.endswith(("disabled" + " " * 50_000 + ">", "b>"))
    assert split_at_spans(line) == ([("", line), ("", "")] if whole else [(line, "")])
    assert time.process_time() - began < 1.0


def test_a_longer_name_closes_no_tag() -> None:
    assert split_at_spans("a <b and c> d </blink>") == [("a <b and c> d </blink>", "")]
    assert split_at_spans("a <b and c> d </b >") == [("a ", "<b and c>"), (" d ", "</b >"), ("", "")]


def test_a_full_stop_after_markup_is_as_before() -> None:
    assert Tokeniser("en").tokens("Read /a/b. He did. See ./x etc. and") == (
        "Read /a/b . He did . See ./x etc . and".split()
    )


def test_markup_is_copied_and_its_words_are_translated_elsewhere_alone() -> None:
    eye = np.eye(4, dtype=np.float32)
    space = plain_space(eye, eye, ["chat", "etc", "nom", "s"], ["cat", "and", "name", "is"])
    translator = Translator(space, source="fr", target="en")
    found = translator.translate(["<b>Chat</b> /etc/chat {nom} %s chat_nom nom", "%s"])
    assert found == ["<b>Cat</b> /etc/chat {nom} %s chat_nom name", "%s"]
    assert (translator.counts.words, translator.counts.unknown) == (2, 0)
    line = "<i title=\"nom , chat\" class='nom chat'>{}</i> <!-- chat nom --> <br /> s < {} s > s"
    assert translator.translate([line.format("Chat", "nom")]) == [
        line.format("Cat", "name").replace("s <", "is <").replace("s > etc", "is > and")
    ]
    assert [choice.token for choice in translator.choices(line)][0] == line[: line.index(">") + 1]


def test_a_tag_before_a_sentence_leaves_its_first_word_first() -> None:
    reader = TextReader(Vectors("fr", ["chat"], np.ones((1, 1), np.float32)))
    pieces = reader.read(written_tokens(Tokeniser("fr"), "<b>Zoé</b>"))
    assert [(piece.first, piece.name, piece.entry) for piece in pieces] == [
        (False, False, None), (True, False, None), (False, False, None),
    ]  # fmt: skip
