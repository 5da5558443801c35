"""The OpenAPI page against the server it describes, with generated requests, valid ones and others.

Repeatable: the examples come from a fixed seed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from ds4.api.openapi import document
from ds4.api.table import TABLE
from ds4.testing.process import server_process

pytestmark = [pytest.mark.server]

KEY = "sk-0123456789"
HEADERS = {"x-api-key": KEY}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]
SCRIPT = "def reply(prompt):\n    return 'The rivers are Rhine and Main.'\n"
PATHS = document(TABLE, version="", locked=True)["paths"]
OPERATIONS = [(path, method) for path, item in PATHS.items() for method in item if method != "parameters"]
WITH_INPUT = [(path, method) for path, method in OPERATIONS if "requestBody" in PATHS[path][method]]
BOUNDED = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Described:
    page: BaseSchema

    def conform(self, path: str, method: str, mode: GenerationMode) -> None:
        @BOUNDED
        @given(case=self.page[path][method].as_strategy(mode))
        def check(case: Case[Any]) -> None:
            # Generated keys are wrong ones: they would keep the request from its endpoint.
            case.call_and_validate(headers=HEADERS, checks=CHECKS)

        check()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    folder: Path = tmp_path_factory.mktemp("described")
    (folder / "rivers.py").write_text(SCRIPT)
    options = ["--engine", "scripted", "--script", "rivers.py", "--ctx", "4096", "--api-key", KEY]
    with server_process(folder, *options) as running:
        page = schemathesis.openapi.from_url(f"{running.url}/openapi.json", headers=HEADERS)
        yield Described(page)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_what_the_page_allows(server: Described, path: str, method: str) -> None:
    server.conform(path, method, GenerationMode.POSITIVE)


@pytest.mark.parametrize(("path", "method"), WITH_INPUT)
def test_what_the_page_does_not_allow(server: Described, path: str, method: str) -> None:
    server.conform(path, method, GenerationMode.NEGATIVE)
