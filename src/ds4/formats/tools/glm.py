"""GLM: calls one after the other, each in its own tags.

    <tool_call>stock
    <arg_key>item</arg_key>
    <arg_value>raw text</arg_value>
    <arg_key>depth</arg_key>
    <arg_value>2</arg_value>
    </tool_call>

Newlines between the parts may be missing. A value is raw text where the tool's schema says string,
else JSON.
"""

from ds4.formats.markup import TEXT, Content, Means, Place, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Parameters, Written

OPENS = Tag(("<tool_call>",), Means.OPEN, "name")
CLOSES = Tag(("</tool_call>",), Means.END_CALL, TEXT)
KEY = Tag(("<arg_key>",), Means.NOTHING, "key")

GLM = ToolFormat(
    name="glm",
    signs=("<arg_key>",),
    written=Written(
        opens="<tool_call>",
        named="",
        closes="</tool_call>",
        names=Names.BARE,
        separators=SPACED,
        parameters=Parameters(
            opens="<arg_key>",
            text="</arg_key><arg_value>",
            json="</arg_key><arg_value>",
            closes="</arg_value>",
            names=Names.LINE,
        ),
    ),
    places={
        TEXT: Place(Content.TEXT, (OPENS,)),
        "name": Place(Content.TOOL_NAME, (KEY, CLOSES)),
        "call": Place(Content.SPACE, (KEY, CLOSES, OPENS)),
        "key": Place(Content.KEY, (Tag(("</arg_key>",), Means.NOTHING, "between"),)),
        "between": Place(Content.SPACE, (Tag(("<arg_value>",), Means.NOTHING, "value"), KEY, CLOSES, OPENS)),
        "value": Place(Content.VALUE, (Tag(("</arg_value>",), Means.END_VALUE, "call"),)),
    },
)
