"""JSON objects in text: one a line, between lines of other sorts."""

import json
from collections.abc import Iterator
from typing import Any


def objects(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found
