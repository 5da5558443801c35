import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Image, Origin, PromptPlan, Tokens

shas = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")


def image(sha: str, rows: int = 9) -> Image:
    return Image(sha, rows, rows, causal=False)


@given(shas, st.integers(0, 600))
def test_image_rows_are_ids_that_no_token_has(sha: str, rows: int) -> None:
    ids = image(sha, rows).row_ids()
    assert len(ids) == rows
    assert all(np.iinfo(np.int32).min <= row < 0 for row in ids)


@given(shas, shas)
def test_nine_rows_tell_two_images_apart(one: str, other: str) -> None:
    assert (image(one).row_ids() == image(other).row_ids()) == (one == other)


@given(shas, st.integers(0, 255))
def test_every_bit_of_the_hash_counts(sha: str, bit: int) -> None:
    flipped = f"{int(sha, 16) ^ (1 << bit):064x}"
    assert image(sha).row_ids() != image(flipped).row_ids()


def test_a_longer_image_begins_with_the_same_ids() -> None:
    assert image("ab" * 32, 100).row_ids()[:9] == image("ab" * 32).row_ids()


def test_a_plan_lays_out_tokens_and_images_in_order() -> None:
    picture = image("c3" * 32, 12)
    plan = PromptPlan.of([Tokens((1, 2), Origin.CONTROL), picture, Tokens((3,), Origin.PLAIN)])
    assert plan.ids.tolist() == [1, 2, *picture.row_ids(), 3]
    assert plan.rows == 15
