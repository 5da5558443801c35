"""The front door for whoever renders prompts: puts into a plan what is remembered of its conversation."""

import numpy as np

from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan
from ds4.core.ports import Tokenizer
from ds4.kv.replay.notebook import Notebook
from ds4.kv.replay.splice import Rules, replayed


class Replayer:
    """Thread safe; blocking, for worker threads."""

    def __init__(self, notebook: Notebook, tokenizer: Tokenizer) -> None:
        special = (*tokenizer.controls.values(), *(() if tokenizer.eos is None else (tokenizer.eos,)))
        ends = np.array(sorted({token for token in special if tokenizer.is_eog(token)}), np.int32)
        self._rules = Rules(tokenizer, ends, notebook.options.keeps_reasoning)
        self._notebook = notebook

    def replay(self, plan: PromptPlan, conversation: Conversation) -> PromptPlan:
        """`plan` is that of `conversation`."""
        if not plan.turns:
            return plan
        known = self._notebook.of(plan.namespace)
        return replayed(plan, conversation.messages, known, self._rules)
