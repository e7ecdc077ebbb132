"""README and documentation: every block of code runs and prints what is shown; what is named there exists."""

import configparser
import os
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors
from muse.learn.auto import KNOWN_OF_ROWS
from muse.learn.settings import AlignOptions
from muse.normalise import normalise
from muse.options import COMMON, options_of
from muse.sentences.systems.registry import SAVED
from muse.space import Provenance, SideToSave, load_space, save_space
from muse.vectors import Vectors
from tests.conftest import ROOT
from tests.fetch.test_fetch import BODY
from tests.support.command import Command
from tests.support.pages import KINDS, Reader, agree, blocks, commands
from tests.support.server import Handler, serving
from tests.support.spaces import rotation
from tests.support.toys import cloud, few_clusters, write_vec

README = ROOT / "README.md"
PAGES = ROOT / "docs" / "pages"
TUTORIAL = PAGES / "tutorial.md"
OTHERS = sorted(path for path in PAGES.rglob("*.md") if path != TUTORIAL and blocks(path))
TEXTS = [README, ROOT / "CONTRIBUTING.md", *sorted(PAGES.rglob("*.md"))]
FEW = 1_500
COLUMNS = 80  # of the terminal of terminal.md
SEARCHES = ("look", "sentence-systems", "which-file")  # pages that a small space will do for
NEEDS = {  # the packages of extras that the blocks of a page need
    "fetch.md": ("requests",),
    "encode.md": ("sklearn",),
    "many-machines.md": ("pyarrow", "ray"),
    "look.md": ("fastapi", "jinja2", "sklearn", "uvicorn"),
    "measure-sentences.md": ("sklearn",),
    "query-wrappers.md": ("sentence_transformers", "tokenizers", "safetensors"),
    "sentence-systems.md": ("tokenizers",),
    "use-encoder.md": ("sentence_transformers", "tokenizers", "safetensors"),
    "vector-store.md": ("pyarrow",),
    "which-file.md": ("gensim", "pandas", "pyarrow", "safetensors", "sklearn", "spacy", "tokenizers"),
}


