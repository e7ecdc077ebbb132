"""muse serve: it listens to this machine alone, says where, answers at once and ends without a word."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from muse.errors import BadSetting
from muse.space import save_space
from muse.web.server import bind, is_loopback, url
from tests.support.command import Command, tree
from tests.support.spaces import PROVENANCE, derived, saved, sides_to_save

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("::1", True), ("[::1]", True),
        ("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("example.org", False), ("", False),
        ("localhost.evil.example", False),
    ],
)  # fmt: skip
def test_what_is_this_machine(host: str, own: bool) -> None:
    assert is_loopback(host) == own
    if not own:
        with pytest.raises(BadSetting, match="--allow-remote"):
            bind(host)


def test_a_port_that_is_taken() -> None:
    with bind() as first:
        port = first.getsockname()[1]
        assert url(first) == f"http://127.0.0.1:{port}/"
        with pytest.raises(BadSetting, match="must be free to listen on"):
            bind(port=port)


def test_an_answer_is_sent_without_waiting_for_a_confirmation() -> None:
    with bind() as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_host_that_is_not_ours() -> None:
    with pytest.raises(BadSetting, match="must be free to listen on"):
        bind("203.0.113.7", allow_remote=True)


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--host", "0.0.0.0"], "--allow-remote"), (["--port", "99999"], "port")]
)
def test_bad_settings(muse: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    saved(tmp_path / "space")
    before = tree(tmp_path)
    ended = muse("serve", tmp_path / "space", *arguments)
    assert ended.code in (1, 2)
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert tree(tmp_path) == before


def test_no_space(muse: Command, tmp_path: Path) -> None:
    ended = muse("serve", tmp_path / "none")
    assert ended.code == 1
    assert "expected an aligned space" in ended.errors[0]


def test_a_space_of_one_language(muse: Command, tmp_path: Path) -> None:
    save_space(tmp_path / "one", {"en": sides_to_save()["en"]}, pivot="en", provenance=PROVENANCE)
    ended = muse("serve", tmp_path / "one", "--port", 0)
    assert ended.code == 1
    assert "nothing besides en" in ended.errors[0]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("after", [0.0, 0.3])
def test_it_ends_while_it_draws_the_first_picture(tmp_path: Path, number: int, after: float) -> None:
    saved(tmp_path / "space", count=2_000)
    command = [sys.executable, "-m", "muse", "serve", str(tmp_path / "space"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            process.stdout.readline()
            time.sleep(after)
            process.send_signal(number)
            assert (process.wait(timeout=60), process.stderr.read()) == (0, "")
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("serving", [False, True])
def test_it_ends_where_what_was_derived_is_damaged(tmp_path: Path, serving: bool) -> None:
    """While that is found again, and after an answer without it; no thread is at work at the end."""
    saved(tmp_path / "space", count=2_000, plain=True)
    derived(tmp_path / "space")
    for path in (tmp_path / "space" / "fr").glob("*.en.*"):
        path.write_bytes(path.read_bytes()[:-9])
    command = [sys.executable, "-m", "muse", "serve", str(tmp_path / "space"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert "not used" in process.stderr.readline()
            if serving:
                where = process.stdout.readline().split()[-1]
                with urllib.request.urlopen(f"{where}api/translate?word=fr20", timeout=60) as answer:
                    assert json.loads(answer.read())["translations"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == (0 if serving else 143)
            assert "terminate called" not in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    command = [sys.executable, "-m", "muse", "serve", str(tmp_path / "space"), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            where = json.loads(process.stdout.readline())["url"]
            with urllib.request.urlopen(f"{where}healthz", timeout=60) as answer:
                assert json.loads(answer.read())["status"] == "ok"
            # Too long a line for any question: refused before it is all read, and the server lives on.
            port = int(where.rstrip("/").rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
                raw.sendall(b"GET /api/translate?word=" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
                assert b"400" in raw.recv(100)
            # A malformed body, after its head was taken for a request.
            with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
                raw.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
                assert b"400" in raw.recv(100)
            with urllib.request.urlopen(f"{where}api/spaces", timeout=60) as answer:
                assert json.loads(answer.read())["spaces"]
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""
        finally:
            process.kill()
