"""Which devices to run on."""

from collections.abc import Sequence
from dataclasses import dataclass

from ds4.core.errors import StartError
from ds4.engine.llama.capi import Device
from ds4.engine.llama.options import BackendChoice

_GGML_NAMES = {
    BackendChoice.METAL: "MTL",
    BackendChoice.CUDA: "CUDA",
    BackendChoice.ROCM: "ROCm",
    BackendChoice.VULKAN: "Vulkan",
}
_BUILD_FLAGS = {
    BackendChoice.METAL: "-DGGML_METAL=ON",
    BackendChoice.CUDA: "-DGGML_CUDA=ON",
    BackendChoice.ROCM: "-DGGML_HIP=ON",
    BackendChoice.VULKAN: "-DGGML_VULKAN=ON",
}
_CHOICES = {name: choice for choice, name in _GGML_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Placement:
    """`name` is what the start line says. `devices` are GPUs; none means the CPU alone."""

    name: str
    devices: tuple[Device, ...] = ()


def choose_backend(
    wanted: BackendChoice, n_gpu_layers: int, backends: Sequence[str], devices: Sequence[Device]
) -> Placement:
    """`backends` are compiled in, `devices` present. Raises StartError saying how to get a missing one."""
    gpus = tuple(d for d in devices if d.gpu and d.backend in _CHOICES)
    if wanted is BackendChoice.CPU or n_gpu_layers == 0 or (wanted is BackendChoice.AUTO and not gpus):
        return Placement("cpu")
    if wanted is BackendChoice.AUTO:
        wanted = _CHOICES[gpus[0].backend]
    if _GGML_NAMES[wanted] not in backends:
        raise StartError(_missing(wanted))
    found = tuple(d for d in gpus if d.backend == _GGML_NAMES[wanted])
    if not found:
        raise StartError(f"--backend {wanted}: no such device was found on this machine")
    return Placement(wanted.value, found)


def _missing(wanted: BackendChoice) -> str:
    rebuild = "pip install --force-reinstall --no-cache-dir llama-cpp-python==0.3.36"
    return (
        f"--backend {wanted}: this build of llama.cpp lacks it; build it with `BACKEND={wanted} make serve` "
        f'in a checkout, or with CMAKE_ARGS="{_BUILD_FLAGS[wanted]}" {rebuild}'
    )
