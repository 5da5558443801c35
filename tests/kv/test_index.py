import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.index import BEYOND, Edge, PrefixIndex

Rows = tuple[int, ...]
NAMESPACES = ("ann", "bob")
TRUNKS: tuple[Rows, ...] = ((0,) * 40, (0,) * 15 + (1,) * 25, (0,) * 15 + (-1, 0) * 12)
"""Long beginnings that share some: a row is one of three, and one of them an image's."""


def rows_of() -> st.SearchStrategy[Rows]:
    tails = st.lists(st.sampled_from([0, 1, -1]), max_size=3).map(tuple)
    return st.builds(
        lambda trunk, cut, tail: trunk[:cut] + tail, st.sampled_from(TRUNKS), st.integers(0, 40), tails
    )


def checkpoint(
    key: str, rows: Rows, namespace: str = "ann", kind: SnapshotKind = SnapshotKind.FULL
) -> Checkpoint:
    return Checkpoint(key, namespace, np.array(rows, np.int32), kind, 1)


def index_of(**rows: Rows) -> PrefixIndex:
    index = PrefixIndex()
    for key, ids in rows.items():
        index.add(checkpoint(key, ids))
    return index


def keys(checkpoints: tuple[Checkpoint, ...]) -> list[str]:
    return [found.key for found in checkpoints]


def shared(left: Rows, right: Rows) -> int:
    size = 0
    while size < min(len(left), len(right)) and left[size] == right[size]:
        size += 1
    return size


class Against(RuleBasedStateMachine):
    """The index beside a plain dict that is searched from end to end."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.index = PrefixIndex()
        self.model: dict[str, tuple[str, Rows]] = {}

    @rule(target=names, number=st.integers(0, 30), namespace=st.sampled_from(NAMESPACES), rows=rows_of())
    def add(self, number: int, namespace: str, rows: Rows) -> str:
        key = f"k{number}"
        self.index.add(checkpoint(key, rows, namespace))
        self.model[key] = (namespace, rows)
        return key

    @rule(key=names)
    def remove(self, key: str) -> None:
        self.index.remove(key)
        self.model.pop(key, None)

    @rule(key=names, more=rows_of())
    def find_what_goes_on(self, key: str, more: Rows) -> None:
        namespace, rows = self.model.get(key, ("ann", ()))
        self.find(namespace, rows + more)

    @rule(namespace=st.sampled_from((*NAMESPACES, "nobody")), wanted=rows_of())
    def find(self, namespace: str, wanted: Rows) -> None:
        match = self.index.find(namespace, np.array(wanted, np.int32))
        own = {key: rows for key, (owner, rows) in self.model.items() if owner == namespace}
        common = max((shared(rows, wanted) for rows in own.values()), default=0)
        assert match.common == common
        within = [key for key, rows in own.items() if wanted[: len(rows)] == rows]
        assert sorted(keys(match.within)) == sorted(within)
        assert [c.rows for c in match.within] == sorted(c.rows for c in match.within)
        beyond = [key for key, rows in own.items() if shared(rows, wanted) == common < len(rows)]
        assert set(keys(match.beyond)) <= set(beyond)
        assert [c.rows for c in match.beyond] == sorted(len(own[key]) for key in beyond)[:BEYOND]

    @invariant()
    def knows_its_keys(self) -> None:
        assert len(self.index) == len(self.model)
        assert all(key in self.index for key in self.model)

    @invariant()
    def holds_no_more_than_it_needs(self) -> None:
        edges = list(self.index.edges())
        roots = [edge for edge in edges if not edge.rows]
        assert len(roots) == len({namespace for namespace, _ in self.model.values()})
        assert all(edge.checkpoints or edge.branches >= 2 for edge in edges if edge.rows)
        assert sum(edge.checkpoints for edge in edges) == len(self.model)
        distinct = {(owner, rows[: n + 1]) for owner, rows in self.model.values() for n in range(len(rows))}
        assert sum(edge.rows for edge in edges) == len(distinct)

    def teardown(self) -> None:
        for key in list(self.model):
            self.index.remove(key)
        assert list(self.index.edges()) == []


Against.TestCase.settings = settings(stateful_step_count=25)
TestAgainst = Against.TestCase


def test_a_known_key_is_replaced() -> None:
    index = index_of(a=(1, 2, 3))
    index.add(checkpoint("a", (4, 5), "bob"))
    assert index.find("ann", np.array([1, 2, 3], np.int32)).common == 0
    assert keys(index.find("bob", np.array([4, 5], np.int32)).within) == ["a"]
    assert len(index) == 1


def test_a_whole_state_and_a_mark_may_end_at_one_row() -> None:
    index = index_of(whole=(1, 2))
    index.add(checkpoint("mark", (1, 2), kind=SnapshotKind.PARTIAL))
    index.remove("whole")
    assert keys(index.find("ann", np.array([1, 2, 3], np.int32)).within) == ["mark"]


def test_an_unknown_key_cannot_be_removed() -> None:
    index = index_of(a=(1,))
    index.remove("b")
    assert "a" in index


def test_the_nearest_are_named_whatever_branch_they_are_on() -> None:
    """Many far ones on a branch that came first do not hide a near one."""
    far = {f"far{n}": (7, 1) + (2,) * (50 + n) for n in range(BEYOND + 4)}
    index = index_of(**far, near=(7, 3, 3))
    found = index.find("ann", np.array([7], np.int32))
    assert found.common == 1
    assert keys(found.beyond) == ["near", *list(far)[: BEYOND - 1]]


def test_near_is_counted_in_rows_not_in_branches() -> None:
    index = index_of(one_long_way=(7, 1) + (5,) * 90, b=(7, 2, 2, 1), c=(7, 2, 2, 2, 2))
    assert keys(index.find("ann", np.array([7], np.int32)).beyond) == ["b", "c", "one_long_way"]


def test_removing_the_last_branch_joins_the_rest() -> None:
    index = index_of(a=(1, 1, 1), b=(1, 1, 2))
    assert list(index.edges())[1] == Edge(rows=2, checkpoints=0, branches=2)
    index.remove("b")
    assert list(index.edges()) == [Edge(0, 0, 1), Edge(3, 1, 0)]
