"""Where the hub is, where its files are kept, and who asks."""

from dataclasses import dataclass, field
from pathlib import Path

from huggingface_hub import constants


@dataclass(frozen=True, slots=True)
class HubSettings:
    """`token` None stands for HF_TOKEN or the one that `hf auth login` stored, False for none."""

    endpoint: str
    cache_dir: Path
    token: str | bool | None = field(default=None, repr=False)
    offline: bool = False

    @classmethod
    def from_environment(cls) -> "HubSettings":
        """HF_ENDPOINT, HF_HUB_CACHE or HF_HOME, HF_HUB_OFFLINE."""
        return cls(
            endpoint=constants.ENDPOINT,
            cache_dir=Path(constants.HF_HUB_CACHE),
            offline=constants.is_offline_mode(),
        )
