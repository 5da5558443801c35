"""A model that does one task, for driving real agents: `--engine scripted --script .../agent_script.py`.

Asked to make a file, it finds a tool for that in the rendered prompt, calls it in the markup that the
prompt teaches, and answers once it has seen a result. Where nothing but one other tool is offered, it calls
that. Everything is read from the prompt: the tools, the markup, the file's name and its content.

It speaks the formats of DeepSeek V4 and V4.1, GLM, Qwen3.8, and the Hermes form for all others.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ds4.testing.json_lines import objects

DONE = "finished"
FILE, WORD = "made.txt", "made"
SHELLS = (
    *("bash", "shell", "exec_command", "shell_command", "exec", "run_command", "run_in_terminal"),
    *("run_shell_command", "run_commands"),
)
WRITERS = ("write", "write_file", "create_file", "create")
_COMMANDS = ("command", "cmd", "script", "code")
_LISTS = ("commands",)
_PATHS = ("path", "file_path", "filename", "file", "filepath")
_CONTENTS = ("content", "contents", "text", "word", "data", "input")

THOUGHTS = {"<think>": "Let me see.</think>", "<think>\n": "Let me see.\n</think>\n\n"}
"""By how a prompt opens reasoning."""

Json = dict[str, object]
Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Task:
    """`other` is a command to run instead of the one that makes the file."""

    file: str
    word: str
    other: str | None = None

    @property
    def command(self) -> str:
        return self.other or f"printf '%s\\n' {self.word} > {self.file}"


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    properties: Mapping[str, Json]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Markup:
    """`sign` stands in the prompts of this format, `turn` begins an answer, `result` a tool's result."""

    sign: str
    turn: str
    result: str
    call: Callable[[str, Arguments], str]


def _dsml(block: str, invoke: str, parameter: str) -> Callable[[str, Arguments], str]:
    mark = "｜DSML｜"

    def call(name: str, arguments: Arguments) -> str:
        lines = [f"\n\n<{mark}{block}>", f'<{mark}{invoke} name="{name}">']
        for key, value in arguments.items():
            is_text = "true" if isinstance(value, str) else "false"
            head = f'<{mark}{parameter} name="{key}" string="{is_text}">'
            lines.append(f"{head}{_plain(value)}</{mark}{parameter}>")
        return "\n".join([*lines, f"</{mark}{invoke}>", f"</{mark}{block}>"])

    return call


def _glm(name: str, arguments: Arguments) -> str:
    pairs = (
        f"\n<arg_key>{key}</arg_key>\n<arg_value>{_plain(value)}</arg_value>"
        for key, value in arguments.items()
    )
    return f"<tool_call>{name}{''.join(pairs)}\n</tool_call>"


def _qwen(name: str, arguments: Arguments) -> str:
    pairs = (f"<parameter={key}>\n{_plain(value)}\n</parameter>\n" for key, value in arguments.items())
    return f"\n\n<tool_call>\n<function={name}>\n{''.join(pairs)}</function>\n</tool_call>"


def _hermes(name: str, arguments: Arguments) -> str:
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"\n<tool_call>\n{call}\n</tool_call>"


_DEEPSEEK, _IM = "<｜Assistant｜>", "<|im_start|>assistant"
MARKUPS = (
    Markup(
        "<｜DSML｜ calls>",
        _DEEPSEEK,
        "<tool_result>",
        _dsml(" calls", " invoke", " parameter"),
    ),
    Markup(
        "<｜DSML｜tool_calls>",
        _DEEPSEEK,
        "<tool_result>",
        _dsml("tool_calls", "invoke", "parameter"),
    ),
    Markup("<arg_key>", "<|assistant|>", "<tool_response>", _glm),
    Markup("<function=", _IM, "<tool_response>", _qwen),
    Markup("", _IM, "<tool_response>", _hermes),
)


def reply(prompt: str) -> str:
    markup = next(markup for markup in MARKUPS if markup.sign in prompt)
    thought = next((text for opening, text in THOUGHTS.items() if prompt.endswith(opening)), "")
    call = None if _has_result(prompt, markup) else call_for(prompt, _task(prompt))
    return thought + (DONE if call is None else "I will do it." + call)


def call_for(prompt: str, task: Task) -> str | None:
    """A call of the tool that the prompt offers for such a task, or of the only one. None without."""
    markup = next(markup for markup in MARKUPS if markup.sign in prompt)
    tools = list(_tools(prompt))
    tool = _tool_for_files(tools) or (tools[0] if len(tools) == 1 else None)
    return None if tool is None else markup.call(tool.name, _arguments(tool, task))


def _has_result(prompt: str, markup: Markup) -> bool:
    """Whether a tool has answered since the model spoke last."""
    turns = prompt.split(markup.turn)
    return len(turns) > 2 and markup.result in turns[-2]


def _task(prompt: str) -> Task:
    files = re.findall(r"file(?: named)? ([\w-]+\.\w+)", prompt)
    words = re.findall(r"word: +(\w+)", prompt)
    return Task(files[-1] if files else FILE, words[-1] if words else WORD)


def _tools(prompt: str) -> Iterator[Tool]:
    """Every line of the prompt that is a tool's JSON; one with arguments is a call."""
    for found in objects(prompt):
        function = found.get("function", found)
        if (
            isinstance(function, dict)
            and isinstance(function.get("name"), str)
            and "arguments" not in function
        ):
            yield _tool(function)


def _tool(function: Json) -> Tool:
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    properties = schema.get("properties")
    required = schema.get("required")
    return Tool(
        str(function["name"]),
        properties if isinstance(properties, dict) else {},
        tuple(required) if isinstance(required, list) else (),
    )


def _tool_for_files(tools: list[Tool]) -> Tool | None:
    """A shell before an editor: editors have opinions about paths."""
    named = {tool.name.rpartition("__")[2].lower(): tool for tool in reversed(tools)}
    return next((named[name] for name in (*SHELLS, *WRITERS) if name in named), None)


def _arguments(tool: Tool, task: Task) -> Json:
    """What is required, and what says what to do."""
    telling = (*_COMMANDS, *_LISTS, *_PATHS, *_CONTENTS)
    wanted = [name for name in tool.properties if name in tool.required or name.lower() in telling]
    return {name: _value(name.lower(), tool.properties[name], task) for name in wanted}


def _value(name: str, schema: Json, task: Task) -> object:
    kind = schema.get("type")
    if name in _COMMANDS:
        return ["bash", "-lc", task.command] if kind == "array" else task.command
    if name in _LISTS:
        return [task.command]
    if name in _PATHS:
        return task.file
    if name in _CONTENTS:
        return task.word
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    defaults: Json = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return defaults.get(str(kind), "Makes a file.")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
