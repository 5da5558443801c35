"""Servers that start at the same moment with one new directory: none is refused, nothing is put aside."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

ROUNDS = 40


def test_new_files_are_made_by_several_at_once(tmp_path: Path) -> None:
    program = Path(__file__).with_name("disk_making.py")
    ended = subprocess.run(
        [sys.executable, program, tmp_path / "c", str(ROUNDS)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "0 {}\n"), ended.stderr
