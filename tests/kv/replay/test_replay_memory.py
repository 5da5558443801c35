"""The memory of records: its bounds, and who goes first."""

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st
from replay_records import lengths, prefix_of, record

from ds4.kv.replay.memory import SIBLINGS, Bounds, Memory
from ds4.kv.replay.record import Record

MANY = Bounds()


def names(found: object) -> list[str]:
    assert isinstance(found, list | tuple)
    return [one.meaning.text[0].split()[2] for one in found]


def test_what_is_used_stays() -> None:
    memory = Memory(Bounds(calls=3))
    for place in range(3):
        memory.put(record(place=place))
    assert memory.find("", prefix_of(0))
    memory.put(record(place=3))
    assert [bool(memory.find("", prefix_of(place))) for place in range(4)] == [True, False, True, True]


def test_answers_count_by_their_calls_and_bytes() -> None:
    memory = Memory(Bounds(calls=5))
    memory.put(record(place=1, calls=4))
    memory.put(record(place=2, calls=0))
    assert memory.calls == 5
    memory.put(record(place=3, calls=0))
    assert not memory.find("", prefix_of(1))
    assert memory.calls == 2
    small = Memory(Bounds(size=record().size))
    small.put(record(place=1))
    small.put(record(place=2))
    assert (lengths(small.spots("")), small.size) == ([2], record().size)
    small.put(record("too large " * 100, place=3))
    assert (lengths(small.spots("")), small.size) == ([], 0)


def test_the_one_used_last_comes_first_and_the_oldest_siblings_go() -> None:
    memory = Memory(MANY)
    for number in range(SIBLINGS + 2):
        memory.put(record(f"n{number}"))
    memory.put(record("n5"))
    found = names(memory.find("", prefix_of(0)))
    assert found[:2] == ["n5", f"n{SIBLINGS + 1}"]
    assert sorted(found) == sorted(f"n{number}" for number in range(2, SIBLINGS + 2))


def test_nobody_sees_another_s() -> None:
    memory = Memory(MANY)
    memory.put(record(place=7, namespace="a"))
    assert memory.find("b", prefix_of(7)) == memory.find("", prefix_of(7)) == []
    assert (lengths(memory.spots("a")), lengths(memory.spots("b"))) == ([7], [])


steps = st.tuples(
    st.sampled_from(["put", "find"]), st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("xyz")
)


@given(st.lists(steps, max_size=60), st.integers(1, 6))
def test_it_keeps_what_a_simple_one_would(taken: list[tuple[str, str, int, str]], most: int) -> None:
    memory, model = Memory(Bounds(calls=most)), OrderedDict[bytes, Record]()
    for what, namespace, place, name in taken:
        one = record(name, place=place, namespace=namespace)
        if what == "put":
            memory.put(one)
            model[one.key] = one
            model.move_to_end(one.key)
            if len(model) > most:
                model.popitem(last=False)
            continue
        found = memory.find(namespace, prefix_of(place))
        known = [r for r in model.values() if (r.namespace, r.rows) == (namespace, place)]
        assert {r.key for r in found} == {r.key for r in known}
        for each in reversed(found):
            model.move_to_end(each.key)
    assert memory.calls == len(model)
    assert memory.size == sum(one.size for one in model.values())
    for namespace in "ab":
        rows = sorted({one.rows for one in model.values() if one.namespace == namespace})
        assert lengths(memory.spots(namespace)) == rows
