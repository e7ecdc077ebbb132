"""muse fetch, against a server on this machine: whatever it does, nothing broken takes the file's name."""

import errno
import gzip
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, MuseError
from muse.fetch.download import PartialFile, RetryPolicy
from muse.fetch.published import (
    LANGUAGES,
    SUMS,
    WITH_ENGLISH,
    FetchConfig,
    Fetched,
    dictionary,
    fetch,
    read_pins,
    vectors,
)
from muse.files import read_vectors
from muse.progress import Progress
from tests.support.command import Command, tree
from tests.support.server import Answer, File, Handler, Server, serving, status

requests = pytest.importorskip("requests")

PATIENT = RetryPolicy(tries=3, connect=2, read=0.5, first_wait=0.01, longest_wait=0.05)
ITEM = vectors("fr")
HTML = b"<!DOCTYPE html><html><body>Sorry</body></html>"


def vec_bytes(count: int = 400, seed: int = 0) -> bytes:
    """A file of vectors, packed, that takes several reads."""
    rows = np.random.default_rng(seed).normal(size=(count, 30))
    lines = [f"{count} 30", *(f"w{i} " + " ".join(f"{x:.4f}" for x in row) for i, row in enumerate(rows))]
    return gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)


BODY = vec_bytes()


def fetched(server: Server, folder: Path) -> Fetched:
    return fetch(ITEM, FetchConfig(folder, server.url, retries=PATIENT), Progress(quiet=True))


def test_a_file_is_fetched_pinned_and_not_fetched_twice(tmp_path: Path) -> None:
    with serving(File(BODY)) as server:
        found = fetched(server, tmp_path)
        assert found.path.read_bytes() == BODY
        assert len(read_vectors(found.path, language="fr")) == 400
        assert read_pins(tmp_path) == {ITEM.name: hashlib.sha256(BODY).hexdigest()}
        assert not found.cached
        assert fetched(server, tmp_path).cached
        assert server.paths == [f"/{ITEM.path}"]
        assert set(tree(tmp_path)) == {ITEM.name, SUMS}


PASSING: dict[str, list[Answer]] = {
    "breaks off": [File(BODY, cut=5_000), File(BODY)],
    "stalls": [File(BODY, stall=1.5), File(BODY)],
    "429 and 503": [status(429, Retry_After="0"), status(503), File(BODY)],
    "nothing": [File(BODY, cut=0), File(BODY)],
    "redirects": [status(302, Location="/elsewhere"), File(BODY)],
    "no ranges": [File(BODY, ranges=False, cut=5_000), File(BODY, ranges=False)],
    "no version": [File(BODY, etag="", cut=5_000), File(BODY, etag="")],
    "no length": [File(BODY, length=False)],
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again(tmp_path: Path, name: str) -> None:
    with serving(*PASSING[name]) as server:
        assert fetched(server, tmp_path).path.read_bytes() == BODY
        assert len(server.requests) == len(PASSING[name])
    assert set(tree(tmp_path)) == {ITEM.name, SUMS}


def test_the_progress_knows_the_end(tmp_path: Path) -> None:
    heard: list[int] = []
    progress = Progress(quiet=True, callback=lambda stage, done, figures: heard.append(done))
    with serving(File(BODY)) as server:
        fetch(ITEM, FetchConfig(tmp_path, server.url, retries=PATIENT), progress)
    assert heard == sorted(heard)
    assert heard[-1] == len(BODY)


def test_a_later_run_resumes_what_an_earlier_one_left(tmp_path: Path) -> None:
    with serving(File(BODY, cut=20_000), *[status(503)] * 3, File(BODY)) as server:
        with pytest.raises(BadFile, match="503, 3 times in a row"):
            fetched(server, tmp_path)
        fetched(server, tmp_path)
        assert server.requests[4]["range"] == "bytes=20000-"
        assert server.requests[4]["if-range"] == '"v1"'


def test_from_another_mirror_a_file_is_fetched_anew(tmp_path: Path) -> None:
    with serving(File(BODY, cut=20_000), status(503)) as server:
        with pytest.raises(BadFile, match="503, 3 times in a row"):
            fetched(server, tmp_path)
    assert not (tmp_path / ITEM.name).exists()
    with serving(File(BODY)) as other:
        fetched(other, tmp_path)
        assert "range" not in other.requests[0]


def test_a_weak_tag_is_no_version_but_a_date_is(tmp_path: Path) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    weak = {"etag": 'W/"v1"', "headers": {"Last-Modified": date}}
    with serving(File(BODY, **weak, cut=20_000), File(BODY, **weak)) as server:  # type: ignore[arg-type]
        fetched(server, tmp_path)
        assert server.requests[1]["if-range"] == date


@pytest.mark.parametrize(
    "answer",
    [
        status(206, BODY[10_000:-10_000], Content_Range=f"bytes 10000-{len(BODY) - 10_001}/{len(BODY)}"),
        status(206, BODY[20_000:] + b"more", Content_Range=f"bytes 20000-{len(BODY) - 1}/{len(BODY)}"),
        status(416, Content_Range="bytes */10000"),
    ],
    ids=["another range", "more bytes than announced", "a shorter file"],
)
def test_an_answer_that_does_not_fit_the_part_begins_anew(tmp_path: Path, answer: Answer) -> None:
    with serving(File(BODY, cut=20_000), answer, File(BODY)) as server:
        body = fetched(server, tmp_path).path.read_bytes()
        assert (body, server.requests[2].get("range")) == (BODY, None)


def test_a_server_that_never_sends_what_was_asked_for_is_left(tmp_path: Path) -> None:
    other = status(206, BODY[10_000:], Content_Range=f"bytes 10000-{len(BODY) - 1}/{len(BODY)}")
    script: list[Answer] = [File(BODY, cut=20_000), other]
    with serving(*script * 9, File(BODY)) as server:
        with pytest.raises(BadFile, match="3 times in a row"):
            fetched(server, tmp_path)
        assert len(server.requests) == 4


def drips(handler: Handler) -> None:
    """Sends a byte now and then, for a second at most."""
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        for _ in range(200):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.005)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (drips, r"sent \d+ bytes in 0 s, 3 times in a row"),
        (File(BODY, cut=1), "3 times in a row"),
        (status(206, BODY, Content_Length="5", Content_Range="bytes 0-4/5"), "got an unusable answer"),
    ],
)
def test_a_server_that_sends_next_to_nothing_is_left(tmp_path: Path, answer: Answer, message: str) -> None:
    with serving(answer) as server, pytest.raises(BadFile, match=message):
        config = FetchConfig(tmp_path, server.url, retries=replace(PATIENT, slow=0.02))
        fetch(ITEM, config, Progress(quiet=True))
    assert len(server.requests) <= 4


