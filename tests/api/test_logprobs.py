from hypothesis import given
from hypothesis import strategies as st

from ds4.api.openai.logprobs import CompletionLogprobs, chat_logprobs
from ds4.core.sampling import Sampled

PIECES = [b"Hi", "ü".encode()[:1], "ü".encode()[1:], b"!", b"", "€".encode(), b"\xff", b"Hi"]
UNLIKELY = float("-inf")


def pieces(token: int) -> bytes:
    return PIECES[token]


def test_a_chat_token_has_its_text_bytes_and_rivals() -> None:
    sampled = Sampled(0, -0.5, ((0, -0.5), (3, -2.0)))
    assert chat_logprobs([sampled], pieces) == {
        "content": [
            {
                "token": "Hi",
                "logprob": -0.5,
                "bytes": [72, 105],
                "top_logprobs": [
                    {"token": "Hi", "logprob": -0.5, "bytes": [72, 105]},
                    {"token": "!", "logprob": -2.0, "bytes": [33]},
                ],
            }
        ],
        "refusal": None,
    }


def test_a_part_of_a_character_keeps_its_bytes_in_chat_and_is_spelled_by_them_in_completions() -> None:
    half = Sampled(1, -1.0)
    content = chat_logprobs([half], pieces)["content"]
    assert content == [{"token": "\ufffd", "logprob": -1.0, "bytes": [0xC3], "top_logprobs": []}]
    assert CompletionLogprobs(pieces).of([half])["tokens"] == ["bytes:\\xc3"]


def test_what_the_model_rules_out_is_a_number_json_knows() -> None:
    ruled_out = Sampled(0, UNLIKELY, ((3, UNLIKELY),))
    entry = chat_logprobs([ruled_out], pieces)["content"][0]  # type: ignore[index]
    assert (entry["logprob"], entry["top_logprobs"][0]["logprob"]) == (-9999.0, -9999.0)
    assert CompletionLogprobs(pieces).of([ruled_out])["token_logprobs"] == [-9999.0]


def test_completions_list_the_best_and_always_the_sampled_token() -> None:
    tokens = [Sampled(0, -3.0, ((3, -0.1), (5, -2.0))), Sampled(3, -0.2, ((3, -0.2),)), Sampled(5, -1.0)]
    found = CompletionLogprobs(pieces).of(tokens)
    assert found["tokens"] == ["Hi", "!", "€"]
    assert found["token_logprobs"] == [-3.0, -0.2, -1.0]
    assert found["top_logprobs"] == [{"!": -0.1, "€": -2.0, "Hi": -3.0}, {"!": -0.2}, {"€": -1.0}]
    assert found["text_offset"] == [0, 2, 3]


def test_of_two_tokens_with_one_text_the_better_counts() -> None:
    assert CompletionLogprobs(pieces).of([Sampled(7, -2.0, ((0, -0.5), (7, -2.0)))])["top_logprobs"] == [
        {"Hi": -0.5}
    ]


def test_a_token_inside_a_character_has_the_offset_of_the_character() -> None:
    tokens = [Sampled(number, -1.0) for number in (0, 1, 2, 4, 6, 3)]
    assert (
        "".join(PIECES[token.id].decode("utf-8", "ignore") for token in tokens if token.id in (0, 3)) == "Hi!"
    )
    assert CompletionLogprobs(pieces).of(tokens)["text_offset"] == [0, 2, 2, 3, 3, 4]


@given(st.lists(st.lists(st.integers(0, len(PIECES) - 1), max_size=4), max_size=5))
def test_in_pieces_or_at_once_the_same(parts: list[list[int]]) -> None:
    whole = CompletionLogprobs(pieces).of([Sampled(token, -1.0) for part in parts for token in part])
    growing = CompletionLogprobs(pieces)
    found = [growing.of([Sampled(token, -1.0) for token in part]) for part in parts]
    assert whole == {name: [x for part in found for x in part[name]] for name in whole}  # type: ignore[attr-defined]
