"""The API of muse serve against its own OpenAPI: schemathesis asks what fits the description and what not."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest.importorskip("fastapi")
pytest.importorskip("sklearn")
schemathesis = pytest.importorskip("schemathesis")

from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

from muse.web.app import create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

pytestmark = pytest.mark.slow
# Loaded here, not in all other tests' processes too, where importing it takes more than a second.
pytest_plugins = ["schemathesis.pytest.plugin"]

# That the space has not got a language or a word is no part of the description.
LEFT_OUT = [positive_data_acceptance]
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", create_app(Explorer(small_space(), "fr-en")))


@SCHEMA.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_openapi_describes(case: Any) -> None:
    # All other checks of its own: no 5xx, and a status, a type and a body that are described.
    case.call_and_validate(excluded_checks=LEFT_OUT)
