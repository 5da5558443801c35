"""The built-in layouts by the name that a family's `template` gives."""

from collections.abc import Callable
from dataclasses import dataclass

from ds4.formats import preamble, thinking
from ds4.formats.preamble import Preamble
from ds4.formats.thinking import NAMED, Efforts
from ds4.prompt.layouts.chat import Chat
from ds4.prompt.layouts.chatml import write_chatml, write_qwen
from ds4.prompt.layouts.deepseek import write_v4, write_v41
from ds4.prompt.layouts.glm import write_glm
from ds4.prompt.layouts.labels import write_labels
from ds4.prompt.layouts.writer import Writer


@dataclass(frozen=True, slots=True)
class Layout:
    """`wraps`: a tool's schema stands in the wrapper of OpenAI's clients."""

    name: str
    write: Callable[[Chat, Writer], None]
    preamble: Preamble
    efforts: Efforts = NAMED
    wraps: bool = True


LAYOUTS = (
    Layout("deepseek-v4", write_v4, preamble.DSML, thinking.DEEPSEEK_V4, wraps=False),
    Layout("deepseek-v4.1", write_v41, preamble.DSML_SPACED, thinking.DEEPSEEK_V41, wraps=False),
    Layout("glm", write_glm, preamble.GLM),
    Layout("qwen", write_qwen, preamble.QWEN_XML),
    Layout("chatml", write_chatml, preamble.HERMES_JSON),
    Layout("labels", write_labels, preamble.HERMES_JSON),
)


def layout_named(name: str) -> Layout | None:
    """None for what is no name, such as the source of a template."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)
