"""What can be set about the disk tier."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DiskSettings:
    """`space` and `write_per_hour` are bytes; 0 written per hour is no limit.

    Checkpoints of less than `min_rows` rows are neither written nor offered. `reject_other_quant`: nor are
    those of another quantisation of the same model. `queue` is bytes that may wait to be written; one
    snapshot of any size always may.
    """

    directory: Path
    space: int = 4096 << 20
    min_rows: int = 512
    reject_other_quant: bool = False
    write_per_hour: int = 0
    queue: int = 1 << 30
