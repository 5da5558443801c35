"""What a figure was measured on."""

import os
import platform
from pathlib import Path

from ds4 import __version__
from ds4.engine.llama.capi import system_info, version


def describe() -> str:
    return (
        f"{_cpu()}, {len(os.sched_getaffinity(0))} cores, {_memory()}, {platform.system()}, "
        f"Python {platform.python_version()}, ds4 {__version__}, llama.cpp {version()} "
        f"({' '.join(system_info().split())})"
    )


def busy() -> float:
    """Runnable processes besides this one, by the one-minute load."""
    return os.getloadavg()[0]


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
