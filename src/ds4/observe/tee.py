"""One observer that tells several."""

from ds4.observe.records import Observer, Record


def tee(*observers: Observer) -> Observer:
    """Each is told of every record, in this order."""

    def observe(record: Record) -> None:
        for observer in observers:
            observer(record)

    return observe