def endless(first: bytes, more: bytes) -> Answer:
    """Sends bytes, and then others again and again, for ten seconds at most."""

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(first)
            for _ in range(10_000):
                handler.wfile.write(more)
                time.sleep(0.001)

    return answer


HEAD = b"HTTP/1.1 200 OK\r\n"
WAITS = {
    "headers": endless(HEAD + b"X: ", b"x"),
    "interim answers": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the length of a chunk": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailers": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n"),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_server_that_never_comes_to_an_end_is_left(tmp_path: Path, name: str) -> None:
    with (
        serving(WAITS[name]) as server,
        pytest.raises(BadFile, match=r"no answer in time\), 1 times in a row"),
    ):
        retries = replace(PATIENT, tries=1, answer=0.02)
        fetch(ITEM, FetchConfig(tmp_path, server.url, retries=retries), Progress(quiet=True))


def test_a_file_without_end_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.fetch.download.LARGEST", 1_000)
    with serving(endless(HEAD + b"\r\n", b"x" * 600)) as server:
        with pytest.raises(
            BadFile, match=r"http.*: expected a file, got an unusable answer \(more than 0 GB\)"
        ):
            fetched(server, tmp_path)
    assert tree(tmp_path) == {}


def test_a_redirect_is_not_read_to_its_end(tmp_path: Path) -> None:
    with serving(endless(b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n", b"x"), File(BODY)) as server:
        begun = time.monotonic()
        assert fetched(server, tmp_path).path.read_bytes() == BODY
        assert time.monotonic() - begun < 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
@pytest.mark.parametrize("name", [f".{ITEM.name}.part", f".{ITEM.name}.part.json", SUMS])
def test_a_pipe_or_a_link_in_the_place_of_a_part_is_refused(tmp_path: Path, name: str) -> None:
    with serving(File(BODY)) as server:
        os.mkfifo(tmp_path / name)
        with pytest.raises(BadFile, match=f"{re.escape(name)}: expected .*got .*a pipe or a device"):
            fetched(server, tmp_path)
        (tmp_path / name).unlink()
        (tmp_path / "theirs").write_text("")
        (tmp_path / name).symlink_to("theirs")
        if name != SUMS:
            with pytest.raises(BadFile, match="expected a part of a file, got a link"):
                fetched(server, tmp_path)
        assert (tmp_path / "theirs").read_text() == ""


ENDLESS = status(503, Retry_After="1e20")


def test_the_server_says_how_long_to_wait_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("muse.fetch.download.time", SimpleNamespace(sleep=waits.append, monotonic=lambda: 0))
    policy = RetryPolicy(tries=5, first_wait=1.0, longest_wait=60.0)
    busy = (status(429, Retry_After="7"), status(503, Retry_After="1000"), status(503), ENDLESS)
    with serving(*busy, File(BODY)) as server:
        fetch(ITEM, FetchConfig(tmp_path, server.url, retries=policy), Progress(quiet=True))
    assert waits == [7.0, 60.0, 4.0, 8.0]


@pytest.fixture
def encrypted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Sends all requests to https://files.invalid to the address given; returns the list of all requests."""
    send, asked = requests.adapters.HTTPAdapter.send, list[str]()
    own = threading.current_thread()

    def to(home: str) -> list[str]:
        def sent(adapter: Any, request: Any, **more: Any) -> Any:
            if threading.current_thread() is not own:  # of a library that an earlier test used
                return send(adapter, request, **more)
            named = request.url
            asked.append(named)
            request.url = named.replace("https://files.invalid", home)
            response = send(adapter, request, **more)
            response.url = request.url = named
            return response

        monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", sent)
        return asked

    return to


PLAIN = "http://plain.invalid/file"


@pytest.mark.parametrize(
    ("locations", "message"),
    [
        ([PLAIN], f"expected HTTPS, got a redirect to {PLAIN}; try --mirror"),
        (["https://files.invalid/other", PLAIN], f"expected HTTPS, got a redirect to {PLAIN}"),
        (["//files.invalid/other", "/further", PLAIN], f"expected HTTPS, got a redirect to {PLAIN}"),
        (["file:///etc/passwd"], "got an unusable answer"),
        (["ftp://files.invalid/file"], "expected HTTPS, got a redirect to ftp://files.invalid/file"),
        (["javascript:alert(1)"], "got an unusable answer"),
        (["https://[::1/"], "got an unusable answer"),
        (["https://files.invalid:99999999/"], "got an unusable answer"),
        (["/again"] * 20, "too many redirects"),
    ],
)
def test_no_redirect_is_followed_before_it_was_checked(
    tmp_path: Path, encrypted: Callable[[str], list[str]], locations: list[str], message: str
) -> None:
    script = [status(302, Location=location) for location in locations]
    with serving(*script, File(BODY)) as server:
        asked = encrypted(server.url)
        config = FetchConfig(tmp_path, "https://files.invalid", retries=PATIENT)
        with pytest.raises(BadFile, match=re.escape(message)):
            fetch(ITEM, config, Progress(quiet=True))
        assert all(address.startswith("https://files.invalid/") for address in asked)
        assert len(server.paths) == min(len(locations), 6)  # once, not once a try
    assert tree(tmp_path) == {}


def test_redirects_within_https_are_followed(tmp_path: Path, encrypted: Callable[[str], list[str]]) -> None:
    ways = ["https://files.invalid/b", "//files.invalid/c?x=1", "/d", "e f", "#g"]
    with serving(*(status(307, Location=way) for way in ways), File(BODY)) as server:
        encrypted(server.url)
        config = FetchConfig(tmp_path, "https://files.invalid", retries=PATIENT)
        assert fetch(ITEM, config, Progress(quiet=True)).path.read_bytes() == BODY
        assert server.paths[1:] == ["/b", "/c?x=1", "/d", "/e%20f", "/e%20f"]


def test_a_mirror_without_encryption_may_lead_to_one_with_it_but_not_back(
    tmp_path: Path, encrypted: Callable[[str], list[str]]
) -> None:
    to_https = status(302, Location="https://files.invalid/b")
    with serving(to_https, File(BODY)) as server:
        encrypted(server.url)
        assert fetched(server, tmp_path).path.read_bytes() == BODY
    with serving(to_https, status(302, Location=PLAIN), File(BODY)) as server:
        asked = encrypted(server.url)
        with pytest.raises(BadFile, match="expected HTTPS, got a redirect to"):
            fetched(server, tmp_path / "again")
        assert PLAIN not in asked


def test_that_all_of_a_file_is_there_must_be_said_of_the_same_version(tmp_path: Path) -> None:
    answer = status(416, Content_Range=f"bytes */{len(BODY)}", ETag='"v2"')
    body = BODY[:-1] + b"x"
    part = PartialFile(tmp_path / f".{ITEM.name}.part")
    with serving(answer, File(BODY, etag='"v2"')) as server:
        part.begin(f"{server.url}/{ITEM.path}", '"v1"')
        part.path.write_bytes(body)
        assert fetched(server, tmp_path).path.read_bytes() == BODY


def test_a_file_that_was_whole_before_it_was_verified_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_: Path) -> str:
        raise KeyboardInterrupt

    with serving(File(BODY), status(416, Content_Range=f"bytes */{len(BODY)}")) as server:
        with monkeypatch.context() as patch:
            patch.setattr("muse.fetch.published.checksum", stopped)
            with pytest.raises(KeyboardInterrupt):
                fetched(server, tmp_path)
        assert not (tmp_path / ITEM.name).exists()
        assert fetched(server, tmp_path).path.read_bytes() == BODY
        assert server.requests[1]["range"] == f"bytes={len(BODY)}-"
    assert set(tree(tmp_path)) == {ITEM.name, SUMS}


def test_a_full_disk_is_no_failed_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("muse.fetch.download._write", full)
    with serving(File(BODY[:100])) as server:
        with pytest.raises(MuseError, match="the disk is full"):
            fetched(server, tmp_path)
        assert len(server.requests) == 1


def test_a_file_that_was_swapped_between_two_tries_is_not_patched_together(tmp_path: Path) -> None:
    other = vec_bytes(seed=1)
    with serving(File(BODY, cut=20_000), File(other, etag='"v2"')) as server:
        assert fetched(server, tmp_path).path.read_bytes() == other


def test_a_swapped_file_whose_server_lies_about_its_version_is_not_kept(tmp_path: Path) -> None:
    other = vec_bytes(seed=1)
    with serving(File(BODY, cut=20_000), File(other)) as server:
        with pytest.raises(BadFile, match="expected a complete file, got a broken one"):
            fetched(server, tmp_path)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ([status(404, HTML, Content_Type="text/html")], "the server answered 404"),
        ([status(403)], "the server answered 403"),
        ([status(200, HTML, Content_Type="text/html; charset=utf-8")], "got a web page"),
        ([status(200, HTML, Content_Type="application/gzip")], "got a web page"),
        ([File(b"hello\n", headers={"Content-Type": "application/gzip"})], "got a broken one"),
        ([File(gzip.compress(b"hello\nworld\n"))], "two numbers in line 1"),
        ([File(gzip.compress(b"3 2\na 1 2\n"))], "expected 3 words, got 1"),
        ([File(BODY[:-2_000])], "got a broken one"),
        ([File(BODY[:-2_000], length=False)], "got a broken one"),
        ([status(503)], "503, 3 times in a row"),
        ([File(BODY, cut=0)], "3 times in a row"),
        ([status(302, Location=f"/{ITEM.path}")], "too many redirects"),
        ([status(200)], "two numbers in line 1"),
    ],
)
def test_what_is_no_file_of_vectors_is_not_kept(tmp_path: Path, script: list[Answer], message: str) -> None:
    with serving(*script) as server, pytest.raises(BadFile, match=message):
        fetched(server, tmp_path)
    assert not [name for name in tree(tmp_path) if not name.startswith(".")]


