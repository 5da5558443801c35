"""The beginning of a prompt in formats that have one place for tools and system text."""

from collections.abc import Iterable
from dataclasses import replace

from ds4.prompt.layouts.chat import Chat, Entry
from ds4.prompt.layouts.writer import Writer

GAP = "\n\n"


def write_head(chat: Chat, out: Writer, system: Iterable[Entry]) -> None:
    lead = tuple(system)
    text = GAP.join(entry.text for entry in lead if entry.text)
    gap = GAP if text and chat.tools else ""
    if chat.tools_first:
        write_tools(chat, out, before_text=bool(text))
        out.ours(gap)
        out.client(text)
    else:
        out.client(text)
        out.ours(gap)
        write_tools(chat, out, message=len(lead))


def write_tools(chat: Chat, out: Writer, *, message: int = 0, before_text: bool = False) -> None:
    """Nothing without tools. `message` is the first one after them. A newline at the preamble's end is part
    of the gap to the text after it."""
    preamble = chat.preamble
    if before_text:
        preamble = replace(preamble, tail=preamble.tail.rstrip("\n"))
    if chat.tools:
        out.tools(preamble, chat.tools, message)
