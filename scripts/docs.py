"""Writes the generated part of docs/server.md. Run it in the project's environment: `make docs`."""

from pathlib import Path

from ds4.config.markdown import with_options

PAGE = Path(__file__).resolve().parents[1] / "docs" / "server.md"

if __name__ == "__main__":
    PAGE.write_text(with_options(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
