"""The tool formats by name."""

from ds4.core.errors import OptionError
from ds4.formats.markup import ToolFormat
from ds4.formats.tools.dsml import DSML, DSML_V41
from ds4.formats.tools.glm import GLM
from ds4.formats.tools.harmony import HARMONY
from ds4.formats.tools.hermes_json import HERMES_JSON
from ds4.formats.tools.llama_json import LLAMA_JSON
from ds4.formats.tools.mistral import MISTRAL
from ds4.formats.tools.qwen_xml import QWEN_XML

TOOL_FORMATS = (DSML_V41, DSML, HARMONY, GLM, QWEN_XML, MISTRAL, HERMES_JSON, LLAMA_JSON)
"""In the order of `written_by`: a format whose signs hold another's comes first."""


def tool_format_named(name: str) -> ToolFormat:
    """Raises OptionError naming the known formats."""
    for tool_format in TOOL_FORMATS:
        if tool_format.name == name:
            return tool_format
    known = ", ".join(tool_format.name for tool_format in TOOL_FORMATS)
    raise OptionError(f"--tool-format {name}: no such format; known are {known}")


def written_by(template: str) -> ToolFormat | None:
    """The format that a chat template shows to the model; None when it knows no tools."""
    for tool_format in TOOL_FORMATS:
        if any(sign in template for sign in tool_format.signs):
            return tool_format
    return None
