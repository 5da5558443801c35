import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4 import __version__
from ds4.config import Config, EngineName, HelpRequest, parse
from ds4.config.option import Option, Topic
from ds4.config.table import OPTIONS
from ds4.core.errors import OptionError
from ds4.engine.llama.options import BackendChoice, KvType


def config(*argv: str) -> Config:
    result = parse(argv)
    assert isinstance(result, Config)
    return result


def error(*argv: str) -> str:
    with pytest.raises(OptionError) as caught:
        parse(argv)
    assert caught.value.exit_code == 2
    return caught.value.message


def test_nothing_given_is_the_defaults() -> None:
    assert config() == Config()
    assert (config().ctx, config().tokens, config().port) == (32768, 393216, 8000)
    assert config().host == "127.0.0.1"
    assert config().given == frozenset()


def test_values_and_the_attributes_they_came_from() -> None:
    got = config("-m", "a.gguf", "--ctx", "4096", "--cors", "--kv-type", "q8_0")
    assert got.model == Path("a.gguf")
    assert (got.ctx, got.cors, got.kv_type) == (4096, True, KvType.Q8_0)
    assert got.given == {"model", "ctx", "cors", "kv_type"}


def test_a_default_spelled_out_counts_as_given() -> None:
    assert "ctx" in config("--ctx", "32768").given


def test_equals_sign_joins_name_and_value() -> None:
    assert config("--ctx=99", "--model=x=y.gguf") == config("--ctx", "99", "-m", "x=y.gguf")


def test_the_last_of_two_counts() -> None:
    assert config("--cpu", "-c", "1", "--backend", "cuda", "--ctx", "2").backend is BackendChoice.CUDA
    assert config("-c", "1", "--ctx", "2").ctx == 2


@pytest.mark.parametrize("name", ["metal", "cuda", "rocm", "vulkan", "cpu"])
def test_backend_shorthands(name: str) -> None:
    assert config(f"--{name}") == config("--backend", name)


def test_slots() -> None:
    assert config().n_slots == 1
    assert config("--batched-session", "4").n_slots == 4


def test_localhost_is_an_address() -> None:
    assert config("--host", "localhost").host == "127.0.0.1"
    assert config("--host", "0.0.0.0").host == "0.0.0.0"


@pytest.mark.parametrize("word", ["--bogus", "-x", "stray", "", "-c=5", "--"])
def test_unknown_options_are_named(word: str) -> None:
    assert error(word).startswith(f"unknown option: {word}")


def test_unknown_option_with_a_near_name() -> None:
    assert error("--batched-sesion", "2") == (
        "unknown option: --batched-sesion (did you mean --batched-session?)"
    )


@pytest.mark.parametrize("argv", [("--ctx",), ("-m", "--ctx", "5"), ("--port", "--ctx=5"), ("-t", "-h")])
def test_missing_values(argv: tuple[str, ...]) -> None:
    assert error(*argv) == f"missing value for {argv[0]}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("--ctx", "0"),
        ("--ctx", "-5"),
        ("--ctx", "12k"),
        ("--ctx", " 12"),
        ("--ctx", "1_000"),
        ("--ctx", "+5"),
        ("--ctx", "١٢"),
        ("--ctx", "2147483648"),
        ("--ctx", "99999999999999999999"),
        ("--ctx", ""),
        ("--port", "65536"),
        ("--host", "example.org"),
        ("--host", "::1"),
        ("--host", "127.1"),
        ("--model", ""),
        ("--backend", "CUDA"),
        ("--flash-attn", "yes"),
        ("--kv-type", "q4_0"),
        ("--engine", "vllm"),
        ("--model-family", "gpt-17"),
        ("--no-normalise", "ids"),
        ("--no-normalise", "billing_header,cache_control"),
    ],
)
def test_bad_values_are_named(name: str, value: str) -> None:
    message = f"invalid value for {name}: {value}"
    assert error(name, value) == message
    assert error(f"{name}={value}") == message


KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        ([], set()),
        (["--keep-billing-header"], {"billing_header"}),
        (["--no-normalise", "billing_header", "--keep-billing-header"], {"billing_header"}),
        (["--no-normalise=cache_control"], {"cache_control"}),
        (
            ["--no-normalise=cache_control", "--no-normalise=billing_header"],
            {"cache_control", "billing_header"},
        ),
    ],
)
def test_what_is_not_normalised(argv: list[str], names: set[str]) -> None:
    assert config(*argv).as_sent == names


def test_repeated_options_keep_every_value_in_order() -> None:
    got = config("--api-key", "b", "--allow-host", "Box.LAN.", "--api-key=a", "--allow-host", "ds4")
    assert [key.text for key in got.api_keys] == ["b", "a"]
    assert got.allow_hosts == ("box.lan", "ds4")
    assert {"api_keys", "allow_hosts"} == got.given


