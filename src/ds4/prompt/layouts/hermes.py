"""Results as the Hermes models read them, on the user's side."""

from ds4.prompt.layouts.writer import Writer

RESULT, END_RESULT = "<tool_response>\n", "\n</tool_response>"


def write_result(out: Writer, text: str) -> None:
    out.ours(RESULT)
    out.client(text)
    out.ours(END_RESULT)
