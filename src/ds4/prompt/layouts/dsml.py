"""Results in DeepSeek's markup."""

from ds4.prompt.layouts.writer import Writer

RESULT, END_RESULT = "<tool_result>", "</tool_result>"


def write_result(out: Writer, text: str) -> None:
    out.ours(RESULT)
    out.client(text.replace(END_RESULT, "&lt;" + END_RESULT[1:]))
    out.ours(END_RESULT)
