"""Cutting an answer into tokens, and following it whatever the caller does."""

from collections.abc import Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from ds4.core.ports import Tokenizer
from ds4.core.sampling import Sampling
from ds4.engine.sampler import NumpySampler
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.reply import Replies, Reply
from ds4.engine.scripted.reply import cut as cut_with
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.formats.spellings import Spellings

TOKENIZER = ScriptedTokenizer(family_named("glm-5.2"), packaged_bpe())
THINK, CLOSE = TOKENIZER.controls["<think>"], TOKENIZER.controls["</think>"]

answers = st.lists(st.one_of(st.text(), st.sampled_from(["<think>", "</think>"]))).map("".join)


def text_of(ids: list[int]) -> str:
    return b"".join(map(TOKENIZER.piece, ids)).decode("utf-8", "replace")


def cut(text: str, seed: int, tokenizer: Tokenizer = TOKENIZER) -> tuple[int, ...]:
    return cut_with(tokenizer, Spellings(tokenizer.controls), text, seed)


def reply(text: str, seed: int = 1) -> Reply:
    return Reply(TOKENIZER, cut(text, seed), start=0)


def rest(answer: Reply, rows: list[int], limit: int = 1000) -> str:
    """What the answer still says when every wish is granted."""
    rows = rows.copy()
    said: list[int] = []
    answer.follow(rows)
    while answer.wanted is not None and len(said) < limit:
        said.append(answer.wanted)
        rows.append(answer.wanted)
        answer.follow(rows)
    return text_of(said)


@given(answers, st.integers(0, 2**64))
def test_a_cut_spells_the_text_with_its_control_tokens(text: str, seed: int) -> None:
    ids = cut(text, seed)
    assert text_of(list(ids)) == text
    assert sum(map(TOKENIZER.is_control, ids)) == sum(map(TOKENIZER.is_control, TOKENIZER.encode_raw(text)))
    assert ids == cut(text, seed)


def test_the_cut_is_not_canonical_and_moves_with_the_seed() -> None:
    text = "The answer is in the second file of the folder. " * 5
    cuts = {cut(text, seed) for seed in range(5)}
    assert len(cuts) == 5
    assert tuple(TOKENIZER.encode_raw(text)) not in cuts


def test_a_vocabulary_that_cannot_be_cut_anywhere_is_cut_canonically() -> None:
    class AddsBlank(ScriptedTokenizer):
        def encode_plain(self, text: str) -> list[int]:
            return super().encode_plain(" " + text)

    tokenizer = AddsBlank(family_named("generic"), packaged_bpe())
    text = "one two three four five six seven eight"
    assert cut(text, 1, tokenizer) == tuple(tokenizer.encode_plain(text))


def test_an_obeyed_answer_is_said_to_its_end() -> None:
    answer = reply("<think>why</think>because")
    assert rest(answer, []) == "<think>why</think>because"
    assert answer.ended


@given(st.text(min_size=2, max_size=60), st.data())
def test_another_cut_of_the_same_text_is_followed(text: str, data: st.DataObject) -> None:
    assume(not any(spelling in text for spelling in TOKENIZER.controls))
    place = data.draw(st.integers(1, len(text)))
    said = TOKENIZER.encode_plain(text[:place])
    assert rest(reply(text), said) == text[place:]


def test_a_forced_control_token_jumps_behind_its_place() -> None:
    said = [THINK, *TOKENIZER.encode_plain("ab"), CLOSE]
    assert rest(reply("<think>abcdefg</think>answer"), said) == "answer"


def test_a_foreign_token_stands_for_the_wanted_one() -> None:
    answer = reply("12345")
    first = answer.wanted
    assert first is not None
    skipped = len(TOKENIZER.piece(first))
    assert rest(answer, TOKENIZER.encode_plain("x")) == "12345"[skipped:]
    absent = reply("12345")
    assert rest(absent, [CLOSE]) == "12345"[skipped:]


def test_rows_taken_back_take_the_answer_back() -> None:
    answer = reply("abcdefghijklm")
    answer.follow(TOKENIZER.encode_plain("abcdefg"))
    assert rest(answer, TOKENIZER.encode_plain("ab")) == "cdefghijklm"


def test_who_does_not_take_the_end_gets_the_answer_again() -> None:
    answer = reply("abc")
    said = TOKENIZER.encode_plain("abc")
    answer.follow(said)
    assert answer.ended
    assert answer.first is not None
    assert text_of([answer.first]) + rest(answer, [*said, answer.first]) == "abc"


def test_the_taken_end_is_the_end() -> None:
    answer = reply("abc")
    answer.follow([*TOKENIZER.encode_plain("abc"), TOKENIZER.eos])
    assert answer.ended


def test_an_empty_answer_is_at_its_end() -> None:
    answer = reply("")
    answer.follow(TOKENIZER.encode_plain("forced"))
    assert answer.ended
    assert answer.wanted is None
    assert answer.first is None


def test_the_answers_of_the_jobs_used_last_are_kept() -> None:
    made: list[Reply] = []

    def make(rows: Sequence[int]) -> Reply:
        made.append(Reply(TOKENIZER, cut("text", 1), len(rows)))
        return made[-1]

    replies = Replies(make, keep=2)
    first, second, third = (NumpySampler(Sampling(), (), TOKENIZER.n_vocab, ()) for _ in range(3))
    assert replies.of(first, [1]) is made[0]
    assert replies.of(second, [1]) is made[1]
    assert replies.of(first, [1, 2]) is made[0]
    replies.of(third, [1])
    assert replies.of(first, [1, 2]) is made[0]
    assert replies.of(second, [1]) is made[3]
