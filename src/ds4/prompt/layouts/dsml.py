"""Earlier tool calls and results in DeepSeek's markup (the form is in `formats/tools/dsml.py`).

One spelling only: the reader of such a block gives back the same arguments, and so would a model's
own block have been written had it been this one.
"""

from dataclasses import dataclass

from ds4.core.messages import ToolCall
from ds4.prompt.json_text import MINIFIED
from ds4.prompt.layouts.values import Parameter, parameters
from ds4.prompt.layouts.writer import Writer

MARK = "｜DSML｜"
RESULT, END_RESULT = "<tool_result>", "</tool_result>"


@dataclass(frozen=True, slots=True)
class Words:
    """The tag words as they stand behind the mark."""

    block: str
    invoke: str
    parameter: str

    @property
    def end_parameter(self) -> str:
        return f"</{MARK}{self.parameter}>"


V4 = Words("tool_calls", "invoke", "parameter")
V41 = Words(" calls", " invoke", " parameter")


def write_calls(out: Writer, calls: tuple[ToolCall, ...], words: Words) -> None:
    out.ours(f"\n\n<{MARK}{words.block}>\n")
    for call in calls:
        out.ours(f'<{MARK}{words.invoke} name="')
        out.client(_attribute(call.name))
        out.ours('">\n')
        for parameter in parameters(call.arguments, MINIFIED):
            _write_parameter(out, parameter, words)
        out.ours(f"</{MARK}{words.invoke}>\n")
    out.ours(f"</{MARK}{words.block}>")


def write_result(out: Writer, text: str) -> None:
    out.ours(RESULT)
    out.client(text.replace(END_RESULT, "&lt;" + END_RESULT[1:]))
    out.ours(END_RESULT)


def _write_parameter(out: Writer, parameter: Parameter, words: Words) -> None:
    out.ours(f'<{MARK}{words.parameter} name="')
    out.client(_attribute(parameter.name))
    out.ours(f'" string="{"true" if parameter.is_string else "false"}">')
    # In JSON the tag can only stand inside a string, where \u003c is the same character.
    escaped = ("&lt;" if parameter.is_string else "\\u003c") + words.end_parameter[1:]
    out.client(parameter.text.replace(words.end_parameter, escaped))
    out.ours(f"{words.end_parameter}\n")


def _attribute(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, entity)
    return text