@pytest.mark.parametrize("bad", ["", f"{KEY} x", f"{KEY}ä", f"{KEY}\n", f"{KEY}\x7f"])
def test_a_bad_key_is_not_repeated(bad: str) -> None:
    assert error("--api-key", bad) == (
        "invalid value for --api-key: it may hold only visible ASCII characters"
    )


def test_a_key_shows_nowhere() -> None:
    got = config("--api-key", KEY)
    assert KEY not in repr(got)
    assert KEY not in str(got.api_keys)


@pytest.mark.parametrize(
    "name", ["", ".", "a..b", "a b", "a:80", "http://a", "[::1]", "ä.de", "*", "a" * 254]
)
def test_names_that_no_host_header_holds(name: str) -> None:
    assert error("--allow-host", name) == f"invalid value for --allow-host: {name}"


def test_a_certificate_needs_its_key() -> None:
    assert error("--tls-cert", "c.pem") == "--tls-cert c.pem needs --tls-key FILE"
    assert error("--tls-key", "k.pem") == "--tls-key k.pem needs --tls-cert FILE"
    assert config("--tls-key", "k.pem", "--tls-cert", "c.pem").tls_cert == Path("c.pem")


def test_switches_take_no_value() -> None:
    assert error("--cors=yes") == "invalid value for --cors: yes (it takes none)"
    assert error("--cpu=1") == "invalid value for --cpu: 1 (it takes none)"


def test_combinations() -> None:
    assert "--script" in error("--engine", "scripted")
    assert "--engine scripted" in error("--script", "a.py")
    clash = error("--kv-type", "q8_0", "--flash-attn", "off")
    assert "--kv-type q8_0" in clash
    assert "--flash-attn off" in clash
    assert config("--engine", "scripted", "--script", "a.py").engine is EngineName.SCRIPTED


def test_help_and_version_end_the_parsing() -> None:
    for argv in (["-h"], ["--help"], ["--ctx", "5", "--help", "server", "--bogus"], ["--help=all"]):
        assert isinstance(parse(argv), HelpRequest)
    version = parse(["--version", "--bogus"])
    assert version == HelpRequest(f"ds4-server {__version__}\n")


def test_help_leaves_other_options_alone() -> None:
    assert parse(["--help", "--port"]) == parse(["--help"])


WORDS = st.one_of(
    st.sampled_from([name for row in OPTIONS for name in row.names]),
    st.sampled_from(["--help", "--version", "--ctx=", "--", "1", "0", "auto", "on", "a.gguf"]),
    st.text(max_size=6),
)


@given(st.lists(WORDS, max_size=8))
def test_any_command_line_gives_a_result_or_an_option_error(argv: list[str]) -> None:
    with contextlib.suppress(OptionError):
        assert isinstance(parse(argv), Config | HelpRequest)


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: row.attribute)
def test_shown_defaults_can_be_typed_in(row: Option) -> None:
    """What the help and the docs show as a default is what the option reads."""
    assert getattr(Config(), row.attribute) == row.default
    if row.metavar is not None and not row.unset:
        assert row.read(row.shown_default) == row.default


def test_no_spelling_is_used_twice() -> None:
    spellings = [name for row in OPTIONS for name in (*row.names, *(short for short, _ in row.shorthands))]
    assert len(spellings) == len(set(spellings))


def test_cache_options() -> None:
    got = config("--kv-disk-dir", "d", "--kv-disk-space-mb=7", "--kv-ram-mb", "0")
    assert (got.kv_disk_dir, got.kv_disk_space_mb, got.kv_ram_mb) == (Path("d"), 7, 0)
    assert config().kv_disk_dir is None
    assert config().kv_ram_mb is None


def test_the_longest_first_prompt_is_not_below_the_shortest_state() -> None:
    assert error("--kv-cache-cold-max-tokens", "100") == (
        "--kv-cache-cold-max-tokens 100 is below --kv-cache-min-tokens 512; 0 turns such writes off"
    )
    assert error("--kv-cache-min-tokens", "40000").startswith("--kv-cache-cold-max-tokens 30000 is below")
    assert config("--kv-cache-cold-max-tokens", "0").kv_cache_cold_max_tokens == 0
    assert config("--kv-cache-cold-max-tokens", "512").kv_cache_cold_max_tokens == 512
    assert error("--kv-cache-min-tokens", "0") == "invalid value for --kv-cache-min-tokens: 0"


def test_a_class_may_inherit_options_and_the_topics_stay_in_order() -> None:
    order = [list(Topic).index(row.topic) for row in OPTIONS]
    assert order == sorted(order)