def test_nobody_there(tmp_path: Path) -> None:
    with serving(File(BODY)) as server:
        gone = server.url
    config = FetchConfig(tmp_path, gone, retries=PATIENT)
    with pytest.raises(BadFile, match="the connection failed"):
        fetch(ITEM, config, Progress(quiet=True))
    assert tree(tmp_path) == {}


def test_another_file_than_the_pinned_one_is_not_kept(tmp_path: Path) -> None:
    with serving(File(BODY), File(vec_bytes(seed=1))) as server:
        fetched(server, tmp_path).path.unlink()
        with pytest.raises(BadFile, match="expected the checksum"):
            fetched(server, tmp_path)
    assert set(tree(tmp_path)) == {SUMS}


def test_a_fetched_file_that_has_changed_is_refused_without_a_request(tmp_path: Path) -> None:
    with serving(File(BODY)) as server:
        path = fetched(server, tmp_path).path
        path.write_bytes(BODY[:-1] + bytes([BODY[-1] ^ 1]))
        with pytest.raises(BadFile, match="expected the downloaded file"):
            fetched(server, tmp_path)
        assert len(server.requests) == 1


def test_a_file_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ITEM.name).write_bytes(b"mine")
    with serving(File(BODY)) as server:
        with pytest.raises(BadFile, match="one that muse did not download"):
            fetched(server, tmp_path)
        assert server.requests == []
    assert (tmp_path / ITEM.name).read_bytes() == b"mine"


