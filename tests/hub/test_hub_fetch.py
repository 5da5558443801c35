"""From a reference to a file, against a hub on loopback."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_hub import COMMIT, FakeHub, sha256
from filelock import FileLock

from ds4.core.errors import ModelError
from ds4.hub import Fetched, HubSettings, fetch, parse_reference
from ds4.hub import remote as remote_module
from ds4.hub import transfer as transfer_module
from ds4.hub.cache import RepoCache
from ds4.hub.meter import LineMeter
from ds4.testing.clock import FakeClock

pytestmark = pytest.mark.server

SMALL = b"GGUF" + bytes(range(256)) * 40
LARGE = b"GGUF" + bytes(reversed(range(256))) * 400


class Desk:
    """One user: a cache folder, a token, what the screen showed, and how long the pauses were."""

    def __init__(self, hub: FakeHub, cache: Path) -> None:
        self.hub = hub
        self.cache = cache
        self.token: str | bool = False
        self.offline = False
        self.screen = io.StringIO()
        self.pauses: list[float] = []

    def fetch(self, text: str) -> Fetched:
        settings = HubSettings(self.hub.endpoint, self.cache, self.token, self.offline)
        meter = LineMeter(self.screen, FakeClock())
        return fetch(parse_reference(text), settings, meter, self.pauses.append)

    def refused(self, text: str) -> str:
        with pytest.raises(ModelError) as error:
            self.fetch(text)
        assert error.value.exit_code == 1
        assert "\n" not in error.value.message
        return error.value.message

    def partial(self, data: bytes) -> Path:
        return RepoCache(self.cache, self.hub.repo).partial(sha256(data))


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    files = {
        "README.md": b"text",
        "model-Q4_K_M.gguf": SMALL,
        "model-Q8_0.gguf": LARGE,
        "mmproj-model-f16.gguf": b"GGUFmmproj",
    }
    with FakeHub(files=files).running() as running:
        yield running


@pytest.fixture
def desk(hub: FakeHub, tmp_path: Path) -> Desk:
    return Desk(hub, tmp_path / "cache" / "hub")


def test_the_preferred_model_comes_and_the_others_are_named(desk: Desk) -> None:
    fetched = desk.fetch("hf:some/model-GGUF")
    assert fetched.path.name == "model-Q4_K_M.gguf"
    assert fetched.path.read_bytes() == SMALL
    assert fetched.why == "Q4_K_M of hf:some/model-GGUF, downloaded now"
    assert "taking Q4_K_M (10.2 kB); also there: Q8_0" in desk.screen.getvalue()


def test_the_second_start_needs_no_network(desk: Desk) -> None:
    first = desk.fetch("hf:some/model-GGUF:Q8_0")
    desk.hub.seen.clear()
    desk.offline = True
    for text in ("hf:some/model-GGUF:Q8_0", "hf:some/model-GGUF/model-Q8_0.gguf", "hf:some/model-GGUF"):
        assert desk.fetch(text) == Fetched(first.path, "Q8_0 of hf:some/model-GGUF, from the cache")
    assert desk.hub.seen == []


def test_the_cache_is_the_one_of_the_hub_s_own_library(desk: Desk) -> None:
    from huggingface_hub import try_to_load_from_cache

    fetched = desk.fetch("hf:some/model-GGUF")
    found = try_to_load_from_cache("some/model-GGUF", "model-Q4_K_M.gguf", cache_dir=desk.cache)
    assert found == str(fetched.path)


def test_a_revision(desk: Desk) -> None:
    fetched = desk.fetch(f"hf:some/model-GGUF@{COMMIT}:Q8_0")
    desk.offline = True
    assert desk.fetch(f"hf:some/model-GGUF@{COMMIT}:Q8_0").path == fetched.path
    desk.offline = False
    assert "no revision v9" in desk.refused("hf:some/model-GGUF@v9")


def test_all_parts_come_and_lie_side_by_side(desk: Desk) -> None:
    parts = {f"big/m-Q6_K-0000{n}-of-00003.gguf": b"GGUF" + bytes([n]) * n for n in (1, 2, 3)}
    desk.hub.files.update(parts)
    fetched = desk.fetch("hf:some/model-GGUF:Q6_K")
    assert fetched.path.name == "m-Q6_K-00001-of-00003.gguf"
    got = {f"big/{path.name}": path.read_bytes() for path in fetched.path.parent.iterdir()}
    assert got == parts


def test_a_lost_part_is_fetched_again(desk: Desk) -> None:
    desk.hub.files = {f"m-Q4_0-0000{n}-of-00002.gguf": b"GGUF" + bytes([n]) for n in (1, 2)}
    second = desk.fetch("hf:some/model-GGUF").path.with_name("m-Q4_0-00002-of-00002.gguf")
    second.resolve().unlink()
    assert desk.fetch("hf:some/model-GGUF").why.endswith("downloaded now")
    assert second.read_bytes() == b"GGUF\x02"


def test_the_token_goes_to_the_hub_and_not_to_the_content_server(desk: Desk) -> None:
    desk.hub.token = desk.token = "hf_secret"
    desk.fetch("hf:some/model-GGUF")
    sent = {seen.path.startswith("/content/"): seen.token for seen in desk.hub.seen}
    assert sent == {False: "Bearer hf_secret", True: None}
    assert "hf_secret" not in desk.screen.getvalue()


def test_nothing_but_names_of_programs_is_told_to_the_hub(desk: Desk) -> None:
    desk.fetch("hf:some/model-GGUF")
    told = {word.split("/")[0] for seen in desk.hub.seen for word in seen.agent.split("; ")}
    assert told == {"ds4-server", "hf_hub", "python"}


def test_a_file_that_the_hub_keeps_in_git(desk: Desk) -> None:
    desk.hub.content_addressed = False
    assert desk.fetch("hf:some/model-GGUF").path.read_bytes() == SMALL


# Broken downloads


def test_a_lost_connection_is_resumed(desk: Desk) -> None:
    desk.hub.cuts = [1000, 50_000]
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE
    last = len(LARGE) - 1
    assert desk.hub.downloads() == [f"bytes=0-{last}", f"bytes=1000-{last}", f"bytes=51000-{last}"]
    assert desk.pauses == [1, 1]
    assert "trying again in 1 s" in desk.screen.getvalue()


def test_the_next_run_goes_on_where_the_last_one_stopped(desk: Desk) -> None:
    desk.hub.cuts = [3000] + [0] * 20
    message = desk.refused("hf:some/model-GGUF:Q8_0")
    assert message.startswith("hf:some/model-GGUF:Q8_0: the connection broke off (")
    assert message.endswith("); start again to go on from where it stopped")
    assert desk.partial(LARGE).read_bytes() == LARGE[:3000]
    assert desk.pauses == [1, 2, 4, 8]
    desk.hub.cuts.clear()
    desk.hub.seen.clear()
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE
    assert desk.hub.downloads() == [f"bytes=3000-{len(LARGE) - 1}"]
    assert "99.4 kB of them to download" in desk.screen.getvalue()
    assert not desk.partial(LARGE).exists()


def test_a_connection_that_falls_silent_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_module, "TIMEOUT", 0.1)
    desk.hub.cuts, desk.hub.hangs = [1000], True
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE
    assert desk.hub.downloads()[1:] == [f"bytes=1000-{len(LARGE) - 1}"]


def test_a_large_file_comes_in_ranges(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_module, "RANGE_BYTES", 40_000)
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE
    assert desk.hub.downloads() == ["bytes=0-39999", "bytes=40000-79999", f"bytes=80000-{len(LARGE) - 1}"]


def test_a_server_without_ranges_starts_over(desk: Desk) -> None:
    desk.hub.ranges = False
    desk.hub.cuts = [1000]
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE


@pytest.mark.parametrize("left", [LARGE, LARGE + b"more", b""], ids=["all", "too much", "nothing"])
def test_whatever_an_earlier_run_left(desk: Desk, left: bytes) -> None:
    desk.partial(LARGE).parent.mkdir(parents=True)
    desk.partial(LARGE).write_bytes(left)
    assert desk.fetch("hf:some/model-GGUF:Q8_0").path.read_bytes() == LARGE


def test_a_passing_failure_is_waited_out(desk: Desk) -> None:
    desk.hub.statuses = [503, 429]
    assert desk.fetch("hf:some/model-GGUF").path.read_bytes() == SMALL
    assert desk.pauses == [1, 2]


def test_a_lasting_failure_is_not(desk: Desk) -> None:
    desk.hub.statuses = [400]
    assert desk.refused("hf:some/model-GGUF") == "hf:some/model-GGUF: the hub answered 400"
    assert desk.pauses == []


def test_damage_is_found_and_does_not_stay(desk: Desk) -> None:
    desk.hub.damaged = True
    assert "model-Q4_K_M.gguf was damaged on the way" in desk.refused("hf:some/model-GGUF")
    desk.hub.damaged = False
    assert desk.fetch("hf:some/model-GGUF").path.read_bytes() == SMALL


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_up(desk: Desk) -> None:
    desk.partial(LARGE).parent.mkdir(parents=True)
    desk.partial(LARGE).symlink_to("/dev/full")
    assert desk.refused("hf:some/model-GGUF:Q8_0").endswith("no space left on device")


def test_another_process_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_module, "PATIENCE", 0.05)
    path = RepoCache(desk.cache, desk.hub.repo).lock(sha256(SMALL))
    path.parent.mkdir(parents=True)
    other = FileLock(path)
    other.acquire()

    class Screen(io.StringIO):
        def write(self, text: str) -> int:
            if "another process is downloading model-Q4_K_M.gguf" in text:
                blob = RepoCache(desk.cache, desk.hub.repo).blob(sha256(SMALL))
                blob.write_bytes(SMALL)
                other.release()
            return super().write(text)

    desk.screen = Screen()
    assert desk.fetch("hf:some/model-GGUF").path.read_bytes() == SMALL
    assert not other.is_locked
    assert desk.hub.downloads() == []


# Refusals


def test_no_such_repository(desk: Desk) -> None:
    message = desk.refused("hf:some/other")
    assert message.startswith("hf:some/other: there is no such repository, or it is private: set HF_TOKEN")


@pytest.mark.parametrize(
    ("token", "gated", "words"),
    [
        (False, False, "no such repository, or it is private: set HF_TOKEN or run 'hf auth login'"),
        ("hf_wrong", False, "the hub refuses the token (from HF_TOKEN, else from 'hf auth login')"),
        (False, True, "this repository is gated: accept its terms at http"),
    ],
)
def test_without_the_right_token(desk: Desk, token: str | bool, gated: bool, words: str) -> None:
    desk.hub.token, desk.hub.gated, desk.token = "hf_right", gated, token
    message = desk.refused("hf:some/model-GGUF")
    assert words in message
    assert "hf_" not in message


def test_terms_not_accepted(desk: Desk) -> None:
    desk.hub.gated, desk.token = True, "hf_mine"
    terms = f"accept its terms at {desk.hub.endpoint}/some/model-GGUF"
    assert desk.refused("hf:some/model-GGUF").endswith(terms)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "the hub wants a token: set HF_TOKEN"),
        (403, "the hub wants a token: set HF_TOKEN"),
        (404, "there is no such repository"),
        (429, "try again later"),
        (500, "the hub answered 500"),
    ],
)
def test_bare_answers(desk: Desk, status: int, words: str) -> None:
    desk.hub.error = (status, "")
    assert words in desk.refused("hf:some/model-GGUF")


def test_nobody_answers(desk: Desk) -> None:
    desk.hub.port = 9  # discard: nothing listens there
    message = desk.refused("hf:some/model-GGUF")
    assert message.startswith("hf:some/model-GGUF: the hub at http://127.0.0.1:9 cannot be reached: ")


def test_something_else_answers(desk: Desk) -> None:
    desk.hub.lists = False
    assert desk.refused("hf:some/model-GGUF").endswith(f"what answers at {desk.hub.endpoint} is not a hub")


def test_offline_without_the_file(desk: Desk) -> None:
    desk.offline = True
    assert "HF_HUB_OFFLINE forbids to download it" in desk.refused("hf:some/model-GGUF")
    assert desk.hub.seen == []


def test_offline_with_another_file_names_what_there_is(desk: Desk) -> None:
    desk.fetch("hf:some/model-GGUF")
    desk.offline = True
    assert "has no Q8_0; it has Q4_K_M (of what is in the cache" in desk.refused("hf:some/model-GGUF:Q8_0")


def test_a_full_disk_is_seen_before(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=5000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    message = desk.refused("hf:some/model-GGUF")
    assert f"Q4_K_M needs 10.2 kB more in {desk.cache}, where 5.0 kB are free" in message
    assert desk.hub.downloads() == []
    # What is there already counts.
    desk.partial(SMALL).parent.mkdir(parents=True)
    desk.partial(SMALL).write_bytes(SMALL[:6000])
    assert desk.fetch("hf:some/model-GGUF").path.read_bytes() == SMALL


def test_a_cache_that_cannot_be_written(desk: Desk) -> None:
    desk.cache.parent.mkdir()
    desk.cache.write_text("a file where the folder should be")
    assert f"cannot write to {desk.cache}: " in desk.refused("hf:some/model-GGUF")
