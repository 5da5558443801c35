"""Mistral: a JSON list after a control token,

    [TOOL_CALLS][{"name": "stock", "arguments": {"item": "A"}, "id": "9aBc12dE3"}]

or, newer, a control token and a name per call. The id may be missing, and so may [ARGS].

    [TOOL_CALLS]stock[CALL_ID]9aBc12dE3[ARGS]{"item": "A"}
"""

from ds4.formats.markup import TEXT, Content, Means, Place, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Written

OPENS = Tag(("[TOOL_CALLS]",), Means.OPEN, "open")
ARGS = (
    Tag(("[ARGS]",), Means.NOTHING, "arguments"),
    Tag(("{",), Means.NOTHING, "arguments", peek=True),
)

LIST = Written(
    before="[TOOL_CALLS][",
    opens='{"name": "',
    named='", "arguments": ',
    closes="}",
    names=Names.JSON,
    separators=SPACED,
    between=", ",
    after="]",
)
NAMED = Written(
    opens="[TOOL_CALLS]",
    named="[ARGS]",
    closes="",
    names=Names.BARE,
    separators=SPACED,
    needs="[ARGS]",
    otherwise=LIST,
)

MISTRAL = ToolFormat(
    name="mistral",
    signs=("[TOOL_CALLS]",),
    written=NAMED,
    places={
        TEXT: Place(Content.TEXT, (OPENS,)),
        "open": Place(Content.SPACE, (Tag(("[",), Means.NOTHING, "list"),), otherwise="name"),
        "list": Place(
            Content.SPACE,
            (
                Tag(("{",), Means.NOTHING, "item", peek=True),
                Tag((",",), Means.NOTHING, "list"),
                Tag(("]",), Means.NOTHING, TEXT),
            ),
        ),
        "item": Place(Content.CALL_JSON, then="list"),
        "name": Place(Content.TOOL_NAME, (Tag(("[CALL_ID]",), Means.NOTHING, "id"), *ARGS)),
        "id": Place(Content.IGNORED, ARGS),
        "arguments": Place(Content.ARGS_JSON),
    },
)
