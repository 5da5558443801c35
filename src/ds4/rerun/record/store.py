"""The checkpoint store, with what it is asked and says noted on the tape.

Rules:
- Checkpoints have numbers instead of keys: a key is made of the caller's secret, among other things.
- A row that several of them begin with is told once.
"""

from collections.abc import Callable, Sequence

from ds4.kv.checkpoint import Appeared, CheckpointStore, Fetched, News, Save, Vanished
from ds4.rerun.moment import Callers
from ds4.rerun.record.shared_rows import SharedRows
from ds4.rerun.tape import Tape


class NotedStore:
    """`kv.checkpoint.CheckpointStore` around another."""

    def __init__(self, store: CheckpointStore, tape: Tape, callers: Callers) -> None:
        self._store = store
        self._tape = tape
        self._callers = callers
        self._numbers: dict[str, int] = {}
        self._rows = SharedRows()

    def save(self, save: Save) -> bool:
        taken = self._store.save(save)
        made = save.checkpoint
        self._tape.note(
            "store", ["save", self._number(made.key), made.rows, made.size, save.reason.value, taken]
        )
        return taken

    def fetch(self, key: str) -> None:
        self._tape.note("store", ["fetch", self._number(key)])
        self._store.fetch(key)

    def news(self) -> Sequence[News]:
        news = self._store.news()
        if news:
            self._tape.note("store", ["news", [self._words(one) for one in news]])
        return news

    def on_news(self, wake: Callable[[], None]) -> None:
        self._store.on_news(wake)

    def touch(self, key: str) -> None:
        self._store.touch(key)

    def discard(self, key: str, why: str) -> None:
        self._tape.note("store", ["discard", self._number(key), why])
        self._store.discard(key, why)

    def flush(self) -> None:
        self._store.flush()

    def close(self) -> None:
        self._store.close()

    def _number(self, key: str) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def _words(self, news: News) -> list[object]:
        match news:
            case Appeared(made, other_quant):
                known = made.key in self._numbers
                number = self._number(made.key)
                ids = None if known else self._rows.tell(number, made.ids)
                caller, kind = self._callers.name(made.namespace), made.kind.value
                return ["appeared", number, caller, kind, ids, made.size, other_quant]
            case Vanished(key):
                number = self._number(key)
                self._rows.forget(number)
                return ["vanished", number]
            case Fetched(key, snapshot, seconds):
                size = -1 if snapshot is None else snapshot.size
                rows = (0, 0) if snapshot is None else (snapshot.rows, snapshot.positions)
                return ["fetched", self._number(key), size, *rows, seconds]
