"""The prefix index: which kept states begin like a prompt. A radix tree over row ids.

Rules:
- One root per namespace: a lookup never sees another caller's rows.
- An edge holds its rows' bytes, so a walk compares memory and is exact: nothing is hashed, nothing has to
  be verified afterwards. Shared prefixes are held once.
- A node without checkpoints has at least two children, the root aside; edges are never empty.
- An image's rows carry ids made of its content hash (`core.plan.Image`), so they compare like tokens.

States in slots are not in here: they grow with every step, and there are few (see `schedule.pool`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice

import numpy as np

from ds4.core.plan import Ids
from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.prefix import common_prefix

WIDTH = 4
"""Bytes per row."""
BEYOND = 16
"""So many longer checkpoints are named at most: each of them offers the same rows."""


@dataclass(frozen=True, slots=True)
class Match:
    """`common` rows of the prompt are known. `within` are the checkpoints that end inside them, short to
    long; `beyond` some whole states that go on differently after them, the nearest first. (Marks beyond are
    of no use, and a long conversation has many: they would crowd the states out.)"""

    common: int
    within: tuple[Checkpoint, ...]
    beyond: tuple[Checkpoint, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """`rows` that lead to a place where `checkpoints` end and `branches` begin. A root has no rows."""

    rows: int
    checkpoints: int
    branches: int


class _Node:
    __slots__ = ("checkpoints", "children", "edge", "parent")

    def __init__(self, edge: bytes, parent: "_Node | None") -> None:
        self.edge = edge
        self.parent = parent
        self.children: dict[bytes, _Node] = {}
        self.checkpoints: list[Checkpoint] = []

    def adopt(self, child: "_Node") -> None:
        child.parent = self
        self.children[child.edge[:WIDTH]] = child


class PrefixIndex:
    def __init__(self) -> None:
        self._roots: dict[str, _Node] = {}
        self._nodes: dict[str, _Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def edges(self) -> Iterator[Edge]:
        """All that is held, parents first: for measurements."""
        waiting = list(self._roots.values())
        while waiting:
            node = waiting.pop()
            yield Edge(len(node.edge) // WIDTH, len(node.checkpoints), len(node.children))
            waiting.extend(node.children.values())

    def add(self, checkpoint: Checkpoint) -> None:
        """A key that is there already is replaced."""
        self.remove(checkpoint.key)
        root = self._roots.setdefault(checkpoint.namespace, _Node(b"", None))
        node = _reach(root, _bytes(checkpoint.ids))
        node.checkpoints.append(checkpoint)
        self._nodes[checkpoint.key] = node

    def remove(self, key: str) -> None:
        """Unknown keys are ignored."""
        node = self._nodes.pop(key, None)
        if node is None:
            return
        gone = next(checkpoint for checkpoint in node.checkpoints if checkpoint.key == key)
        node.checkpoints.remove(gone)
        _tidy(node)
        root = self._roots[gone.namespace]
        if not root.children and not root.checkpoints:
            del self._roots[gone.namespace]

    def find(self, namespace: str, ids: Ids) -> Match:
        """In time proportional to the prompt and the checkpoints along it."""
        node = self._roots.get(namespace)
        if node is None:
            return Match(0, (), ())
        data, at, within = _bytes(ids), 0, list(node.checkpoints)
        while (child := node.children.get(data[at : at + WIDTH])) is not None:
            if not data.startswith(child.edge, at):
                same = common_prefix(_ids(child.edge), _ids(data[at : at + len(child.edge)]))
                return Match(at // WIDTH + same, tuple(within), _nearest([child]))
            at += len(child.edge)
            within += child.checkpoints
            node = child
        return Match(at // WIDTH, tuple(within), _nearest(node.children.values()))


def _reach(root: _Node, data: bytes) -> _Node:
    """The node at the end of `data`, made where there is none."""
    node, at = root, 0
    while at < len(data):
        child = node.children.get(data[at : at + WIDTH])
        if child is None:
            child = _Node(data[at:], node)
            node.adopt(child)
        elif not data.startswith(child.edge, at):
            child = _split(node, child, data, at)
        at += len(child.edge)
        node = child
    return node


def _split(parent: _Node, child: _Node, data: bytes, at: int) -> _Node:
    """A new node between the two, where `data` leaves the child's edge."""
    same = WIDTH * common_prefix(_ids(child.edge), _ids(data[at : at + len(child.edge)]))
    middle = _Node(child.edge[:same], parent)
    parent.adopt(middle)
    child.edge = child.edge[same:]
    middle.adopt(child)
    return middle


def _tidy(node: _Node) -> None:
    """Takes out nodes that no longer branch or end anything, from `node` upwards."""
    while (parent := node.parent) is not None and not node.checkpoints and len(node.children) < 2:
        if node.children:
            (child,) = node.children.values()
            child.edge = node.edge + child.edge
            parent.adopt(child)
            return
        del parent.children[node.edge[:WIDTH]]
        node = parent


def _nearest(nodes: Iterable[_Node]) -> tuple[Checkpoint, ...]:
    return tuple(islice(_short_to_long(nodes), BEYOND))


def _short_to_long(nodes: Iterable[_Node]) -> Iterator[Checkpoint]:
    """The checkpoints in siblings and below them."""
    waiting = [(len(node.edge), number, node) for number, node in enumerate(nodes)]
    heapify(waiting)
    number = len(waiting)
    while waiting:
        size, _, here = heappop(waiting)
        yield from (checkpoint for checkpoint in here.checkpoints if checkpoint.kind is SnapshotKind.FULL)
        for child in here.children.values():
            number += 1
            heappush(waiting, (size + len(child.edge), number, child))


def _bytes(ids: Ids) -> bytes:
    return np.ascontiguousarray(ids, dtype="<i4").tobytes()


def _ids(data: bytes) -> Ids:
    return np.frombuffer(data, dtype="<i4")
