"""The real clock and id source. Tests use the ones in `ds4.testing`."""

import secrets
import time


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()


class RandomIds:
    def new(self, prefix: str) -> str:
        """`prefix` and 128 random bits in hex."""
        return prefix + secrets.token_hex(16)
