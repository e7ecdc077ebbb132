"""Errors that are answered before FastAPI has the request are those of the API."""

from __future__ import annotations

import json

import pytest

from muse.web.guards import problem

pytest.importorskip("pydantic")

from muse.web.responses import Problem  # noqa: E402


@pytest.mark.parametrize("text", ["busy", 'of "quotes"', "été\n\x00"])
def test_a_problem_is_that_of_the_api(text: str) -> None:
    assert json.loads(problem(text)) == Problem(error=text).model_dump()
