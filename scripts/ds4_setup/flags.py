"""Which CMake flags llama.cpp is built with on a host. Pure.

Never GGML_NATIVE: on a CPU with AMX it turns on kernels that crash with gcc 12 and give wrong rows
for hybrid models in batches. So instruction sets are named one by one, from what the CPU reports.
RPC is in every build: it costs nothing until it is used.
"""

from dataclasses import dataclass

from ds4_setup.errors import SetupError

BASE = ("-DGGML_NATIVE=OFF", "-DGGML_RPC=ON")

BACKEND_FLAGS = {
    "auto": (),
    "cpu": (),
    "metal": ("-DGGML_METAL=ON",),
    "cuda": ("-DGGML_CUDA=ON",),
    "rocm": ("-DGGML_HIP=ON",),
    "vulkan": ("-DGGML_VULKAN=ON",),
}

# Without GGML_NATIVE, llama.cpp takes these for granted on x86 and leaves the AVX-512 ones out.
EXPECTED = {
    "GGML_SSE42": {"sse4_2"},
    "GGML_AVX": {"avx"},
    "GGML_AVX2": {"avx2"},
    "GGML_BMI2": {"bmi2"},
    "GGML_FMA": {"fma"},
    "GGML_F16C": {"f16c"},
}
AVX512 = {"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"}
EXTRA = {
    "GGML_AVX512": AVX512,
    "GGML_AVX512_VBMI": AVX512 | {"avx512vbmi"},
    "GGML_AVX512_VNNI": AVX512 | {"avx512_vnni"},
    "GGML_AVX512_BF16": AVX512 | {"avx512_bf16"},
}


@dataclass(frozen=True, slots=True)
class Host:
    """`system` as platform.system() says; `cpu_flags` is empty where the system does not list them."""

    system: str
    machine: str
    cpu_flags: frozenset[str] = frozenset()


def cmake_flags(host: Host, backend: str) -> tuple[str, ...]:
    """Raises SetupError for a backend that is unknown or not to be had on this system."""
    if backend not in BACKEND_FLAGS:
        raise SetupError(f"BACKEND={backend} is unknown; it is one of {', '.join(BACKEND_FLAGS)}")
    if backend == "metal" and host.system != "Darwin":
        raise SetupError("BACKEND=metal needs macOS")
    # Metal is llama.cpp's default on macOS.
    no_metal = ("-DGGML_METAL=OFF",) if backend == "cpu" and host.system == "Darwin" else ()
    return BASE + _instruction_sets(host) + BACKEND_FLAGS[backend] + no_metal


def _instruction_sets(host: Host) -> tuple[str, ...]:
    if host.machine.lower() not in {"x86_64", "amd64"} or not host.cpu_flags:
        return ()
    missing = [f"-D{name}=OFF" for name, needs in EXPECTED.items() if not needs <= host.cpu_flags]
    present = [f"-D{name}=ON" for name, needs in EXTRA.items() if needs <= host.cpu_flags]
    return (*missing, *present)


def parse_cpuinfo(text: str) -> frozenset[str]:
    """The first CPU's feature words in Linux's /proc/cpuinfo."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()
