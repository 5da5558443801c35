import pytest

from ds4.core.errors import StartError
from ds4.engine.llama.backend import choose_backend
from ds4.engine.llama.capi import Device, list_backends, list_devices
from ds4.engine.llama.options import BackendChoice


def device(backend: str, *, gpu: bool = True) -> Device:
    return Device(handle=1, name=f"{backend}0", backend=backend, gpu=gpu, shares_host=False, free=0)


CPU, CUDA, RPC = device("CPU", gpu=False), device("CUDA"), device("RPC")


def test_auto_takes_the_gpu_there_is_and_else_the_cpu() -> None:
    assert choose_backend(BackendChoice.AUTO, -1, ["CPU", "CUDA"], [CPU, CUDA]).devices == (CUDA,)
    assert choose_backend(BackendChoice.AUTO, -1, ["CPU", "CUDA"], [CPU, CUDA]).name == "cuda"
    assert choose_backend(BackendChoice.AUTO, -1, ["CPU", "RPC"], [CPU, RPC]).devices == ()


@pytest.mark.parametrize(("wanted", "layers"), [(BackendChoice.CPU, -1), (BackendChoice.CUDA, 0)])
def test_the_cpu_when_asked_or_when_no_layer_goes_elsewhere(wanted: BackendChoice, layers: int) -> None:
    placement = choose_backend(wanted, layers, ["CPU", "CUDA"], [CPU, CUDA])
    assert (placement.name, placement.devices) == ("cpu", ())


@pytest.mark.parametrize(
    ("wanted", "flag"),
    [
        (BackendChoice.METAL, "-DGGML_METAL=ON"),
        (BackendChoice.CUDA, "-DGGML_CUDA=ON"),
        (BackendChoice.ROCM, "-DGGML_HIP=ON"),
        (BackendChoice.VULKAN, "-DGGML_VULKAN=ON"),
    ],
)
def test_a_missing_backend_says_how_to_build_it(wanted: BackendChoice, flag: str) -> None:
    with pytest.raises(StartError) as error:
        choose_backend(wanted, -1, ["CPU"], [CPU])
    assert f"--backend {wanted}" in error.value.message
    assert flag in error.value.message


def test_a_backend_without_a_device_is_refused() -> None:
    with pytest.raises(StartError, match="no such device"):
        choose_backend(BackendChoice.CUDA, -1, ["CPU", "CUDA"], [CPU])


def test_this_build_has_a_cpu() -> None:
    assert "CPU" in list_backends()
    assert any(found.backend == "CPU" and not found.gpu for found in list_devices())
