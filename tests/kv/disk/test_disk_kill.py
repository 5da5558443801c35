"""kill -9 at any moment: the next start is clean, and nothing wrong is ever restored."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

ROUNDS = 50
"""Of two processes each."""


@pytest.mark.parametrize("seed", [1])
def test_killed_a_hundred_times(tmp_path: Path, seed: int) -> None:
    program = Path(__file__).with_name("disk_killing.py")
    ended = subprocess.run(
        [sys.executable, program, tmp_path / "c", str(ROUNDS), str(seed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > ROUNDS, "and something was there to be restored"
