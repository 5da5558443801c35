"""What follows from a chat template's text, before anything is rendered."""

import re

from ds4.formats.family import Family
from ds4.formats.markup import ToolFormat
from ds4.formats.tools.hermes_json import HERMES_JSON
from ds4.formats.tools.registry import written_by

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_TOOLS = re.compile(r"(?<![\w.<'\"])tools\b")


def knows_tools(template: str) -> bool:
    """Whether Jinja source reads the variable `tools`. One that does not would hide them from the model."""
    return any(_TOOLS.search(code) for code in _CODE.findall(_COMMENT.sub("", template)))


def tool_format(family: Family, template: str) -> ToolFormat:
    """How the model writes calls when it is prompted with `template`.

    A template that knows no tools is given ours, which ask for JSON between tags. What a template shows of a
    format may be too little to tell its dialects apart: then it is the family's own.
    """
    if template == family.template:
        return family.tool_format
    if not knows_tools(template):
        return HERMES_JSON
    shown, own = written_by(template), family.tool_format
    return own if shown is None or shown.places is own.places else shown
