"""Grammars become guides. The only module that compiles; slow, so never on the event loop or engine thread.

Rules:
- A grammar is compiled once and kept by its content, a refused one too. What is kept is bounded by count;
  LIMITS bound what each may become.
- Compiling can be neither stopped nor killed: its size is bounded before, its work by LIMITS.
- A few steps are taken here: what is too complex for them shows in a 400 and not in a failed answer.
- All guides of a grammar share the states of its lexer, so that only the first pays for them. One that fails
  may leave them unusable: then the grammar is compiled anew for the next.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable
from hashlib import blake2b
from time import thread_time

import numpy as np
from llguidance import LLMatcher, LLParserLimits

from ds4.constrain.closing import Closing
from ds4.constrain.deep import deep
from ds4.constrain.grammar import LONGEST, Grammar
from ds4.constrain.guide import MatcherGuide, Spending, reason
from ds4.constrain.lark import Lark
from ds4.constrain.style import Words
from ds4.constrain.vocabulary import Vocabulary
from ds4.core.errors import BadRequest
from ds4.core.ports import Guide, Tokenizer

KEPT = 32
LIMITS = LLParserLimits(
    initial_lexer_fuel=300_000,
    step_lexer_fuel=100_000,
    step_max_items=20_000,
    max_lexer_states=200_000,
    max_grammar_size=150_000,
    verbose_errors=False,
)
"""The library's own let one expression take a second and 200 MB. States take half a kilobyte each; a string
of bounded length needs one for each character."""
TRIED = 6
"""Steps. Much that compiles fails in the second or third."""
SPENDING, SPENDING_EACH = 1.0, 0.002
"""Seconds of the engine thread that one answer's guide may take, and more for each question it is asked."""


class Compiler:
    """Thread safe. `spellings` are those of the format's markup, reasoning marks included."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        spellings: Iterable[str],
        *,
        kept: int = KEPT,
        limits: LLParserLimits = LIMITS,
        timer: Callable[[], float] = thread_time,
    ) -> None:
        self._vocabulary = Vocabulary(tokenizer, spellings)
        self._kept = kept
        self._limits = limits
        self._timer = timer
        self._lock = threading.Lock()
        self._compiled: OrderedDict[bytes, _Compiled] = OrderedDict()

    @property
    def words(self) -> Words:
        return self._vocabulary.words

    def prepare(self) -> None:
        """Reads the vocabulary, for up to a second in which no other Python code runs: best at the start."""
        _ = self._vocabulary.library

    def guide(self, grammar: Grammar, path: str, begun: str = "") -> Guide:
        """A fresh guide that has taken `begun`, the beginning of the answer.

        Raises BadRequest for what cannot be compiled, or does not begin like that; `path` is blamed.
        """
        compiled = self._of(grammar.text)
        try:
            matcher = compiled.copy(grammar.text)
            taken = self._vocabulary.tokens(begun)
            if taken and not matcher.consume_tokens(taken):
                raise BadRequest("the answer that is to be continued does not fit its constraint", param=path)
        except _Refused as refused:
            raise BadRequest(f"{path}: {refused}" if path else str(refused), param=path or None) from None
        return MatcherGuide(
            matcher, self._vocabulary, Spending(self._timer, SPENDING, SPENDING_EACH), compiled.spoil
        )

    def can_end(self, grammar: str, markup: str) -> bool:
        """Whether a caller's grammar, in Lark, ends where `markup` stands behind it (`closing`)."""
        lark = Lark(self.words)
        alone = lark.foreign(grammar)
        closed = f"{alone} {lark.markup(markup)}"

        def tried() -> bool:
            closing = Closing(
                self._vocabulary, self._matcher(lark.text(alone)), self._matcher(lark.text(closed)), markup
            )
            return closing.can_end()

        return deep(tried)

    def _matcher(self, text: str) -> LLMatcher:
        return LLMatcher(self._vocabulary.library, text, log_level=0, limits=self._limits)

    def _of(self, text: str) -> "_Compiled":
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            found = self._compiled.get(key)
            if found is None or found.spoiled:
                found = self._compiled[key] = _Compiled(self._vocabulary, self._limits)
            self._compiled.move_to_end(key)
            while len(self._compiled) > self._kept:
                self._compiled.popitem(last=False)
        return found


class _Refused(Exception):
    """The library's reason."""


class _Compiled:
    """One grammar, compiled by the first who needs it. The others wait."""

    def __init__(self, vocabulary: Vocabulary, limits: LLParserLimits) -> None:
        self.spoiled = False
        self._vocabulary = vocabulary
        self._limits = limits
        self._lock = threading.Lock()
        self._matcher: LLMatcher | None = None
        self._refused = ""

    def spoil(self) -> None:
        self.spoiled = True

    def copy(self, text: str) -> LLMatcher:
        """Raises _Refused."""
        with self._lock:
            if self._matcher is None and not self._refused:
                deep(lambda: self._make(text))
            if self._matcher is None:
                raise _Refused(self._refused)
            return self._matcher.deep_copy()

    def _make(self, text: str) -> None:
        if len(text) > LONGEST:
            self._refused = f"the constraint is too large ({len(text)} characters, {LONGEST} at most)"
            return
        matcher = LLMatcher(self._vocabulary.library, text, log_level=0, limits=self._limits)
        if why := _tried(matcher.deep_copy(), self._vocabulary.words.ends):
            self._refused = f"the constraint cannot be enforced: {why}"
        else:
            self._matcher = matcher


def _tried(matcher: LLMatcher, ends: Container[int]) -> str:
    """Why the first steps of some answer cannot be taken; nothing if they can."""
    for _ in range(TRIED):
        if matcher.is_stopped():
            break
        ahead = matcher.compute_ff_tokens()
        if not ahead:
            allowed = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
            ahead = [token for token in np.flatnonzero(allowed).tolist() if token not in ends][:1]
        if not ahead or matcher.is_error():
            break
        matcher.consume_tokens(ahead)
    return reason(matcher) if matcher.is_error() else ""
