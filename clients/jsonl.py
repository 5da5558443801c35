"""What agents print for programs: a JSON object a line, between lines of other sorts."""

import json
from collections.abc import Iterator
from typing import Any


def objects(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found
