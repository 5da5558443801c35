"""Hermes and older Qwen: a JSON object per call, each in its own tags.

<tool_call>
{"name": "stock", "arguments": {"item": "A", "depth": 2}}
</tool_call>
"""

from ds4.formats.markup import TEXT, Content, Means, Place, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Written

OPENS = Tag(("<tool_call>",), Means.OPEN, "call")

HERMES_JSON = ToolFormat(
    name="hermes_json",
    signs=("<tool_call>",),
    written=Written(
        opens='<tool_call>\n{"name": "',
        named='", "arguments": ',
        closes="}\n</tool_call>",
        names=Names.JSON,
        separators=SPACED,
        gap="\n",
        between="\n",
    ),
    places={
        TEXT: Place(Content.TEXT, (OPENS,)),
        "call": Place(Content.CALL_JSON, then="after"),
        "after": Place(Content.SPACE, (Tag(("</tool_call>",), Means.NOTHING, TEXT), OPENS)),
    },
)
