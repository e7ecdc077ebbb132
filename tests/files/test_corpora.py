"""Corpora as programs write them: their sentences, or a refusal with the command that extracts these."""

from pathlib import Path

import pytest

from muse.errors import BadFile, BadSetting
from muse.files.corpora import check_lines, text_of_lines

CORPORA = {
    "SRT": "1\n00:00:01,000 --> 00:00:02,000\n<i>le roi</i>\n\n"
           "2\n00:00:03,000 --> 00:00:04,000\n{\\an8}la nuit\n",
    "VTT": "WEBVTT\nKind: x\n\nla\n00:01.000 --> 00:02.000\nle roi\n\nNOTE a\nla\n\n"
           "00:03.000 --> 00:04.000 align:left\n<v Zoé>la nuit\n",
    "wikiextractor": '<doc id="1" url="x" title="Roi">\nle roi\nla nuit\n</doc>\n',
    "CoNLL-U": "# sent_id = 1\n# text = le roi\n1" + "\tle" * 9 + "\n2" + "\troi" * 9
               + "\n\n# text = la nuit\n1" + "\tla" * 9,
    "CoNLL-U without text": "1" + "\tle" * 9 + "\n2-3\troi_" + "\t_" * 8 + "\n2" + "\troi" * 9
               + "\n\n1" + "\tla" * 9 + "\n2" + "\tnuit" * 9,
    "JSON lines": '{"id": 1, "text": "le roi"}\n{"id": 2, "text": "la nuit"}\n',
    "TMX": '<?xml version="1.0"?>\n<tmx><body>\n'
           '<tu><tuv xml:lang="fr-FR"><seg>le <ph>&lt;b></ph><b>roi</b></seg></tuv>'
           '<tuv xml:lang="en"><seg>x</seg></tuv></tu>\n'
           '<tu><tuv xml:lang="fr">\n<seg>la\nnuit</seg></tuv></tu></tmx>',
    "BPE": "le ro@@ i\nla nu@@ it\n",
    "SentencePiece": "▁le ▁ro i\n▁la ▁nu it\n",
    "labels": "__label__a __label__b le roi\n__label__c la nuit\n",
    "numbered": "1\tle roi\n2\tla nuit\n",
    "text": "le roi\nla nuit\n",
    "columns.tsv": "1\tle roi\n2\tla nuit\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", CORPORA)
def test_sentences_of_corpora(tmp_path: Path, kind: str) -> None:
    path = tmp_path / (kind if "." in kind else "x")
    path.write_text(CORPORA[kind])
    assert [line for line in text_of_lines(path, language="fr") if line] == ["le roi", "la nuit"]
    if kind in ("text", "columns.tsv"):
        check_lines(path)
    else:
        with pytest.raises(BadFile, match="extract the text: .* > OUT.txt"):
            check_lines(path)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("<!DOCTYPE html>\n<p>le roi</p>\n", "w3m -dump"),
        ("<s>\n<w>le</w>\n<w>roi</w>\n</s>\n", "sed 's/<"),
        ("<s>\nle\tDET\nroi\tNOUN\n</s>\n", "awk -F"),
        ("[ar:x]\n[00:12.00]le roi\n", "sed 's/"),
        ("0:00:01.000,0:00:02.000\nle roi\n", "grep -vE"),
        ("{25}{45}le roi\n{50}{70}la nuit\n", "sed 's/"),
        ('[{"text": "le roi"}]', "jq -r"),
        ("id,text\n1,le roi\n", "python -c"),
        ("[01/02/2024, 10:01:00] Ana: le roi\n2024-01-02 10:00 la nuit\n", "sed -E"),
        ("le_DET roi_NOUN dort_VERB ._PUNCT vite_ADV . " * 5, "sed -E"),
        ("le/D roi/N " * 5, "sed -E"),
        ("le O\nroi B-PER\n\nla O\n", "awk 'NF"),
        ("(S (NP (DT le) (NN roi)))\n", "sed -E"),
        ("== a ==\n[[le roi|roi]] dort\n", "pandoc -f mediawiki"),
        ("{\\rtf1 le roi}", "pandoc -f rtf"),
        ('msgid "a"\nmsgstr "le roi"\n', "sed -nE"),
        ("<?xml version='1.0'?>\n<xliff><target>le roi</target></xliff>\n", "sed -n"),
        ("[Script Info]\n[Events]\nDialogue: 0,0,0,,,0,0,0,,le roi\n", "sed -nE"),
    ],
)
def test_corpora_that_are_not_read(tmp_path: Path, text: str, command: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadFile, match=f"extract the text: {command}"):
        [*text_of_lines(tmp_path / "x")]


@pytest.mark.parametrize(
    "line",
    [
        "Le roi (1) dit -- oui -> non",
        "a < b et c > d",
        "{ le roi }",
        "1",
        "le @roi",
        "<3 la nuit",
        "__init__ le",
        "AC/DC et R&B_X",
        "(Le roi) (DORT)",
        "2024-01-02 le roi",
        '"le roi", text',
        "[le roi]",
    ],
)
def test_ordinary_text_is_no_other_kind(tmp_path: Path, line: str) -> None:
    (tmp_path / "x").write_text(f"{line}\n" * 3)
    assert [*text_of_lines(tmp_path / "x")] == [line] * 3


def test_what_must_be_said_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"a": "le roi", "b": "x"}\n')
    for column, said in ((None, "none"), ("c", "'c'")):
        with pytest.raises(
            BadSetting, match=rf"--column must be one of its text columns \(a, b\), got {said}"
        ):
            [*text_of_lines(tmp_path / "x", column)]
    assert [*text_of_lines(tmp_path / "x", "a")] == ["le roi"]
    (tmp_path / "x").write_text('{"a": null, "b": "x"}\n\n{"a": 1}\n')
    with pytest.raises(BadFile, match=r"x:3: expected text in 'a', got 1"):
        [*text_of_lines(tmp_path / "x", "a")]
    (tmp_path / "x").write_text(CORPORA["TMX"])
    with pytest.raises(BadSetting, match="got no language"):
        [*text_of_lines(tmp_path / "x")]


def test_a_segment_goes_on_behind_another(tmp_path: Path) -> None:
    french = '<tuv xml:lang="fr"><seg>'
    (tmp_path / "x").write_text(f"<tmx>\n{french}le roi</seg></tuv>{french}la\nnuit\n</seg></tuv>\n</tmx>\n")
    assert [*text_of_lines(tmp_path / "x", language="fr")] == ["le roi", "la nuit "]


def test_a_subtitle_may_be_a_number(tmp_path: Path) -> None:
    times = "00:00:01,000 --> 00:00:02,000"
    for between in ("\n", ""):
        (tmp_path / "x").write_text(f"1\n{times}\n1984\n{between}2\n{times}\nle roi\n42\n")
        assert [*text_of_lines(tmp_path / "x")] == ["1984", "le roi", "42"]
