"""A checkpoint store in memory that does everything at once: what a disk would do, without one."""

from collections.abc import Callable, Sequence

from ds4.kv.checkpoint import Appeared, Fetched, News, Save, Vanished


def _nobody() -> None:
    pass


class InlineStore:
    """`kv.checkpoint.CheckpointStore`, to be looked into and tampered with.

    `saves` is what is kept, by key; a test may put another snapshot there. Keys in `damaged` cannot be read.
    While `full`, nothing is taken; while `slow`, reads wait for `arrive`. `seconds` is what a read takes.
    `touched`, `discarded` (key to reason), `flushes` and `closed` note what was asked for.
    """

    def __init__(self, saves: dict[str, Save] | None = None, *, seconds: float = 0.001) -> None:
        self.saves = dict(saves or {})
        self.damaged: set[str] = set()
        self.full = False
        self.slow = False
        self.seconds = seconds
        self.touched: list[str] = []
        self.discarded: dict[str, str] = {}
        self.flushes = 0
        self.closed = False
        self._news: list[News] = [Appeared(save.checkpoint) for save in self.saves.values()]
        self._reading: list[str] = []
        self._wake: Callable[[], None] = _nobody

    def reopened(self) -> "InlineStore":
        """The same checkpoints and the same damage, as the next process finds them."""
        store = InlineStore(self.saves, seconds=self.seconds)
        store.damaged = set(self.damaged)
        return store

    def save(self, save: Save) -> bool:
        """What is written anew is whole again."""
        if self.full or self.closed:
            return False
        key = save.checkpoint.key
        self.saves[key] = save
        self.damaged.discard(key)
        self._tell(Appeared(save.checkpoint))
        return True

    def fetch(self, key: str) -> None:
        self._reading.append(key)
        if not self.slow:
            self.arrive()

    def arrive(self) -> None:
        """Ends the reads that wait."""
        keys, self._reading = self._reading, []
        for key in keys:
            self._read(key)

    def vanish(self, key: str) -> None:
        """Another process deletes it."""
        if self.saves.pop(key, None) is not None:
            self._tell(Vanished(key))

    def news(self) -> Sequence[News]:
        news, self._news = self._news, []
        return news

    def on_news(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        if self._news:
            wake()

    def touch(self, key: str) -> None:
        self.touched.append(key)

    def discard(self, key: str, why: str) -> None:
        self.discarded[key] = why
        self.vanish(key)

    def flush(self) -> None:
        self.flushes += 1

    def close(self) -> None:
        self.closed = True

    def _read(self, key: str) -> None:
        save = None if key in self.damaged else self.saves.get(key)
        self._tell(Fetched(key, save.snapshot if save else None, self.seconds))
        if save is None:
            self.saves.pop(key, None)
            self._tell(Vanished(key))

    def _tell(self, news: News) -> None:
        self._news.append(news)
        self._wake()