@pytest.mark.parametrize("text", ["garbage\n", "abc  name\n", "\udce9"])
def test_broken_pins(tmp_path: Path, text: str) -> None:
    (tmp_path / SUMS).write_text(text, encoding="utf-8", errors="surrogateescape")
    with serving(File(BODY)) as server, pytest.raises(BadFile, match="expected "):
        fetched(server, tmp_path)
    assert set(tree(tmp_path)) == {SUMS}


def test_a_dictionary_is_read_before_it_is_kept(tmp_path: Path) -> None:
    item = dictionary("fr-en", "test")
    for body, good in ((b"chat cat\nchien dog\n", True), (b"justoneword\n", False), (b"", False)):
        folder = tmp_path / str(len(body))
        with serving(File(body)) as server:
            own = FetchConfig(folder, server.url, retries=PATIENT)
            if good:
                assert fetch(item, own, Progress(quiet=True)).path.read_bytes() == body
            else:
                with pytest.raises(BadFile):
                    fetch(item, own, Progress(quiet=True))
                assert item.name not in tree(folder)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("nb", "no"), ("nno", "no"), ("iw", "he"), ("cmn", "zh"), ("fil", "tl"), ("in", "id"), ("Deutsch", "de"),
     ("fr_FR", "fr"), ("en-nb", "en-no"), ("iw-eng", "he-en")],
)  # fmt: skip
def test_another_code_of_a_language_is_told_the_one_that_is_published(given: str, meant: str) -> None:
    with pytest.raises(BadSetting, match=f"did you mean {meant}\\?$"):
        (dictionary if "-" in given else vectors)(given)


