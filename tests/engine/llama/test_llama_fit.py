from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.engine.llama.capi import Device
from ds4.engine.llama.fit import MemoryNeed, available_bytes, fits

GIB = 1 << 30
NEED = MemoryNeed(weights=4 * GIB, kv_per_slot=2 * GIB, workspace=GIB, n_slots=3, n_ctx=32768)


def test_enough_is_silent() -> None:
    assert fits(NEED, 11 * GIB) is None


def test_a_refusal_gives_figures_and_a_context_that_fits() -> None:
    said = fits(NEED, 8 * GIB)
    assert said is not None
    for part in ("weights 4.00", "3 x 2.00", "--ctx 32768", "workspace 1.00", "= 11.00", "available 8.00"):
        assert part in said
    assert "--ctx 16640 would fit" in said
    assert "fewer sessions" in said


def test_weights_that_do_not_fit_need_another_model() -> None:
    said = fits(NEED, 4 * GIB)
    assert said is not None
    assert "smaller" in said
    assert "would fit" not in said


@given(st.integers(0, 64), st.integers(1, 8), st.integers(0, 64))
def test_the_suggested_context_does_fit(weights: int, n_slots: int, available: int) -> None:
    need = replace(NEED, weights=weights * GIB, n_slots=n_slots)
    said = fits(need, available * GIB)
    assert (said is None) == (need.total <= available * GIB)
    if said and "--ctx" in said and "would fit" in said:
        rows = int(said.split("about --ctx ")[1].split()[0])
        smaller = replace(
            need,
            kv_per_slot=need.kv_per_slot * rows // need.n_ctx,
            workspace=need.workspace * rows // need.n_ctx,
        )
        assert fits(smaller, available * GIB) is None


def _device(*, shares_host: bool) -> Device:
    return Device(handle=1, name="x", backend="CUDA", gpu=True, shares_host=shares_host, free=GIB)


def test_only_memory_of_its_own_adds_to_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ds4.engine.llama.fit._host_available", lambda: 5 * GIB)
    assert available_bytes(()) == 5 * GIB
    assert available_bytes([_device(shares_host=True)]) == 5 * GIB
    assert available_bytes([_device(shares_host=False)]) == 6 * GIB


def test_the_host_tells_something_sensible() -> None:
    available = available_bytes(())
    assert available is not None
    assert available > 1 << 20
