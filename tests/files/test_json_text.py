"""JSON from anybody: a value or a ValueError."""

import pytest

from muse.files.json_text import DEEPEST, parse_json


def test_a_value() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
    assert parse_json("[" * DEEPEST + "]" * DEEPEST)
    assert parse_json(b'"text"') == "text"
    assert parse_json(r'"\ud83d\udc4d"') == "👍"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", b"\xff\xfe\x00", "[" * 100_000, '{"a":' * 100_000, "1" * 5_000, "[" * 200 + "]" * 200,
        r'["\ud800"]', r'{"\udc00": 1}', b'"\xed\xa0\x80"',
    ],
)  # fmt: skip
def test_what_is_broken_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_paths_may_have_bytes_that_are_not_utf_8() -> None:
    text = r'["fr\udcff.vec"]'
    with pytest.raises(ValueError):
        parse_json(text)
    assert parse_json(text, "surrogateescape") == [b"fr\xff.vec".decode(errors="surrogateescape")]
    with pytest.raises(ValueError):
        parse_json(r'["fr\ud800.vec"]', "surrogateescape")
