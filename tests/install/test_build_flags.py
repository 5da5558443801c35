import tomllib
from pathlib import Path

import pytest

from ds4_setup.errors import SetupError
from ds4_setup.flags import BASE, Host, cmake_flags, parse_cpuinfo

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
AVX2 = {"sse4_2", "avx", "avx2", "bmi2", "fma", "f16c"}
AVX512 = AVX2 | {"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"}


def x86(flags: set[str]) -> Host:
    return Host("Linux", "x86_64", frozenset(flags))


@pytest.mark.parametrize(
    ("host", "more"),
    [
        (x86(AVX2), ()),
        (x86(AVX512), ("-DGGML_AVX512=ON",)),
        (
            x86(AVX512 | {"avx512vbmi", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8"}),
            (
                "-DGGML_AVX512=ON",
                "-DGGML_AVX512_VBMI=ON",
                "-DGGML_AVX512_VNNI=ON",
                "-DGGML_AVX512_BF16=ON",
            ),
        ),
        # The extras alone are not enough, nor is half of the AVX-512 base.
        (x86(AVX2 | {"avx512f", "avx512_vnni"}), ()),
        (
            x86({"sse4_2", "avx"}),
            ("-DGGML_AVX2=OFF", "-DGGML_BMI2=OFF", "-DGGML_FMA=OFF", "-DGGML_F16C=OFF"),
        ),
        (Host("Linux", "aarch64"), ()),
        (Host("Darwin", "arm64"), ()),
        (Host("Darwin", "x86_64"), ()),
    ],
)
def test_instruction_sets(host: Host, more: tuple[str, ...]) -> None:
    assert cmake_flags(host, "auto") == BASE + more


@pytest.mark.parametrize(
    ("backend", "flag"),
    [("cuda", "-DGGML_CUDA=ON"), ("rocm", "-DGGML_HIP=ON"), ("vulkan", "-DGGML_VULKAN=ON")],
)
def test_backends_add_their_flag(backend: str, flag: str) -> None:
    assert cmake_flags(x86(AVX2), backend) == (*BASE, flag)


def test_cpu_on_a_mac_switches_metal_off() -> None:
    assert cmake_flags(Host("Darwin", "arm64"), "cpu") == (*BASE, "-DGGML_METAL=OFF")
    assert cmake_flags(Host("Darwin", "arm64"), "metal") == (*BASE, "-DGGML_METAL=ON")
    assert cmake_flags(x86(AVX2), "cpu") == BASE


def test_impossible_backends_are_one_sentence() -> None:
    with pytest.raises(SetupError, match="BACKEND=npu is unknown; it is one of auto, cpu"):
        cmake_flags(x86(AVX2), "npu")
    with pytest.raises(SetupError, match="BACKEND=metal needs macOS"):
        cmake_flags(x86(AVX2), "metal")


def test_cpuinfo_gives_the_first_cpu() -> None:
    text = "processor\t: 0\nvmx flags\t: ept\nflags\t\t: fpu avx avx2\n\nprocessor\t: 1\nflags\t\t: other\n"
    assert parse_cpuinfo(text) == {"fpu", "avx", "avx2"}
    assert parse_cpuinfo("Features\t: fp asimd\n") == frozenset()


def test_uv_users_get_the_same_base_flags() -> None:
    uv = tomllib.loads(PYPROJECT.read_text())["tool"]["uv"]["extra-build-variables"]
    assert uv["llama-cpp-python"]["CMAKE_ARGS"].split() == list(BASE)
