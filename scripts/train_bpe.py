"""Learns the merges of the scripted engine's tokenizer from text files.

python scripts/train_bpe.py COUNT FILE_OR_FOLDER... > src/ds4/engine/scripted/merges.txt

Folders give their *.py and *.md files. Run it on text that may be published.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from ds4.engine.scripted.bpe import as_bytes, merge, words


def texts(paths: Iterable[str]) -> Iterator[str]:
    for path in map(Path, paths):
        inside = sorted(file for file in path.rglob("*") if file.suffix in {".py", ".md"})
        for file in inside if path.is_dir() else [path]:
            yield file.read_text("utf-8")


def learn(corpus: Iterable[str], count: int) -> Iterator[tuple[int, int]]:
    """Yields the most frequent pair, merges it, and so on. Ties go to the lowest ids."""
    seen = Counter(word for text in corpus for word in words(text))
    cuts = {word: list(as_bytes(word)) for word in seen}
    for merged in range(256, 256 + count):
        pairs: Counter[tuple[int, int]] = Counter()
        for word, ids in cuts.items():
            for pair in pairwise(ids):
                pairs[pair] += seen[word]
        if not pairs:
            return
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        yield best
        cuts = {word: merge(ids, best, merged) for word, ids in cuts.items() if len(ids) > 1}


def main() -> None:
    count, *paths = sys.argv[1:]
    for left, right in learn(texts(paths), int(count)):
        print(left, right)


if __name__ == "__main__":
    main()
