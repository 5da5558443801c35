"""Every golden output, however it is cut: whole, byte by byte and at every place in two."""

import pytest
from feeding import bytewise
from transcripts import Case, cases, lines_of, run

from ds4.formats.tools.registry import TOOL_FORMATS
from thorough import some_of

every_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)


def test_every_format_has_cases() -> None:
    formats = {case.format for case in cases()}
    assert formats == {tool_format.name for tool_format in TOOL_FORMATS}


@every_case
def test_whole(case: Case) -> None:
    assert lines_of(run(case.reader(), [case.raw.encode()], cut=case.cut)) == case.events


@every_case
def test_byte_by_byte(case: Case) -> None:
    assert lines_of(run(case.reader(), bytewise(case.raw.encode()), cut=case.cut)) == case.events


@every_case
def test_cut_in_two_anywhere(case: Case) -> None:
    data = case.raw.encode()
    whole = run(case.reader(), [data], cut=case.cut)
    for at in some_of(range(len(data)), 5):
        assert run(case.reader(), [data[:at], data[at:]], cut=case.cut) == whole, at
