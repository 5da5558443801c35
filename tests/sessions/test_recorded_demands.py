"""Every request that real agents sent is taken, and what it demands of its answer is understood."""

from collections import Counter
from collections.abc import Iterator

from recordings import DATA, Asked, recording

from ds4.api.anthropic.request import messages_request
from ds4.api.openai.chat import chat_request
from ds4.api.responses.request import response_request
from ds4.api.responses.resolve import Shelf
from ds4.api.responses.store import MemoryStore
from ds4.api.services import ModelCard
from ds4.core.constraint import Constraint
from ds4.core.errors import BadRequest

CARD = ModelCard("m", "m", 1 << 20, 1000)


def demanded(asked: Asked) -> Constraint | None:
    match asked.path:
        case "/v1/chat/completions":
            return chat_request(asked.body, CARD, 1000).constraint
        case "/v1/messages":
            return messages_request(asked.body, CARD).constraint
        case "/v1/responses":
            return response_request(asked.body, CARD, 1000, Shelf(MemoryStore(), "")).constraint
        case _:
            return None


def told(constraint: Constraint) -> str:
    calls = constraint.calls
    parts = {
        "form": constraint.form is not None,
        "required": calls is not None and calls.required,
        "single": calls is not None and calls.single,
        "strict": calls is not None and any(tool.strict for tool in calls.tools),
        "grammar": calls is not None and any(tool.text is not None for tool in calls.tools),
    }
    return " ".join(name for name, given in parts.items() if given)


def outcomes() -> Iterator[tuple[str, str]]:
    for file in sorted(DATA.glob("*.json.gz")):
        name = file.name.removesuffix(".json.gz")
        for asked in recording(name):
            try:
                constraint = demanded(asked)
            except BadRequest as error:
                yield name, f"refused: {error.param}"
            else:
                if constraint is not None:
                    yield name, told(constraint)


def test_all_that_agents_demanded() -> None:
    """And nothing was refused."""
    assert Counter(outcomes()) == {
        ("agents", "strict"): 5,
        ("codex-gpt55", "grammar"): 3,
        ("lc", "form"): 3,
        ("lc", "required"): 1,
        ("pyd", "strict"): 6,
        ("pyd", "required strict"): 2,
        ("pyd", "required"): 1,
        ("sdk-js", "form"): 4,
        ("sdk-js", "required single"): 1,
    }
