"""How calls are written: chosen by the vocabulary, with names that can be read again."""

import pytest

from ds4.formats.markup import Content, Means, ToolFormat
from ds4.formats.tools.mistral import MISTRAL
from ds4.formats.tools.registry import TOOL_FORMATS
from ds4.formats.written import Names

every_format = pytest.mark.parametrize("tool_format", TOOL_FORMATS, ids=lambda f: f.name)


def test_mistral_names_its_calls_where_the_vocabulary_has_the_entry() -> None:
    assert MISTRAL.written.by({"[ARGS]"}).named == "[ARGS]"
    assert MISTRAL.written.by({"[TOOL_CALLS]"}).before == "[TOOL_CALLS]["


@pytest.mark.parametrize(
    ("names", "spelled"),
    [(Names.ATTRIBUTE, "a&lt;b&gt;&quot;&amp;c"), (Names.BARE, 'a<b>"&c'), (Names.JSON, 'a<b>"&c')],
)
def test_names_are_spelled(names: Names, spelled: str) -> None:
    assert names.spelled('a<b>"&c') == spelled


@every_format
def test_values_end_with_a_tag_that_the_reader_knows(tool_format: ToolFormat) -> None:
    parameters = tool_format.written.parameters
    reads_values = any(place.content is Content.VALUE for place in tool_format.places.values())
    assert (parameters is not None) is reads_values
    if parameters is not None:
        places = [place for place in tool_format.places.values() if place.content is Content.VALUE]
        ends = {text for place in places for tag in place.tags for text in tag.spellings}
        escapes = {
            text
            for place in places
            for tag in place.tags
            if tag.means is Means.LITERAL
            for text in tag.spellings
        }
        assert parameters.closes.strip() in ends
        assert parameters.escaped in {"", *escapes}
