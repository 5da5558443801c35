"""Prompts with earlier answers as they were sampled."""

from ds4.api.services import Renderer
from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan
from ds4.core.ports import Tokenizer
from ds4.kv.replay.notebook import Notebook
from ds4.kv.replay.replayer import Replayer


class ReplayingRenderer:
    """A Renderer around another."""

    def __init__(self, renderer: Renderer, replayer: Replayer) -> None:
        self._renderer = renderer
        self._replayer = replayer

    def render(self, conversation: Conversation) -> PromptPlan:
        return self._replayer.replay(self._renderer.render(conversation), conversation)

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        return self._renderer.raw(prompt, namespace=namespace)


def replaying(renderer: Renderer, notebook: Notebook | None, tokenizer: Tokenizer) -> Renderer:
    """Without a notebook nothing is replayed."""
    return renderer if notebook is None else ReplayingRenderer(renderer, Replayer(notebook, tokenizer))
