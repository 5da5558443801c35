from ds4.api.responses.store import Item, MemoryStore, Stored


def stored(name: str, *output: str, body: bytes = b"{}", earlier: tuple[Item, ...] = ()) -> Stored:
    items = tuple(Item(item, b'{"id":1}') for item in output)
    return Stored(name, body, earlier, (), items)


def test_what_was_put_comes_back_to_its_owner_only() -> None:
    store, kept = MemoryStore(), stored("resp_1", "msg_1")
    store.put("mine", kept)
    assert store.get("mine", "resp_1") is kept
    assert store.item("mine", "msg_1") is kept.output[0]
    assert store.get("other", "resp_1") is None
    assert store.item("other", "msg_1") is None
    assert not store.delete("other", "resp_1")


def test_what_is_deleted_is_gone_with_its_items() -> None:
    store = MemoryStore()
    store.put("", stored("resp_1", "msg_1"))
    assert store.delete("", "resp_1")
    assert not store.delete("", "resp_1")
    assert store.get("", "resp_1") is None
    assert store.item("", "msg_1") is None


def test_the_count_is_bounded_and_the_longest_unused_goes_first() -> None:
    store = MemoryStore(max_responses=2)
    store.put("", stored("resp_1", "msg_1"))
    store.put("", stored("resp_2", "msg_2"))
    store.get("", "resp_1")
    store.put("", stored("resp_3"))
    assert [store.get("", f"resp_{number}") is None for number in (1, 2, 3)] == [False, True, False]
    assert store.item("", "msg_2") is None


def test_using_an_item_keeps_its_response() -> None:
    store = MemoryStore(max_responses=2)
    store.put("", stored("resp_1", "msg_1"))
    store.put("", stored("resp_2"))
    store.item("", "msg_1")
    store.put("", stored("resp_3"))
    assert store.get("", "resp_1") is not None


def test_the_bytes_are_bounded_history_included() -> None:
    store = MemoryStore(max_bytes=1000)
    store.put("", stored("resp_1", body=b"x" * 600))
    store.put("", stored("resp_2", body=b"x" * 300, earlier=(Item("msg_0", b"x" * 200),)))
    assert store.get("", "resp_1") is None
    assert store.get("", "resp_2") is not None
    store.put("", stored("resp_3", body=b"x" * 1001))
    assert store.get("", "resp_3") is None, "too large by itself"


def test_room_that_was_given_back_counts_again() -> None:
    store = MemoryStore(max_bytes=1000)
    for number in range(10):
        store.put("", stored(f"resp_{number}", body=b"x" * 900))
        assert store.delete("", f"resp_{number}")
    store.put("", stored("last", body=b"x" * 900))
    assert store.get("", "last") is not None


def test_an_item_that_a_later_response_brought_again_outlives_the_first() -> None:
    store = MemoryStore()
    store.put("", stored("resp_1", "msg_1"))
    store.put("", stored("resp_2", "msg_1"))
    store.delete("", "resp_1")
    assert store.item("", "msg_1") is not None


def test_a_call_names_the_response_that_was_answered_with_it() -> None:
    def calling(name: str, *calls: str) -> Stored:
        items = tuple(Item(f"fc_{call}", b'{"call_id":"%s"}' % call.encode()) for call in calls)
        return Stored(name, b"{}", (), (), items)

    store = MemoryStore(max_responses=2)
    store.put("mine", calling("resp_1", "a", "b"))
    assert [store.calling("mine", call) for call in "abc"] == ["resp_1", "resp_1", None]
    assert store.calling("other", "a") is None
    store.put("mine", calling("resp_2", "b"))
    store.put("mine", calling("resp_3"))
    assert [store.calling("mine", call) for call in "ab"] == [None, "resp_2"]
