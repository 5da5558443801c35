"""The tables of the tool formats: sound as data, and found by name and by template."""

import pytest

from ds4.core.errors import OptionError
from ds4.formats.family import Family
from ds4.formats.markup import TEXT, Content, Means, Place, ToolFormat
from ds4.formats.reasoning import OPENED, THINK, THINK_LINES, UNOPENED, reasoning_places
from ds4.formats.registry import FAMILIES
from ds4.formats.tools.registry import TOOL_FORMATS, tool_format_named, written_by

every_format = pytest.mark.parametrize("tool_format", TOOL_FORMATS, ids=lambda f: f.name)
JSON = (Content.CALL_JSON, Content.ARGS_JSON)


def ways_out(place: Place) -> set[str]:
    ways = {tag.to for tag in place.tags} | {tag.bare_to for tag in place.tags} | {place.otherwise}
    if place.content in JSON:
        ways.add(place.then)
    if place.header:
        ways |= {place.header.call_to, place.header.reasoning_to}
    return {way for way in ways if way is not None}


def all_places(tool_format: ToolFormat) -> dict[str, Place]:
    return {**tool_format.places, **reasoning_places(THINK, tool_format.start)}


def test_every_format_is_found_by_its_name() -> None:
    assert [tool_format_named(tool_format.name) for tool_format in TOOL_FORMATS] == list(TOOL_FORMATS)
    assert len({tool_format.name for tool_format in TOOL_FORMATS}) == len(TOOL_FORMATS)


def test_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError) as caught:
        tool_format_named("xml")
    assert "--tool-format xml" in caught.value.message
    assert all(tool_format.name in caught.value.message for tool_format in TOOL_FORMATS)


@every_format
def test_every_way_leads_to_a_place_that_is_reached(tool_format: ToolFormat) -> None:
    places = all_places(tool_format)
    starts = {tool_format.start, OPENED, UNOPENED, TEXT}
    assert starts | {way for place in places.values() for way in ways_out(place)} == set(places)


@every_format
def test_text_is_text(tool_format: ToolFormat) -> None:
    assert tool_format.places[TEXT].content is Content.TEXT


@every_format
def test_only_structure_has_another_way(tool_format: ToolFormat) -> None:
    for place in all_places(tool_format).values():
        assert place.otherwise is None or place.content is Content.SPACE
        assert not (place.tags and place.content in JSON)


@every_format
def test_no_two_tags_of_a_place_are_spelled_alike(tool_format: ToolFormat) -> None:
    for place in all_places(tool_format).values():
        spellings = [spelling for tag in place.tags for spelling in tag.spellings]
        assert len(set(spellings)) == len(spellings)
        assert all(spellings)


@every_format
def test_values_can_be_ended_and_calls_opened(tool_format: ToolFormat) -> None:
    for place in tool_format.places.values():
        if place.content is Content.VALUE:
            assert any(tag.means is Means.END_VALUE for tag in place.tags)
    assert any(tag.means is Means.OPEN for place in tool_format.places.values() for tag in place.tags)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("... <｜DSML｜tool_calls> ...", "dsml"),
        ("... <｜DSML｜ calls> ...", "dsml_v41"),
        ("<tool_call>{{ name }}<arg_key>", "glm"),
        ("<tool_call>\n<function=x>", "qwen_xml"),
        ('<tool_call>\n{"name": ', "hermes_json"),
        ("[TOOL_CALLS]", "mistral"),
        ("<|start|>assistant<|channel|>final", "harmony"),
        ("<|python_tag|>", "llama_json"),
        ("{{ messages }}", None),
    ],
)
def test_a_template_shows_its_format(template: str, name: str | None) -> None:
    found = written_by(template)
    assert (found and found.name) == name


def test_families() -> None:
    formats = {family.name: (family.tool_format.name, family.reasoning) for family in FAMILIES}
    assert formats == {
        "deepseek-v4": ("dsml", THINK),
        "deepseek-v4.1": ("dsml_v41", THINK),
        "glm-5.2": ("glm", THINK),
        "glm-5.3": ("glm", THINK),
        "qwen3.8": ("qwen_xml", THINK_LINES),
        "chatml": ("hermes_json", THINK_LINES),
        "generic": ("hermes_json", THINK_LINES),
    }


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.markup], ids=lambda f: f.name)
def test_the_vocabulary_has_the_markers(family: Family) -> None:
    assert {family.reasoning.open, family.reasoning.close} <= set(family.markup)
