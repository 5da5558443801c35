"""What the scripted engine answers: the reply, whatever the slots went through."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_run import OPTIONS, TOKENIZER, Run, answer, chat, echo, opened, rows

from ds4.core.ports import Allowed, Engine, Logits, Mark
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import SnapshotKind, StepPlan, Trim, Work
from ds4.engine.scripted.engine import ScriptedEngine
from ds4.formats.registry import family_named


def test_the_reply_to_the_rendered_prompt_comes_out_and_ends() -> None:
    run = answer(opened(), chat("Hi 🎉"))
    assert run.text == echo(chat("Hi 🎉"))
    assert run.said[-1].id == TOKENIZER.eos
    special = [sampled.id for sampled in run.said if TOKENIZER.is_control(sampled.id)]
    assert TOKENIZER.controls["<|im_start|>"] in special


@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.0])
def test_the_reply_survives_sampling(temperature: float) -> None:
    sampling = Sampling(temperature=temperature, min_p=0.0, seed=1)
    assert answer(opened(), "warm", sampling=sampling).text == "You said: warm"


def test_the_identity_says_whose_states_can_be_loaded() -> None:
    base = opened().info.identity
    same = [replace(OPTIONS, n_slots=1), replace(OPTIONS, n_ctx=64, n_batch=16, seed=3)]
    assert {ScriptedEngine.open(options).info.identity for options in same} == {base}
    other_family = replace(OPTIONS, family=family_named("deepseek-v4"), tokenizer=None)
    assert ScriptedEngine.open(other_family).info.identity.model != base.model
    layouts = [replace(OPTIONS, trim=trim, window=window) for trim in Trim for window in (8, 16)]
    found = [ScriptedEngine.open(options).info.identity for options in layouts]
    assert {identity.model for identity in found} == {base.model}
    # Without a window layer its width does not matter.
    assert len({identity.layout for identity in found}) == 5


def test_the_prompt_is_asked_for_once_per_job() -> None:
    asked: list[str] = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        return f"answer {len(asked)}"

    engine = opened(reply)
    first = answer(engine, "one")
    assert first.text == "answer 1"
    more = Run(engine, 0, first.ids + TOKENIZER.encode_plain(" two"))
    more.prefill(reused=len(first.ids) - 1)
    assert more.decode() == "answer 2"
    assert asked == ["one", f"one{first.text}<|im_end|> two"]


def test_slots_decode_in_one_step_without_mixing() -> None:
    engine = opened()
    runs = [Run(engine, slot, TOKENIZER.encode_raw(chat(f"I am {slot}"))) for slot in range(3)]
    for run in runs:
        run.prefill(chunk=5)
    for _ in range(60):
        running = [run for run in runs if not TOKENIZER.is_eog(run.said[-1].id)]
        if running:
            result = engine.step(StepPlan(tuple(run.next() for run in running)))
            for run, outcome in zip(running, result.outcomes, strict=True):
                assert outcome.rows_kept == 1
                run.take(outcome)
    assert [run.text for run in runs] == [echo(chat(f"I am {slot}")) for slot in range(3)]


@pytest.mark.parametrize("trim", list(Trim))
@given(data=st.data())
def test_what_the_slot_held_before_never_changes_the_answer(trim: Trim, data: st.DataObject) -> None:
    prompt = TOKENIZER.encode_raw(data.draw(st.text(min_size=1, max_size=40)))
    fresh = Run(opened(trim=trim), 0, prompt.copy(), Sampling(temperature=0.0, logprobs=3))
    fresh.prefill()
    fresh.decode()
    engine = opened(trim=trim)
    other = Run(engine, 1, prompt[: data.draw(st.integers(1, len(prompt)))] + TOKENIZER.encode_plain("other"))
    other.prefill()
    other.decode(limit=data.draw(st.integers(1, 30)))
    again = Run(engine, 0, prompt.copy(), Sampling(temperature=0.0, logprobs=3))
    again.prefill(reused=reuse(engine, prompt, other.ids[:-1], data), chunk=data.draw(st.integers(1, 64)))
    again.decode()
    assert again.said == fresh.said


def reuse(engine: Engine, prompt: list[int], held: list[int], data: st.DataObject) -> int:
    """Brings a prefix of `prompt` into slot 0 on some way; returns its rows. Slot 1 holds `held`."""
    way = data.draw(st.sampled_from(["nothing", "copy and trim", "restore"]))
    kept = data.draw(st.integers(0, len(prompt) - 1))
    if way == "nothing":
        return 0
    if way == "copy and trim":
        same = [one == other for one, other in zip(prompt[:kept], held, strict=False)]
        common = same.index(False) if False in same else len(same)
        engine.copy(1, 0)
        if engine.trim(0, common):
            return common
        engine.clear(0)
        return 0
    if not kept:
        return 0
    engine.step(StepPlan((Work(0, 0, np.array(prompt[:kept], np.int32)),)))
    snapshot = engine.export(0, SnapshotKind.FULL)
    engine.copy(1, 0)
    engine.load(0, snapshot)
    return kept


def test_a_job_keeps_its_answer_in_another_slot() -> None:
    numbers = count()
    engine = opened(lambda prompt: f"number {next(numbers)} after {prompt}")
    run = Run(engine, 0, TOKENIZER.encode_plain("start"))
    run.prefill()
    run.decode(limit=3)
    snapshot = engine.export(0, SnapshotKind.FULL)
    assert answer(engine, "else", slot=1).text == "number 1 after else"
    engine.clear(0)
    engine.load(2, snapshot)
    run.slot = 2
    assert run.decode() == "number 0 after start"


def test_forced_tokens_are_followed() -> None:
    engine = opened(lambda _: "<think>long thoughts</think>the answer")
    run = Run(engine, 0, TOKENIZER.encode_plain("q"))
    run.prefill()
    run.decode(limit=2)
    run.force("</think>")
    assert run.decode().endswith("the answer")
    assert "thoughts" not in run.text


def test_a_banned_token_is_not_said_and_the_rest_follows() -> None:
    (digit,) = TOKENIZER.encode_plain("7")
    engine = opened(lambda _: "7<think>1")
    run = answer(engine, "q", sampling=Sampling(temperature=0.0, logit_bias=((digit, -100.0),)))
    assert run.said[0].id != digit
    assert [sampled.id for sampled in run.said[1:]] == TOKENIZER.encode_raw("<think>1<|im_end|>")


def test_a_bias_of_100_is_said() -> None:
    (digit,) = TOKENIZER.encode_plain("7")
    run = Run(
        opened(), 0, TOKENIZER.encode_plain("q"), Sampling(temperature=0.0, logit_bias=((digit, 100.0),))
    )
    run.prefill()
    assert run.decode(limit=5) == "77777"


def test_ignored_end_repeats_the_answer() -> None:
    engine = opened(lambda _: "abc.")
    run = Run(engine, 0, TOKENIZER.encode_plain("q"), Sampling(temperature=0.0, ignore_eos=True))
    run.prefill()
    assert run.decode(limit=40).startswith("abc.abc.abc.")


def test_an_ignored_end_of_an_empty_answer_still_produces_tokens() -> None:
    engine = opened(lambda _: "")
    assert answer(engine, "q").text == ""
    run = Run(engine, 1, TOKENIZER.encode_plain("q"), Sampling(temperature=0.0, ignore_eos=True))
    run.prefill()
    run.decode(limit=5)
    assert len(run.said) == 5
    assert not any(TOKENIZER.is_eog(sampled.id) for sampled in run.said)


def test_logprobs_name_the_wanted_token_first_before_others_that_vary() -> None:
    engine = opened(lambda _: "7" * 9)
    said = answer(engine, "q", sampling=Sampling(temperature=0.0, logprobs=3)).said[:9]
    for sampled in said:
        assert sampled.logprob is not None
        assert sampled.logprob > -1e-3
        assert sampled.top[0] == (sampled.id, sampled.logprob)
        assert len({token for token, _ in sampled.top}) == 3
    assert len({sampled.top[1:] for sampled in said}) > 1


def test_greedy_reaches_the_sampler() -> None:
    class Spy:
        def __init__(self) -> None:
            self.asked: list[bool] = []

        def sample(
            self,
            logits: Logits,
            *,
            greedy: bool = False,
            allowed: Allowed | None = None,  # noqa: ARG002
        ) -> Sampled:
            self.asked.append(greedy)
            return Sampled(int(logits.argmax()))

        def accept(self, token: int) -> None: ...

        def mark(self) -> Mark:
            return Mark(None)

        def rollback(self, mark: Mark) -> None: ...

    engine, spy = opened(), Spy()
    engine.step(StepPlan((Work(0, 0, rows(1), spy, greedy=True),)))
    engine.step(StepPlan((Work(0, 1, rows(1), spy),)))
    assert spy.asked == [True, False]


def test_a_job_taken_back_into_its_prompt_asks_again() -> None:
    engine = opened()
    run = Run(engine, 0, TOKENIZER.encode_plain("one two three"))
    run.prefill()
    engine.clear(0)
    run.ids, run.said = TOKENIZER.encode_plain("2"), []
    run.prefill()
    assert run.decode() == "You said: 2"


def test_the_seed_moves_the_cut_not_the_text() -> None:
    prompt = "The value of the first argument is returned to the caller. " * 2
    runs = [answer(ScriptedEngine.open(replace(OPTIONS, seed=seed)), prompt) for seed in (0, 0, 1)]
    ids = [[sampled.id for sampled in run.said] for run in runs]
    assert ids[0] == ids[1] != ids[2]
    assert runs[0].text == runs[2].text


def test_a_real_models_vocabulary_lacks_the_familys_tokens() -> None:
    options = replace(
        OPTIONS, script=lambda prompt: f"<｜User｜>{prompt}", family=family_named("deepseek-v4")
    )
    run = answer(ScriptedEngine.open(options), "hi<|im_start|>")
    assert run.text == "<｜User｜>hi<|im_start|>"
    assert sum(TOKENIZER.is_control(sampled.id) for sampled in run.said) == 2


def test_a_closed_engine_holds_nothing() -> None:
    engine = opened()
    answer(engine, "q")
    engine.close()
    engine.close()
    assert engine.frontier(0).pos_max == -1
