"""DeepSeek V4: one block of calls, directly after the text. The block's end ends the answer.

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="stock">
    <｜DSML｜parameter name="item" string="true">raw text</｜DSML｜parameter>
    <｜DSML｜parameter name="depth" string="false">2</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

string="true" is raw text, in which only the closing tag is written &lt;/｜DSML｜parameter>;
string="false" is JSON. V4.1 writes `｜DSML｜ calls`, `｜DSML｜ invoke`, `｜DSML｜ parameter`. Models slip:
the first bar or all of DSML is missing, the block has another name, the attribute is missing, a
parameter holds further parameters.

A block without DSML is closed by tags without it, and the other way round: the payload of one may
quote the other.
"""

from dataclasses import replace
from itertools import product

from ds4.formats.markup import TEXT, Content, Means, Place, Rest, Tag, ToolFormat
from ds4.formats.written import MINIFIED, Names, Parameters, Written

BLOCKS = ("tool_calls", "toolcalls", "function_calls", "calls", "tool")
PLAIN_BLOCKS = ("tool_calls", "toolcalls", "function_calls")
MARKS = ("｜DSML｜", "｜DSML｜ ", "DSML｜", "DSML｜ ")
PLAIN = ("",)
MARK = MARKS[0]


def _tags(before: str, marks: tuple[str, ...], words: tuple[str, ...], after: str) -> tuple[str, ...]:
    return tuple(before + mark + word + after for mark, word in product(marks, words))


def _dialect(name: str, marks: tuple[str, ...], blocks: tuple[str, ...]) -> dict[str, Place]:
    """The places inside a block; `name` keeps them apart from another dialect's."""
    block, call, value, fresh = f"{name} block", f"{name} call", f"{name} value", f"{name} fresh value"
    invoke = Tag(_tags("<", marks, ("invoke",), ""), Means.CALL, call, Rest.ATTRIBUTES)
    ends_block = Tag(_tags("</", marks, blocks, ">"), Means.END_ANSWER, TEXT)
    parameter = _tags("<", marks, ("parameter",), "")
    ends_parameter = _tags("</", marks, ("parameter",), ">")
    escaped = tuple(
        Tag(("&lt;" + closing[1:],), Means.LITERAL, value, literal=closing) for closing in ends_parameter
    )
    return {
        block: Place(Content.SPACE, (invoke, ends_block)),
        call: Place(
            Content.SPACE,
            (
                Tag(parameter, Means.KEY, value, Rest.ATTRIBUTES, bare_to=fresh),
                Tag(ends_parameter, Means.END_OBJECT, call),
                Tag(_tags("</", marks, ("invoke",), ">"), Means.END_CALL, block),
                invoke,
                ends_block,
            ),
        ),
        value: Place(Content.VALUE, (Tag(ends_parameter, Means.END_VALUE, call), *escaped)),
        fresh: Place(
            Content.SPACE,
            (Tag(parameter, Means.INNER_KEY, value, Rest.ATTRIBUTES, bare_to=fresh),),
            otherwise=value,
        ),
    }


def _written(block: str, call: str, parameter: str) -> Written:
    """The arguments are the tag words as they stand behind the mark."""
    return Written(
        before=f"\n\n<{MARK}{block}>\n",
        opens=f'<{MARK}{call} name="',
        named='">\n',
        closes=f"</{MARK}{call}>\n",
        after=f"</{MARK}{block}>",
        names=Names.ATTRIBUTE,
        separators=MINIFIED,
        parameters=Parameters(
            opens=f'<{MARK}{parameter} name="',
            text='" string="true">',
            json='" string="false">',
            closes=f"</{MARK}{parameter}>\n",
            names=Names.ATTRIBUTE,
            escaped=f"&lt;/{MARK}{parameter}>",
        ),
    )


DSML = ToolFormat(
    name="dsml",
    signs=("｜DSML｜",),
    written=_written("tool_calls", "invoke", "parameter"),
    places={
        TEXT: Place(
            Content.TEXT,
            (
                Tag(_tags("<", MARKS, BLOCKS, ">"), Means.OPEN, "marked block"),
                Tag(_tags("<", PLAIN, PLAIN_BLOCKS, ">"), Means.OPEN, "plain block"),
            ),
        ),
        **_dialect("marked", MARKS, BLOCKS),
        **_dialect("plain", PLAIN, PLAIN_BLOCKS),
    },
)

DSML_V41 = replace(
    DSML,
    name="dsml_v41",
    signs=("｜DSML｜ calls", "｜DSML｜ invoke"),
    written=_written(" calls", " invoke", " parameter"),
)
"""The same reader."""
