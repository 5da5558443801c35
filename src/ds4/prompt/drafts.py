"""A conversation rendered in the first form that the template takes.

A failure or a refusal (raise_exception) leads to the next style of tool call arguments; when all styles
are refused, or late system text vanishes, the next form of the conversation is tried (`folding.forms`).
Where the template knows no tools, every form has them as text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ds4.core.errors import BadRequest, TemplateError
from ds4.core.messages import Conversation
from ds4.core.ports import Clock
from ds4.formats.thinking import HARMONY, Mode, mode
from ds4.prompt.context import ArgumentStyle, variables
from ds4.prompt.environment import Refusal
from ds4.prompt.folding import SYSTEM_ROLES, forms
from ds4.prompt.guard import Guard, GuardRules
from ds4.prompt.layouts.chat import is_continued
from ds4.prompt.marks import strings
from ds4.prompt.options import PromptOptions
from ds4.prompt.template import ChatTemplate, Exhausted
from ds4.prompt.toolless import text_of, uses_tools, without_tools
from ds4.prompt.traits import traits

TemplateMessages = list[dict[str, object]]


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A rendered text with client characters still exchanged, and what is needed to render again.

    `continues`: the text ends inside the last assistant message. `as_sent`: no form but the client's own
    was needed, so message indexes are the client's. `definitions`: the tools, where they are a part of the
    first message's text.
    """

    text: str
    guard: Guard
    values: dict[str, object]
    messages: TemplateMessages
    input_chars: int
    continues: bool
    as_sent: bool
    definitions: str


@dataclass(frozen=True, slots=True)
class _Task:
    """What stays the same for every form of a conversation."""

    sent: Conversation
    mode: Mode
    continues: bool
    definitions: str


class Drafter:
    """Thread safe. `names` are the spellings that the template's bos_token and eos_token stand for."""

    def __init__(
        self,
        source: str,
        clock: Clock,
        spellings: list[str],
        names: dict[str, str],
        options: PromptOptions,
    ) -> None:
        """Raises ModelError when the template does not compile."""
        self._template = ChatTemplate(source, clock)
        self._traits = traits(source)
        self._rules = GuardRules(spellings, source)
        self._names = names
        self._options = options
        self._efforts = HARMONY if self._traits.channels else options.efforts

    def draft(self, conversation: Conversation) -> Draft:
        """Raises BadRequest when the template refuses every form, TemplateError when it fails."""
        hiding = refusal = None
        thinking = mode(conversation.thinking, self._efforts, self._options.n_ctx)
        shown = self._showing_tools(conversation)
        definitions = "" if shown.tools else text_of(conversation.tools, self._options)
        task = _Task(conversation, thinking, is_continued(conversation), definitions)
        for form in forms(shown):
            try:
                draft = self._first_style(form, task)
            except Refusal as error:
                refusal = error
                continue
            except TemplateError:
                if hiding is None:
                    raise
                continue
            if not self._hides_system_text(draft):
                return draft
            hiding = hiding or draft
        if hiding is not None:
            return hiding
        raise BadRequest(
            f"the model's chat template does not take this conversation: {refusal}", param="messages"
        ) from refusal

    def again(
        self, draft: Draft, messages: TemplateMessages, *, generates: bool = True, **others: object
    ) -> str | None:
        """Another render with other messages (and `others` of the variables), None when the template does not
        take them.

        Unless it `generates`, no answer begins at its end.
        """
        try:
            values = draft.values | {"messages": messages} | others
            if not generates:
                values["add_generation_prompt"] = False
            return self._template.render(values, draft.guard, draft.input_chars)
        except (Refusal, TemplateError):
            return None

    def _showing_tools(self, conversation: Conversation) -> Conversation:
        if self._traits.tools or not uses_tools(conversation):
            return conversation
        return without_tools(conversation, self._options)

    def _first_style(self, form: Conversation, task: _Task) -> Draft:
        refusal = failure = None
        for style in _styles(form):
            try:
                return self._draft(form, style, task)
            except Exhausted:
                raise
            except Refusal as error:
                refusal = refusal or error
            except TemplateError as error:
                failure = failure or error
        raise refusal or failure or TemplateError("there is no way to render this conversation")

    def _draft(self, form: Conversation, style: ArgumentStyle, task: _Task) -> Draft:
        marked = self._names | variables(form, self._traits, style, task.mode)
        guard = self._rules.guard(marked)
        values = {name: guard.protect(value) for name, value in marked.items()}
        messages: TemplateMessages = values["messages"]  # type: ignore[assignment]
        size = sum(map(len, strings(marked)))
        if task.continues:
            messages[-1]["content"] = f"{messages[-1]['content']}{guard.sentinel}"
            values["add_generation_prompt"] = False
        text = self._template.render(values, guard, size)
        if task.continues:
            text = _up_to_sentinel(text, guard)
        as_sent = form.messages == task.sent.messages
        return Draft(text, guard, values, messages, size, task.continues, as_sent, task.definitions)

    def _hides_system_text(self, draft: Draft) -> bool:
        """Some templates skip system messages they do not expect. Proven by rendering without them."""
        unseen = [index for index in _late_system(draft.messages) if not _shows(draft, index)]
        if not unseen:
            return False
        without = self.again(draft, [m for i, m in enumerate(draft.messages) if i not in unseen])
        if without is not None and draft.continues:
            without = _up_to_sentinel(without, draft.guard)
        return without == draft.text


def _styles(form: Conversation) -> Iterator[ArgumentStyle]:
    calls = any(message.tool_calls for message in form.messages)
    return iter(ArgumentStyle) if calls else iter((ArgumentStyle.NATURAL,))


def _up_to_sentinel(text: str, guard: Guard) -> str:
    kept, found, _ = text.rpartition(guard.sentinel)
    if not found:
        raise BadRequest("the model's chat template cannot continue an assistant message", param="messages")
    return kept


def _late_system(messages: TemplateMessages) -> Iterator[int]:
    return (
        i for i, m in enumerate(messages) if i and m["role"] in SYSTEM_ROLES and str(m["content"]).strip()
    )


def _shows(draft: Draft, index: int) -> bool:
    return str(draft.messages[index]["content"]).strip() in draft.text
