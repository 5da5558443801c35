"""The tool alone, for clients that load functions."""

from pathlib import Path


def write_file(path: str, content: str) -> str:
    """Writes a file."""
    Path(path).write_text(content)
    return "written"
