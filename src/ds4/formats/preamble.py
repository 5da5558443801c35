"""The text that tells a model which tools it has and how to call them: a head, one schema a line, a tail.

The texts here are our own words around each format's tags. A model was trained on its vendor's
words; whoever has them can hand them in as a file, which is recognised by its hash:

    text before the schemas {tool_schemas} text after them

The other placeholders below may stand in such a file too, so that a text copied from an encoder's
source needs no editing.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from ds4.core.errors import OptionError

SCHEMAS = "{tool_schemas}"
_PLACEHOLDERS = {
    "{dsml_token}": "｜DSML｜",
    "{thinking_start_token}": "<think>",
    "{thinking_end_token}": "</think>",
}


class TextOrigin(StrEnum):
    """Whose words a text is."""

    VENDOR = "vendor"
    DS4 = "ds4"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Preamble:
    """`head` ends where the first schema begins; `tail` begins where the last one ends."""

    head: str
    tail: str


_HEADS = {
    "c7c9042638154a237b5d1bd48be772374a35a4d24c5cacfd1ffbd92703da329c": TextOrigin.VENDOR,
    "de87922067300def6cde0b9a5c722c3248d708fb089b088b95c64f082d3a64ea": TextOrigin.DS4,
}
_TAILS = {
    "690702850fe256512cb1ee67c4e436ecb3e735c71ebee77ca45ff357a75fb5a7": TextOrigin.VENDOR,
    "fe26e2683a842d7f5378ebb38e2997e053770d962e3faae89e1d5bf8b8156498": TextOrigin.DS4,
}
_THINK_MAX = {"f7a24f3b3050d4a83781e9b755b316aae2ec1d9dc87562541d90bcb04d7350f7": TextOrigin.VENDOR}


def read_preamble(text: str) -> Preamble:
    """The text of a --tools-preamble file. Raises OptionError unless the schemas have one place in it."""
    for placeholder, meant in _PLACEHOLDERS.items():
        text = text.replace(placeholder, meant)
    head, found, tail = text.partition(SCHEMAS)
    if not found or SCHEMAS in tail:
        raise OptionError(f"--tools-preamble: the file must contain {SCHEMAS} once, where the tools go")
    return Preamble(head, tail)


def preamble_origin(preamble: Preamble) -> TextOrigin:
    head = _HEADS.get(_sha256(preamble.head), TextOrigin.OWN)
    return head if _TAILS.get(_sha256(preamble.tail)) is head else TextOrigin.OWN


def think_max_origin(text: str) -> TextOrigin:
    """Whose words a --think-max file holds."""
    return _THINK_MAX.get(_sha256(text), TextOrigin.OWN)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


THINK_MAX = (
    "Reasoning effort: as high as it goes.\n"
    "Think the whole problem through before you answer: split it into its parts, look for cases that would"
    " break your solution, and check every step again.\n"
    "Write all of this thinking down, also the ways you gave up, and stop only when nothing is left open.\n"
    "\n"
)


def _dsml(block: str, invoke: str, parameter: str) -> Preamble:
    """The arguments are the tag words as they stand behind the special token."""
    mark = "｜DSML｜"
    call = (
        f'<{mark}{invoke} name="TOOL">\n'
        f'<{mark}{parameter} name="TEXT_PARAMETER" string="true">any text</{mark}{parameter}>\n'
        f'<{mark}{parameter} name="OTHER_PARAMETER" string="false">JSON</{mark}{parameter}>\n'
        f"</{mark}{invoke}>\n"
    )
    return Preamble(
        "## Tools\n\n"
        "You can call tools. To do so, end your answer with one block of this form, holding one or more"
        f" calls:\n\n<{mark}{block}>\n{call}{call.replace('TOOL', 'ANOTHER_TOOL')}</{mark}{block}>\n\n"
        'A parameter that is a string is written as it is, with string="true" and no escapes; only a'
        f" closing tag </{mark}{parameter}> inside it is written &lt;/{mark}{parameter}>. Numbers,"
        ' true, false, null, lists and objects are written as JSON, with string="false".\n\n'
        "If <think> is open, finish your reasoning and close it with </think> before the block.\n\n"
        "### Available Tools\n\n",
        "\n\nUse only these tools, with exactly the parameters of their schemas.",
    )


DSML = _dsml("tool_calls", "invoke", "parameter")
DSML_SPACED = _dsml(" calls", " invoke", " parameter")

_LIST = "# Tools\n\nYou can call these functions. Each line is the JSON schema of one:\n<tools>\n"

GLM = Preamble(
    _LIST,
    "\n</tools>\n\nTo call one, write its name and then each argument, a key and a value, like this:\n"
    "<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>\n"
    "A value that is a string is written as it is, any other value as JSON. Write one such block per call.",
)

QWEN_XML = Preamble(
    _LIST,
    "\n</tools>\n\nTo call one, end your answer with a block of this form:\n\n"
    "<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>\n\n"
    "Give every required parameter a block of its own. A value that is a string is written as it is, over"
    " as many lines as it needs; any other value as JSON. Write one <tool_call> block per call and nothing"
    " after the last one. Where no function helps, answer as usual.",
)

HERMES_JSON = Preamble(
    _LIST,
    "\n</tools>\n\nTo call one, write a JSON object with its name and its arguments between these tags:\n"
    '<tool_call>\n{"name": "NAME", "arguments": {"KEY": "VALUE"}}\n</tool_call>\n'
    "Write one such block per call. What the function returns comes back between <tool_response> tags.",
)