def test_what_is_published_for_whom() -> None:
    assert len(LANGUAGES) == len(set(LANGUAGES)) == 158  # the 157 of its title, and English
    assert vectors("fr", "wiki").path.endswith("wiki.fr.vec")
    assert dictionary("fr-de").name == "fr-de.txt"
    assert dictionary("en-ru", "train").name == "en-ru.0-5000.txt"
    assert set(WITH_ENGLISH) <= set(LANGUAGES)
    for bad in ("fr", "fr-fr", "fr-ru", "en-en", "xx-en", "", "../fr-en"):
        with pytest.raises(BadSetting, match="dictionaries are published"):
            dictionary(bad)
    with pytest.raises(BadSetting, match="vectors are published"):
        vectors("../../etc/passwd")


def test_the_command_fetches_what_align_then_finds(
    muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(File(BODY)) as server:
        ended = muse("fetch", "vectors", "fr", "--mirror", server.url, "--json")
    (file,) = ended.json["files"]
    assert ended.code == 0
    assert file["path"] == "embeddings/raw/cc.fr.300.vec.gz"
    assert file["licence"] == "CC BY-SA 3.0"
    assert Path(file["path"]).read_bytes() == BODY


def test_dry_run_and_list_touch_nothing(
    muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(File(BODY)) as server:
        dry = muse("fetch", "dictionary", "fr-en", "--dry-run", "--mirror", server.url, "--json")
        assert dry.json["files"][0]["url"] == f"{server.url}/arrival/dictionaries/fr-en.txt"
        assert "CC BY-NC" in dry.json["files"][0]["licence"]
        listed = muse("fetch", "--list").out
        assert server.requests == []
    assert "157" not in listed
    for word in ("CC BY-SA 3.0", "CC BY-NC 4.0", "--source wiki", "https://"):
        assert word in listed
    assert tree(tmp_path) == {}


def test_a_licence_must_be_accepted(muse: Command, tmp_path: Path) -> None:
    body = b"chat cat\n"
    with serving(File(body)) as server:
        arguments = ("fetch", "dictionary", "fr-en", "--out", tmp_path, "--mirror", server.url)
        refused = muse(*arguments)
        assert refused.code == 1
        assert "--accept-non-commercial" in refused.errors[0]
        assert server.requests == []
        assert muse(*arguments, "--accept-non-commercial").code == 0
    assert (tmp_path / "fr-en.txt").read_bytes() == body


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fetch"], 2), (["fetch", "vectors"], 2), (["fetch", "sounds", "fr"], 2),
        (["fetch", "vectors", "fr", "--part", "test", "--dry-run"], 2),
        (["fetch", "dictionary", "fr-en", "--source", "wiki", "--dry-run"], 2),
        (["fetch", "vectors", "klingon"], 1), (["fetch", "vectors", "fr", "--mirror", "file:///etc"], 1),
        (["fetch", "vectors", "fr", "--mirror", "file:///etc", "--dry-run"], 1),
        (["fetch", "vectors", "fr", "--out", "/dev/null/x"], 1),
    ],
)  # fmt: skip
def test_wrong_usage(muse: Command, arguments: list[str], code: int) -> None:
    ended = muse(*arguments)
    assert ended.code == code
    assert "Traceback" not in ended.err
