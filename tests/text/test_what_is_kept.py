"""What is kept in text that is translated, wherever it stands, and that all else is translated beside it."""

from functools import cache

import numpy as np
import pytest

from muse.search.retrieval import Retrieval
from muse.text.tokens import Tokeniser
from muse.translate.text import TextConfig, Translator
from tests.support.spaces import plain_space

# Words, each with a translation that differs; those of the kept pieces must not be looked up.
WORDS = {
    "le": "the", "la": "the", "roi": "king", "nuit": "night", "est": "is", "et": "and", "jour": "day",
    "homme": "man", "été": "summer", "mort": "dead",
} | dict.fromkeys(
    "a b c d e f g h i l n o p q r s t u v x y z nom date code url image print style html var user one other "
    "item begin label cite section trans raw plural select number gallery id".split(), "WRONG"
)  # fmt: skip


@cache
def french() -> Translator:
    """Translates the words into English."""
    english = list(dict.fromkeys(WORDS.values()))
    rows = np.eye(len(english), dtype=np.float32)
    source = rows[[english.index(word) for word in WORDS.values()]]
    space = plain_space(source, rows, list(WORDS), english)
    return Translator(space, source="fr", target="en", config=TextConfig(Retrieval("nn")))


KEPT = {
    "variables": """
        {{ nom }} § {{nom}} § {{ nom.jour|title }} § {{{ nom }}} § ${ nom } § ${nom} § { roi } § {roi}
        {$nom} § #{nom} § #{ nom } § @{nom} § %{nom} § %<nom>s § %(nom)s § %( nom )d § <<nom>>
        << nom >> § *|NOM|*
        {% if roi %} § {%- roi -%} § [% nom %] § <%= roi %> § <%# roi %> § <?php echo $roi ?> § {#if roi}
        {{#each roi}} § {{/if}} § {{ 'roi'|trans }} § {{ nom | date: "jour" }} § ${{ roi.nom }} § {@html roi}
        %roi% § %%roi%% § %NOM% § __jour__ § $(roi) § $t(nom) § $nom § $roi->nom § $roi[nom] § [[roi]]
        [[roi|jour]] § {0} § {0,number} § {d, date, short} § {nom:%Y} § {nom!r:>10} § :roi § @nom § #nom
        %1$s § %s § %d § %@ § %1$@ § %-5s § %.2f § %n § %L1 § <xliff:g id="nom"> § <0> § </0>
        {.roi} § {#nom} § %'d § %pB § %Hd,%Ld § %%m § %dx%d § %ds § $nomRoi § $roi['nom'] § $a § x=%d § roi=%s
    """,
    "code": """
        `roi` § ``le roi`` § <code>le roi</code> § <pre>le roi</pre> § <kbd>roi</kbd> § <var>x</var>
        <style>p {x: y}</style>
        <script>var roi = 1;</script> § <CODE class="x">le roi</CODE> § <samp>la nuit</samp> § <!-- le roi -->
        <a href="x y" title='le roi'> § &lt;b&gt; § &lt;a href="le roi"&gt; § :date: § :ref:`le roi` § <c.roi>
        [b] § [/b] § [url=http://a.b/c d] § [gallery id="1" roi="2"] § {\\i1} § {\\an8} § [x] § [ ] § [kbd]
        <a href=\\"le roi\\" title=\\"%s\\"> § nom="le roi" § `roi`s § `le roi`_ § roi() § nom.roi() § a::b
        nom__roi § NOM\\_ROI § /tmp § http:// § --roi § --le-roi § -h § Comman&de § été_roi § <?php
    """,
    "formulas": r"""
        x = 3 § f(x) = x § x + 1 = y § a < b § x <= 3 § $x = 3$ § $x$ § $f(x)$ § $$x + y$$ § \(x\)
        \[ x = y \]
        \begin{roi} § \label{sec:roi} § \cite{roi} § \usepackage[roi]{nom} § \item § \ref{le roi}
    """,
    "escapes": r"\n § \t § \r § \" § \\ § \N § \h § \0 § \u00e9 § \x41 § \n\n § \r\n § \s § \w",
}
TEMPLATES = {
    "le roi {} la nuit": "the king {} the night",
    "({}), le": "({}), the",
    "{} le roi.": "{} the king.",
    "la nuit, {}": "the night, {}",
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_kept_is_kept_wherever_it_stands(kind: str) -> None:
    kept = [
        one.strip()
        for row in KEPT[kind].replace("\n        ", "§").split("§")
        for one in [row]
        if row.strip()
    ]
    lines = {
        line.replace("{}", one, 1): expected.replace("{}", one, 1)
        for one in kept
        for line, expected in TEMPLATES.items()
    }
    found = dict(zip(lines, french().translate(list(lines)), strict=True))
    assert {line: text for line, text in found.items() if text != lines[line]} == {}


BESIDE = {
    "escapes": {
        r"le roi\nla nuit": r"the king\nthe night",
        r"le roi.\nla nuit\n--le-roi\tle_roi": r"the king.\nthe night\n--le-roi\tle_roi",
        r"C:\new \\a\nuit \n/tmp le": r"C:\new \\a\nuit \n/tmp the",
        r'"le roi\n"': r'"the king\n"',
        r"\tla nuit :\t": r"\tthe night:\t",
        r"le roi\Nla nuit\hla": r"the king\Nthe night\hthe",
        r"\"le roi\" est": r"\"the king\" is",
        r"l\'homme, l''homme": "the man, the man",
        r"{\i1}le roi{\i0}": r"{\i1}the king{\i0}",
    },
    "entities": {
        "l&#39;homme est": "the man is",
        "l&rsquo;&eacute;t&eacute;": "the summer",
        "roi&nbsp;est": "king&nbsp;is",
        "la nuit&hellip;": "the night&hellip;",
        "&laquo;&nbsp;le roi&nbsp;&raquo;": "&laquo;&nbsp;the king&nbsp;&raquo;",
        "&quot;le roi&quot; &amp; la nuit": "&quot;the king&quot; &amp; the night",
        "&amp;lt; le &inconnu; roi": "&amp;lt; the &inconnu; king",
    },
    "brackets": {
        r"\section{La nuit} \emph{roi}~mort": r"\section{The night} \emph{king}~dead",
        "[url=http://a.b/c]la nuit[/url]": "[url=http://a.b/c]the night[/url]",
        "[b]la nuit[/b] <b>le</b>roi": "[b]the night[/b] <b>the</b>king",
        "[la nuit](http://a.b/nuit) ![le](roi.png)": "[the night](http://a.b/nuit) ![the](roi.png)",
        "- [x] le roi [roi] {le roi}": "- [x] the king [king] {the king}",
        "{n, plural, one {le jour} other {la nuit}}": "{n, plural, one {the day} other {the night}}",
        "``la nuit'' et ``le jour'', `la nuit'": "``the night'' and ``the day'', `the night'",
        "le roi $5, la nuit $6": "the king $5, the night $6",
        "l'{nom} est, l'%s": "the {nom} is, the %s",
    },
    "lines": {
        "$ roi le -h": "$ roi le -h",
        ">>> roi = la": ">>> roi = la",
        ">>> le roi": ">>> the king",
        ".. _le roi: 3": ".. _le roi: 3",
        ".. |le roi| image:: le": ".. |le roi| image:: the",
        "  [le roi]: http://a.b/nuit": "  [le roi]: http://a.b/nuit",
        "[le roi]: la nuit": "[the king]: the night",
        "<roi est> <le roi>": "<king is> <the king>",
        "|le-roi| |le roi|": "|le-roi| |the king|",
        r"le%s \advance\voffset\nla": r"the%s \advance\voffset\nthe",
    },
    "hyphens": {
        "-Le roi est. -Et la nuit": "-The king is. -And the night",
        "roi- et «le»-roi, %s-roi": "king- and «the»-king, %s-king",
        "le -roi": "the -roi",
        "--Le roi. la nuit--le roi": "--The king. the night--the king",
    },
    "points": {
        "le roi. la nuit": "the king. the night",
        "le roi. «la nuit»": "the king. «the night»",
        "le roi. 3 nuit": "the king. 3 night",
        'le roi." la nuit.) le': 'the king." the night.) the',
        "M. Roi est. p. 5": "M. Roi is. p. 5",
    },
    "white space": {
        "le roi\tla nuit\t": "the king\tthe night\t",
        "    le  roi \r": "    the  king \r",
        "\ufeffle roi\u3000la": "\ufeffthe king\u3000the",
        " \t": " \t",
        "le\u00a0roi\u202fest\u00a0!": "the\u00a0king\u202fis!",
    },
}


@pytest.mark.parametrize("kind", BESIDE)
def test_words_beside_what_is_kept_are_translated(kind: str) -> None:
    lines = BESIDE[kind]
    assert dict(zip(lines, french().translate(list(lines)), strict=True)) == lines


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("~~~", "~~~"), ("```python", "```"), ("  ```", "  ```"), ("<pre>la", "la</pre>"),
        ("<script>", "</script>"),
        ("<!-- la", "la -->"), (r"\begin{verbatim}", r"\end{verbatim}"), ("<style type='x'>", "</style>"),
    ],
)  # fmt: skip
def test_code_of_several_lines_is_kept_up_to_its_end(begin: str, end: str) -> None:
    text = ["le roi", begin, "la  « nuit »", "", end, "la nuit"]
    assert french().translate(text) == ["the king", *text[1:-1], "the night"]
    assert french().translate(["la nuit"]) == ["the night"]  # another text


def test_what_only_looks_like_the_beginning_of_code_is_text() -> None:
    lines = ["La nuit", "~~~~~~~", "la nuit <code> le roi", "`<pre>`s le", "le `roi est"]
    expected = ["The night", "~~~~~~~", "the night <code> the king", "`<pre>`s the", "the `king is"]
    assert french().translate(lines) == expected


@pytest.mark.parametrize("language", ["fr", "de", "en", "xx"])
def test_a_word_with_a_point_is_the_word_but_where_the_vocabulary_has_it(language: str) -> None:
    assert Tokeniser(language).tokens("roi. la") == ["roi", ".", "la"]
    assert Tokeniser(language, {"roi"}).tokens("Roi. la") == ["Roi", ".", "la"]
    assert Tokeniser(language, {"roi."}).tokens("Roi. la") == ["Roi.", "la"]
    assert Tokeniser("de").tokens("z. B. hier") == ["z.", "B.", "hier"]


def test_capitals_without_accents() -> None:
    assert french().translate(["LE ROI EST ETE"]) == ["THE KING IS SUMMER"]
