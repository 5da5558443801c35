"""Llama 3: the answer is one JSON object per call, parted by `;` or a newline.

    {"name": "stock", "parameters": {"item": "A", "depth": 2}}

Some put <|python_tag|> in front. Without it nothing tells a call from an answer in JSON but the
tool's name, so there only the caller's tools make a call.
"""

from ds4.formats.markup import TEXT, Content, Means, Place, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Written

OPENS = Tag(("<|python_tag|>",), Means.OPEN, "tagged call")
BARE = Tag(("{",), Means.OPEN, "bare call", peek=True)

LLAMA_JSON = ToolFormat(
    name="llama_json",
    signs=("<|python_tag|>", "Environment: ipython"),
    written=Written(
        opens='{"name": "',
        named='", "parameters": ',
        closes="}",
        names=Names.JSON,
        separators=SPACED,
        between="; ",
    ),
    start="start",
    places={
        "start": Place(Content.SPACE, (OPENS, BARE), otherwise=TEXT),
        TEXT: Place(Content.TEXT, (OPENS,)),
        "tagged call": Place(Content.CALL_JSON, then="after"),
        "bare call": Place(Content.CALL_JSON, then="after", known=True),
        "after": Place(Content.SPACE, (Tag((";",), Means.OPEN, "bare call"), OPENS, BARE), otherwise=TEXT),
    },
)
