from dataclasses import replace

import pytest

from ds4.core.errors import StartError
from ds4.engine.llama.capi import read_defaults, system_info, version
from ds4.engine.llama.guard import EXPECTED, KNOWN_VERSIONS, check_library, extra_buffers_safe


def test_the_installed_library_passes() -> None:
    assert read_defaults() == EXPECTED
    check_library(version(), read_defaults())
    assert "CPU" in system_info()


def test_shifted_structs_are_refused_by_name() -> None:
    shifted = replace(EXPECTED, offload_kqv=False, swa_full=False)
    with pytest.raises(StartError, match=r"offload_kqv, swa_full.*reinstall"):
        check_library(KNOWN_VERSIONS[0], shifted)


def test_another_version_is_refused() -> None:
    with pytest.raises(StartError, match=r"9\.9\.9 is not supported"):
        check_library("9.9.9", EXPECTED)


def test_amx_switches_repacking_off() -> None:
    assert not extra_buffers_safe("CPU : AVX2 = 1 | AMX_INT8 = 1 | REPACK = 1 |")
    assert extra_buffers_safe("CPU : AVX2 = 1 | AVX512_VNNI = 1 | REPACK = 1 |")
