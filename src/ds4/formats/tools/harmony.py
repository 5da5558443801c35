"""gpt-oss: messages with headers. The prompt ends with `<|start|>assistant`.

    <|channel|>analysis<|message|>reasoning<|end|>
    <|start|>assistant<|channel|>commentary to=functions.stock
    <|constrain|>json<|message|>{"item": "A"}<|call|>
    <|start|>assistant<|channel|>final<|message|>text<|return|>

(without the newlines). The recipient may also stand before the channel. Only `analysis` is
reasoning; a message to a tool is a call.
"""

from ds4.formats.markup import TEXT, Channels, Content, Header, Means, Place, Reasoning, Tag, ToolFormat
from ds4.formats.written import SPACED, Names, Written

HEADER = Tag(("<|start|>", "<|channel|>"), Means.OPEN, "header")
ENDS = Tag(("<|end|>", "<|return|>", "<|call|>"), Means.NOTHING, "between")

HARMONY = ToolFormat(
    name="harmony",
    signs=("<|channel|>",),
    written=Written(
        opens="<|channel|>commentary to=functions.",
        named=" <|constrain|>json<|message|>",
        closes="<|call|>",
        names=Names.WORD,
        separators=SPACED,
        between="<|start|>assistant",
        text="<|channel|>final<|message|>",
        note="<|channel|>commentary<|message|>",
        turn="<|start|>assistant",
    ),
    channels=Channels(Reasoning("<|channel|>analysis<|message|>", "<|end|>"), opened="analysis"),
    start="start",
    places={
        "start": Place(
            Content.SPACE, (HEADER, Tag(("to=",), Means.OPEN, "header", peek=True)), otherwise=TEXT
        ),
        "header": Place(
            Content.HEADER,
            (Tag(("<|message|>",), Means.MESSAGE, TEXT),),
            header=Header(
                recipient=r"\bto=(?:functions\.)?([\w.:-]+)",
                call_to="arguments",
                reasoning=r"(?:^|<\|channel\|>)\s*analysis\b",
                reasoning_to="analysis",
            ),
        ),
        "analysis": Place(Content.REASONING, (ENDS, HEADER)),
        TEXT: Place(Content.TEXT, (ENDS, HEADER)),
        "arguments": Place(Content.ARGS_JSON, then="between"),
        "between": Place(Content.SPACE, (ENDS, HEADER), otherwise=TEXT),
    },
)
