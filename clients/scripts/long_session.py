"""A model that works until its client makes room, and only then does its task.

It looks at much, again and again. Asked for a summary, it gives one that names the task. Once that summary
is in the prompt it makes the file and ends.
"""

from ds4.testing.agent_script import DONE as DONE
from ds4.testing.agent_script import MARKUPS, THOUGHTS, Markup, Task, call_for

MARK = "MILESTONE"
FILE, WORD = "greeting.txt", "hello"
SUMMARY = f"<summary>{MARK}: all was looked at. Next: make {FILE} with the word {WORD}.</summary>"
LOOK = Task(FILE, WORD, "for i in $(seq 500); do echo the server is up and all is well with it; done")
MAKE = Task(FILE, WORD)
NO_TOOLS = "Do NOT call any tools"
"""So does Claude Code ask for a summary; the others leave the tools out."""


def reply(prompt: str) -> str:
    markup = next(markup for markup in MARKUPS if markup.sign in prompt)
    thought = next((text for opening, text in THOUGHTS.items() if prompt.endswith(opening)), "")
    look = call_for(prompt, LOOK)
    if look is None or NO_TOOLS in _last_turn(prompt, markup):
        return thought + SUMMARY
    if MARK not in prompt:
        return thought + "Once more." + look
    if MAKE.command in prompt:
        return thought + DONE
    return thought + "Now the file." + (call_for(prompt, MAKE) or "")


def _last_turn(prompt: str, markup: Markup) -> str:
    """What the model has not answered yet. Nothing in a session's first prompt."""
    turns = prompt.split(markup.turn)
    return turns[-2] if len(turns) > 2 else ""
