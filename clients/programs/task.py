"""What all drives in Python share. They run in the environments of the clients."""

import os
import sys
from pathlib import Path

from write_file import write_file as write_file

URL = os.environ["DRIVE_URL"]
API = os.environ["DRIVE_API"]
MODEL = os.environ["DRIVE_MODEL"]
KEY = "unused"
PROMPT = sys.argv[1]
ROUNDS = 5
MAX_TOKENS = 1024

NAME = "write_file"
DESCRIPTION = "Writes a file."
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
    "additionalProperties": False,
}


def drive(loop):
    """Runs `loop(streamed)` both ways; each must make its file."""
    for streamed in (True, False):
        for path in Path().glob("*.txt"):
            path.unlink()
        print(loop(streamed))
        if not list(Path().glob("*.txt")):
            sys.exit(f"no file was made, streamed: {streamed}")