@pytest.fixture(scope="module")
def of_few_words(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder, whose aligned space keeps the most frequent words: reports and searches are quick."""
    folder, place = tmp_path_factory.mktemp("few") / "checkout", Path("embeddings", "aligned", "fr-en")
    shutil.copytree(checkout, folder, symlinks=True)
    shutil.rmtree(folder / place)
    whole, sides = load_space(checkout / place), {}
    for language in ("fr", "en"):
        file = checkout / "embeddings" / "sample" / f"{language}.vec.gz"
        raw = read_vectors(file, language=language, max_vocab=len(whole.vectors(language)))
        rows, fitted = normalise(raw.matrix)
        few = replace(raw, matrix=rows).most_frequent(FEW)
        sides[language] = SideToSave(few, fitted, whole.side(language).mapping, (file,))
    manifest = whole.manifest
    made = Provenance(manifest.method, manifest.settings, verdict=manifest.verdict)
    save_space(folder / place, sides, pivot="en", provenance=made)
    few_rows = load_space(folder / place).vectors("fr").matrix
    np.testing.assert_allclose(few_rows, whole.vectors("fr").matrix[:FEW], atol=1e-5)
    return folder


def toy_languages(folder: Path) -> None:
    """Small files of vectors for the languages that pages name: word for word translations of one another."""
    folder.mkdir()
    rows = cloud(0, 620)
    for seed, language in enumerate(("en", "fr", "it", "de", "sw")):
        turned = (rows @ rotation(seed, rows.shape[1]).T).astype(np.float32)
        whole = Vectors(language, [f"{language}{row}" for row in range(len(rows))], turned)
        write_vec(folder / f"{language}.vec", whole.most_frequent(600))
        write_vec(folder / f"{language}-all.vec", whole)


def toy_pairs(file: Path) -> None:
    """Translations of toy languages, in the place of the real words that low-resource.md shows."""
    file.write_text("".join(f"sw{row} en{row}\n" for row in range(25)), encoding="utf-8")


def published(handler: Handler) -> None:
    """The answer of a server that has every published file."""
    body = b"chat cat\nchien dog\n" if "dictionaries" in handler.path else BODY
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def test_the_tutorial_runs_and_prints_what_it_shows(checkout: Path) -> None:
    assert (checkout / "embeddings" / "aligned" / "fr-en" / "manifest.json").exists()
    assert (checkout / "pairs.tsv").read_text(encoding="utf-8").count("\n") >= 2


def test_the_readme_runs_and_prints_what_it_shows(checkout: Path, tmp_path: Path) -> None:
    # What the tutorial runs too, shown with the same output, runs once: aligning takes longest.
    shown = [block for block in blocks(TUTORIAL) if block.kind == "console"]
    done = {command for block in shown for command in commands(block.text)}
    of_readme = {
        command for block in blocks(README) if block.kind == "console" for command in commands(block.text)
    }
    assert any(command.startswith("muse align") for command, _ in of_readme & done)
    folder = tmp_path / "checkout"
    shutil.copytree(checkout, folder, symlinks=True)
    Reader(folder, done=done).follow(README)


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    assert len(text.split()) <= 800


@pytest.mark.parametrize("page", OTHERS, ids=lambda path: path.stem)
def test_every_block_of_a_page_runs(
    page: Path, checkout: Path, of_few_words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    folder = tmp_path / "checkout"
    shutil.copytree(of_few_words if page.stem in SEARCHES else checkout, folder, symlinks=True)
    toy_languages(folder / "embeddings" / "raw")
    toy_pairs(folder / "pairs.txt")
    if page.stem == "large-files":  # whose space is one of these
        shutil.rmtree(folder / "embeddings" / "aligned")
    do_not_wait(monkeypatch)
    monkeypatch.setitem(KNOWN_OF_ROWS, "clusters", few_clusters)
    with serving(published) as server:
        monkeypatch.setattr("muse.fetch.published.HOME", server.url)
        Reader(folder).follow(page)


def do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    # muse serve answers until it is interrupted, on a port that may be taken here.
    from muse.web import server

    bind: Callable[..., object] = server.bind
    monkeypatch.setattr("muse.web.app.serve", lambda app, listening: None)
    monkeypatch.setattr("muse.web.server.bind", lambda host, port, **others: bind(host, 0, **others))


@pytest.mark.parametrize("page", [README, TUTORIAL, *OTHERS], ids=lambda path: path.stem)
def test_no_block_is_left_out(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(blocks(page))
    for block in blocks(page):
        assert block.kind in KINDS or (page == README and block.kind == "sh")
        if block.kind == "console":
            assert list(commands(block.text))
    assert not re.search(
        r"^    (?:muse|\$|pip|from|import) ", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.M
    )


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.stem)
def test_scripts_benchmarks_and_extras_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bscripts/(\w+)", text):
        assert os.access(ROOT / "scripts" / name, os.X_OK), name
    for name in re.findall(r"\b((?:benchmarks|tests)/\w+\.(?:py|md))\b", text):
        assert (ROOT / name).exists(), name
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = set(setup["options.extras_require"])
    for pattern in (r"pip install [^`\n]*?'[-.\w]*\[([\w,]+)\]'", r"\bextras? `(\w+)`"):
        for names in re.findall(pattern, text):
            assert set(names.split(",")) <= extras, names


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.stem)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text)
    for link in filter(None, (one or other for one, other in links)):
        if not re.match(r"[a-z]+:", link) and not link.startswith("#"):
            assert (page.parent / link.partition("#")[0]).exists(), link


def test_the_first_page_links_every_page() -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (PAGES / "index.md").read_text(encoding="utf-8"))
    linked = {(PAGES / link).resolve() for link in links}
    assert set(PAGES.rglob("*.md")) - linked == {PAGES / "index.md"}
    listed = re.findall(r": ([-\w/]+\.md)$", (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert {PAGES / name for name in listed} == set(PAGES.rglob("*.md"))


def test_the_options_of_align_are_those_of_the_page() -> None:
    page = (PAGES / "align-options.md").read_text(encoding="utf-8")
    shown = [one for one in options_of(AlignOptions).values() if not one.hidden and one.section != COMMON]
    lines = []
    for section in dict.fromkeys(one.section for one in shown):
        lines += [f"## {section}", "", "| option | in Python | meaning |", "| --- | --- | --- |"]
        for one in (one for one in shown if one.section == section):
            meaning = " ".join(one.help.split()).replace("|", "\\|")
            lines.append(f"| `{one.flag}` | `{one.name}` | {meaning} |")
        lines.append("")
    assert page.partition("\n## ")[2] == "\n".join(lines).partition("## ")[2]


def test_the_settings_of_systems_are_those_of_the_page() -> None:
    text = (PAGES / "settings.md").read_text(encoding="utf-8")
    for name, system in SAVED.items():
        if "paper" not in system.presets:  # the encoders of words have one size, and stand on another page
            continue
        section = text.partition(f"\n## {name}\n")[2].partition("\n#")[0]
        found = dict(re.findall(r"^\| `(\w+)` \| (.* \| .* \| \w.*) \|$", section, re.MULTILINE))
        small, paper = system.presets["small"], system.presets["paper"]
        for part in ("config", "trainer"):
            one, other = getattr(small, part), getattr(paper, part)
            for given in fields(one):
                if isinstance(getattr(one, given.name), bool | int | float | str):
                    meaning = given.metadata["declared"].help
                    shown = f"{getattr(one, given.name)} | {getattr(other, given.name)} | {meaning}"
                    assert found.pop(given.name) == shown, f"{name}, {given.name}"
        assert not found


@pytest.mark.slow
def test_a_terminal_of_80_columns_shows_the_commands_of_the_readme(
    reader: Reader, muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [block.text for block in blocks(PAGES / "terminal.md")]
    assert max(len(line) for text in shown for line in text.splitlines()) <= COLUMNS
    of_readme = [
        command for block in blocks(README) if block.kind == "console" for command, _ in commands(block.text)
    ]
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    shutil.copytree(reader.folder, tmp_path / "checkout", symlinks=True)
    monkeypatch.chdir(tmp_path / "checkout")
    for text, command in zip(shown, of_readme, strict=True):
        printed = reader.printed[command] if command.startswith("muse align") else ""
        if not printed:
            ended = muse(*shlex.split(command)[1:])
            printed = without_progress(ended.err) + ended.out
        agree(*(re.sub("^time .*", "time ...", found, flags=re.M) for found in (
            wrapped(f"$ {command}\n{printed}"), text,
        )))  # fmt: skip


def without_progress(text: str) -> str:
    """What a log has beside the progress of long work, [1/2] and so on."""
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"\[\d+/\d+\]", line))


def wrapped(text: str) -> str:
    """The text as a terminal shows it, whose rows are full before the next begins."""
    rows = []
    for line in text.expandtabs().splitlines():
        rows += [line[start : start + COLUMNS] for start in range(0, max(1, len(line)), COLUMNS)]
    return "\n".join(rows)


def test_what_is_shown_is_compared() -> None:
    agree("roi\tking 0.41 (3 words)\n", "roi\tking 0.42 (3 words)")
    agree("P@1 = 82.4 [78.0, 86.1] | fr-en | 9.5 s\n2901 pairs", "P@1 = 82.2 [78.1, 85.9] | ...\n2897 pairs")
    agree("one\ntwo\nthree\n", "one\n...\nthree")
    for printed, shown in (
        ("queen 0.1", "king 0.1"),
        ("one\ntwo", "one"),
        ("", "king"),
        ("king", "king 0.1"),
    ):
        with pytest.raises(AssertionError, match="is not"):
            agree(printed, shown)
    for printed, shown in (
        ("king 0.25", "king 0.43"),
        ("P@1 = 72.5 of 530", "P@1 = 82.2 of 530"),
        ("4 pairs", "3 pairs"),
    ):
        with pytest.raises(AssertionError, match="is not"):
            agree(printed, shown)


@pytest.mark.parametrize(
    ("wish", "page"),
    [
        ("license", "faq"),
        ("plot", "how-to/look"),
        ("how sure", "how-to/look"),
        ("terminology", "how-to/find-terms"),
        ("domain", "how-to/find-terms"),
        ("bert", "how-to/use-encoder"),
        ("phrases", "how-to/translate-text"),
        ("example sentences", "how-to/examples"),
        ("small corpus", "how-to/low-resource"),
        ("gpu", "how-to/large-files"),
        ("xlm", "how-to/sentence-systems"),
    ],
)
def test_a_search_for_a_wish_finds_its_page(wish: str, page: str) -> None:
    text = " ".join((PAGES / f"{page}.md").read_text(encoding="utf-8").split())
    assert re.search(rf"\b{wish}\b", text, re.IGNORECASE), page
