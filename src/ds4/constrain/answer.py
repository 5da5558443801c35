"""The grammar of a whole answer: its reasoning, and then what the caller demands.

Rules:
- Reasoning is free up to the mark that closes it, in whatever tokens that is spelled. It is only where the
  prompt says that it may be.
- Demanded calls stand at once where the answer begins, with what the model's format writes in front of them.
- Calls that are not demanded may follow a free text. What would open a call is no text; the format's own way
  to open one leads on to a call that is held to its schema. Calls end the answer.
"""

from collections.abc import Iterator

from ds4.constrain.avoiding import without
from ds4.constrain.calls import CallRules, call_rules
from ds4.constrain.forms import form_rule
from ds4.constrain.grammar import Grammar
from ds4.constrain.lark import Lark, choice, one_of, regex, tokens
from ds4.constrain.sheet import CanEnd, Sheet, spellings
from ds4.constrain.style import Start, Style, Words
from ds4.core.constraint import Calls, Constraint
from ds4.core.errors import Unsupported

_BLANKS = r"\s*"


def grammar(constraint: Constraint, style: Style, start: Start, words: Words, can_end: CanEnd) -> Grammar:
    """Raises BadRequest and Unsupported, which name the field of the request."""
    sheet = Sheet(Lark(words), words, style.tool_format, can_end)
    answer = one_of(_answers(sheet, constraint, style, begun=bool(start.begun)))
    begin = _reasoning(sheet, style, start)
    text = sheet.lark.text(f"{begin} {answer}".strip())
    return Grammar(text, tuple(dict.fromkeys(sheet.dropped)))


def _answers(sheet: Sheet, constraint: Constraint, style: Style, *, begun: bool) -> Iterator[str]:
    calls, form = constraint.calls, constraint.form
    rules = call_rules(sheet, calls, beside_json=form is not None) if calls else None
    if calls and calls.required:
        if rules is None:
            raise Unsupported("tools", "hold nothing that can be called")
        yield _at_once(sheet, rules)
    elif form:
        if rules:
            yield _at_once(sheet, rules)
        header = "" if begun else sheet.lark.markup(sheet.written.text)
        yield f"{header} {form_rule(sheet.lark, form)}".strip()
    else:
        yield from _free(sheet, calls, rules, style)


def _at_once(sheet: Sheet, rules: CallRules) -> str:
    return f"{sheet.lark.markup(rules.opening)} {rules.all}".strip()


# Reasoning.


def _reasoning(sheet: Sheet, style: Style, start: Start) -> str:
    """Empty without any."""
    if start.begun or not (start.in_reasoning or start.may_reason):
        return ""
    marks, lark = style.reasoning, sheet.lark
    after = lark.markup(marks.after_close + sheet.written.turn)
    inside = lark.rule("reasoning", f"{_thoughts(sheet, marks.close)} {after}".strip())
    if start.in_reasoning:
        return inside
    return f"({lark.markup(marks.open)} {inside})?"


def _thoughts(sheet: Sheet, close: str) -> str:
    """Up to and with `close`. Special tokens are free, too, but for those that end it."""
    words, channels = sheet.words, sheet.tool_format.channels
    tags = (close, *(spellings(sheet.tool_format.places[channels.opened].tags) if channels else ()))
    if close not in words.ids:
        return sheet.lark.ended("thoughts", without(tags), close)
    text = sheet.lark.terminal("thoughts", without(tags, some=True))
    not_free = {*words.ends, *(words.ids[tag] for tag in tags if tag in words.ids)}
    free = {*words.ids.values()} - not_free
    # Two texts side by side could spell a tag between them.
    more = f" ({tokens(free)} {text}?)*" if free else ""
    return f"{text}?{more} {tokens([words.ids[close]])}"


# Text that is free, and calls behind it.


def _free(sheet: Sheet, calls: Calls | None, rules: CallRules | None, style: Style) -> Iterator[str]:
    if sheet.tool_format.channels:
        yield from _messages(sheet, rules)
        return
    text = _text(sheet, calls, style)
    yield text
    if rules is None:
        return
    tag = sheet.opening_tag
    if tag is None:
        yield _at_once(sheet, rules)
    else:
        rest = rules.opening.lstrip().removeprefix(tag)
        yield f"{sheet.lark.ended('before_calls', text, tag)} {sheet.lark.markup(rest)} {rules.all}"


def _text(sheet: Sheet, calls: Calls | None, style: Style) -> str:
    """Text that holds no call, and does not begin like reasoning."""
    marks = style.reasoning
    begins = [rf"{_BLANKS}(?:{choice((marks.open, marks.close))})(?s:.*)"]
    if calls and sheet.is_bare:
        names = choice(tool.name for tool in calls.tools)
        begins.append(rf'{_BLANKS}\{{(?s:.*)"name"\s*:\s*"(?:{names})"(?s:.*)')
    body = without(sheet.text_tags) + "".join(f" & ~{regex(begin)}" for begin in begins)
    return sheet.lark.terminal("text", body)


def _messages(sheet: Sheet, rules: CallRules | None) -> Iterator[str]:
    """A format of messages: notes, and then the text or a call."""
    written, lark = sheet.written, sheet.lark
    text = lark.terminal("text", without(sheet.text_tags))
    marks = sheet.tool_format.channels
    notes = ""
    if marks:
        note = f"{lark.markup(written.note)} {lark.ended('note', text, marks.reasoning.close)}"
        notes = f"{lark.rule('note', f'{note} {lark.markup(written.turn)}')}* "
    yield f"{notes}{lark.markup(written.text)} {text}"
    if rules is not None:
        yield f"{notes}{_at_once(sheet, rules)}"
