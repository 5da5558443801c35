"""What follows from a chat template's text."""

import pytest

from ds4.formats.family import Family
from ds4.formats.registry import FAMILIES, family_named
from ds4.formats.templates import knows_tools, tool_format

CHATML = family_named("chatml")


@pytest.mark.parametrize(
    "template",
    [
        "{% if tools %}x{% endif %}",
        "{%- for tool in tools -%}x{%- endfor -%}",
        "{{ tools | tojson }}",
        "{%- if not (tools is defined\n and tools) -%}",
        "{% set t = (tools or [])|length %}",
    ],
)
def test_a_template_that_reads_tools_knows_them(template: str) -> None:
    assert knows_tools(template)


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{{ messages[0].content }}",
        "You have no tools. {{ messages }}",
        "{# tools #}{{ messages }}",
        "{{ message.tool_calls }}{{ message['tools'] }}{{ message.tools }}{{ '<tools>' }}{{ xml_tools }}",
    ],
)
def test_others_do_not(template: str) -> None:
    assert not knows_tools(template)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_built_in_layout_has_its_familys_format(family: Family) -> None:
    assert tool_format(family, family.template) is family.tool_format


@pytest.mark.parametrize("name", ["chatml", "deepseek-v4", "glm-5.2"])
def test_a_template_without_tools_gets_ours_whatever_the_family(name: str) -> None:
    assert tool_format(family_named(name), "{{ messages }}<tool_call>").name == "hermes_json"


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("<｜DSML｜tool_calls>", "dsml"),
        ("<tool_call>{{ name }}<arg_key>", "glm"),
        ("<tool_call>\n<function=x>", "qwen_xml"),
        ('<tool_call>\n{"name": "x"}', "hermes_json"),
        ("[TOOL_CALLS]", "mistral"),
        ("<|channel|>commentary", "harmony"),
    ],
)
def test_a_template_shows_its_format(shown: str, name: str) -> None:
    assert tool_format(CHATML, "{% if tools %}" + shown + "{% endif %}").name == name


def test_a_template_with_markup_nobody_knows_has_its_familys_format() -> None:
    assert tool_format(family_named("glm-5.2"), "{% if tools %}[[CALL]]{% endif %}").name == "glm"
