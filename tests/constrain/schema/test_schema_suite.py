"""The JSON schema test suite, as far as the keywords go that are enforced.

HYPOTHESIS_PROFILE=thorough takes both drafts, and more samples.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from schema_machine import Machine, Verdict, attempt

from ds4.constrain.schema import Cleaned
from ds4.constrain.schema.keywords import KEYWORDS, Status
from ds4.core.errors import BadRequest
from thorough import THOROUGH

DRAFTS = ("draft2020-12", "draft7") if THOROUGH else ("draft2020-12",)
SAMPLES = 30 if THOROUGH else 1
DIALECTS = {"draft2020-12": {}, "draft7": {"$schema": "http://json-schema.org/draft-07/schema#"}}

NARROWER = {
    # What the library cannot write, or we leave out: see `formats`.
    "optional/format/date-time": ("leap second",),
    "optional/format/time": ("leap second",),
    "optional/format/email": ("quoted string", "address-literal"),
    "optional/format/hostname": ("xn--",),
    "optional/format/ipv6": ("mixed format", "a long valid"),
}
"""Files with words of the tests whose values are right and cannot be written."""
NOT_FOR_PYTHON = ("optional/ecmascript-regex",)
"""Files whose patterns Python does not read as ECMA-262 does."""


@dataclass(frozen=True)
class Case:
    draft: str
    file: str
    name: str
    schema: Any
    tests: tuple[dict[str, Any], ...]

    def attempt(self, *, strict: bool) -> Cleaned | BadRequest:
        return attempt(self.schema, strict=strict)


def cases(draft: str) -> Iterator[Case]:
    suite = json.loads((Path(__file__).parent / "suite" / f"{draft}.json").read_text(encoding="utf-8"))
    for file, found in suite["files"].items():
        for case in found:
            schema = case["schema"]
            schema = {**DIALECTS[draft], **schema} if isinstance(schema, dict) else schema
            yield Case(draft, file, case["description"], schema, tuple(case["tests"]))


def by_file() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for draft in DRAFTS:
        for case in cases(draft):
            found.setdefault(case.file, []).append(case)
    return found


CASES = by_file()


def has_whole_float(value: object) -> bool:
    """The library writes integers without a fraction."""
    if isinstance(value, list | dict):
        return any(map(has_whole_float, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value == int(value)


def is_narrower(case: Case, test: dict[str, Any]) -> bool:
    words = NARROWER.get(case.file, ())
    told = f"{test['description']} {test['data']}".lower()
    return has_whole_float(test["data"]) or any(word in told for word in words)


@pytest.mark.parametrize("file", sorted(CASES))
def test_what_is_enforced_is_enforced(file: str) -> None:
    for case in CASES[file]:
        found = case.attempt(strict=True)
        if isinstance(found, BadRequest):
            continue
        machine = Machine(found.schema)
        for test in case.tests:
            if not test["valid"] or not is_narrower(case, test):
                assert machine.takes(test["data"]) == test["valid"], (case, test, found)
        if file in NOT_FOR_PYTHON or "\\p{" in repr(case.schema):
            continue
        verdict = Verdict(case.schema, case.draft)
        for text in filter(None, map(machine.sampled, range(SAMPLES))):
            assert verdict.on_text(text), (case, text, found)


@pytest.mark.parametrize("file", sorted(CASES))
def test_dropping_only_allows_more(file: str) -> None:
    for case in CASES[file]:
        found = case.attempt(strict=False)
        if isinstance(found, BadRequest):
            assert "allows no value" in found.message, case
            assert not any(test["valid"] for test in case.tests), case
        elif found.dropped:
            machine = Machine(found.schema)
            for test in case.tests:
                if test["valid"] and not is_narrower(case, test):
                    assert machine.takes(test["data"]), (case, test, found)


@pytest.mark.parametrize("file", sorted(CASES))
def test_refusals_name_a_keyword_of_the_table_at_its_place(file: str) -> None:
    for case in CASES[file]:
        refused, found = case.attempt(strict=True), case.attempt(strict=False)
        if isinstance(found, BadRequest):
            assert isinstance(refused, BadRequest)
        elif isinstance(refused, BadRequest):
            assert refused.param
            assert refused.param in refused.message
            at, _, keyword = refused.param.rpartition(".")
            assert KEYWORDS[keyword].status is not Status.ANNOTATION
            assert f"{at}: {keyword}" in found.dropped
        else:
            assert found.dropped == ()


@pytest.mark.parametrize(
    "name", ["contains", "dependentSchemas", "if-then-else", "not", "propertyNames", "uniqueItems"]
)
def test_a_keyword_that_is_not_enforced_is_refused_where_it_counts(name: str) -> None:
    for case in CASES[name]:
        refused = isinstance(case.attempt(strict=True), BadRequest)
        means_nothing = "without" in case.name or "false" in case.name
        assert refused or means_nothing or all(test["valid"] for test in case.tests), case


def test_every_enforced_keyword_is_enforced_somewhere() -> None:
    files = {
        file
        for file, found in CASES.items()
        if any(isinstance(case.attempt(strict=True), Cleaned) for case in found)
    }
    enforced = {name for name, keyword in KEYWORDS.items() if keyword.status is Status.ENFORCED}
    # Those of the suite are all open to other names.
    assert files >= (enforced & CASES.keys()) - {"patternProperties"}
