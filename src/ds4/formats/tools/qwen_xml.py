"""Qwen since Qwen3-Coder: calls one after the other.

    <tool_call>
    <function=stock>
    <parameter=item>
    raw text
    </parameter>
    </function>
    </tool_call>

One newline at each end of a value is markup. A value is raw text where the tool's schema says
string, else JSON.
"""

from ds4.formats.markup import TEXT, Content, Means, Place, Rest, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Parameters, Written

OPENS = Tag(("<tool_call>",), Means.OPEN, "open")
CLOSES = Tag(("</tool_call>",), Means.END_CALL, TEXT)
FUNCTION = Tag(("<function=",), Means.CALL, "call", Rest.NAME)

QWEN_XML = ToolFormat(
    name="qwen_xml",
    signs=("<function=",),
    written=Written(
        opens="<tool_call>\n<function=",
        named=">\n",
        closes="</function>\n</tool_call>",
        names=Names.BARE,
        separators=SPACED,
        gap="\n\n",
        between="\n",
        parameters=Parameters(
            opens="<parameter=",
            text=">\n",
            json=">\n",
            closes="\n</parameter>\n",
            names=Names.BARE,
        ),
    ),
    places={
        TEXT: Place(Content.TEXT, (OPENS,)),
        "open": Place(Content.SPACE, (FUNCTION,)),
        "call": Place(
            Content.SPACE,
            (
                Tag(("<parameter=",), Means.KEY, "value", Rest.NAME),
                Tag(("</function>",), Means.END_CALL, "after"),
                CLOSES,
                OPENS,
                FUNCTION,
            ),
        ),
        "value": Place(
            Content.VALUE,
            (Tag(("\n</parameter>", "</parameter>"), Means.END_VALUE, "call"),),
            skip="\n",
        ),
        "after": Place(Content.SPACE, (CLOSES, FUNCTION, OPENS), otherwise=TEXT),
    },
)
