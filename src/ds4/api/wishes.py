"""What is wished of an answer to a conversation."""

from ds4.api.services import Wished
from ds4.core.constraint import Constraint
from ds4.core.job import JobKind
from ds4.core.messages import Conversation, Role
from ds4.core.plan import PromptPlan


def wished(
    plan: PromptPlan,
    conversation: Conversation,
    stops: tuple[str, ...],
    constraint: Constraint | None,
    *,
    tokens: bool = False,
) -> Wished:
    return Wished(
        kind=JobKind.CHAT,
        plan=plan,
        stops=stops,
        tools=conversation.callable_tools,
        tokens=tokens,
        constraint=constraint,
        thinks=conversation.thinking.enabled,
        begun=begun(conversation),
    )


def begun(conversation: Conversation) -> str:
    """The text of a last answer, which is gone on with. A turn of calls is complete."""
    last = conversation.messages[-1]
    return last.text if last.role is Role.ASSISTANT and not last.tool_calls else ""
