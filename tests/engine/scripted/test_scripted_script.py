"""Loading the answer file, and one clear sentence for everything that can be wrong with it."""

from pathlib import Path

import pytest

from ds4.core.errors import EngineError, StartError
from ds4.engine.scripted.cost import Cost
from ds4.engine.scripted.script import Script, load_script


def written(folder: Path, text: str) -> Path:
    path = folder / "answers.py"
    path.write_text(text, "utf-8")
    return path


def test_a_script_keeps_its_own_names(tmp_path: Path) -> None:
    script = load_script(
        written(
            tmp_path,
            "import json\nASKED = []\n"
            "def shout(text): return text.upper()\n"
            "def reply(prompt):\n    ASKED.append(prompt)\n    return shout(json.dumps(ASKED))\n",
        )
    )
    assert script.reply("a") == '["A"]'
    assert script.reply("ü") == '["A", "\\U00FC"]'
    assert (script.cost, script.realtime) == (Cost(), False)


def test_cost_and_realtime(tmp_path: Path) -> None:
    path = written(tmp_path, "COST = {'base': 0, 'per_mb': 2.5}\nREALTIME = True\ndef reply(p): return p\n")
    script = load_script(path)
    assert script.cost == Cost(base=0, per_mb=2.5)
    assert script.realtime


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must define reply(prompt: str) -> str"),
        ("reply = 'text'", "must define reply(prompt: str) -> str"),
        ("def reply(p)\n    return p\n", "cannot be loaded at line 1: SyntaxError:"),
        ("\n\n1 / 0\n", "cannot be loaded at line 3: ZeroDivisionError: division by zero"),
        ("import nobody_has_this", "cannot be loaded at line 1: ModuleNotFoundError:"),
        ("raise SystemExit(3)", "cannot be loaded at line 1: SystemExit: 3"),
        ("COST = 3\ndef reply(p): return p", "COST must be a dict with keys from base, per_decode_row"),
        ("COST = {'speed': 3}\ndef reply(p): return p", "COST must be a dict with keys from base"),
        ("COST = {'base': -1}\ndef reply(p): return p", "COST['base'] must be seconds, zero or more"),
        ("COST = {'base': 'x'}\ndef reply(p): return p", "COST['base'] must be seconds"),
        ("COST = {'base': float('nan')}\ndef reply(p): return p", "COST['base'] must be seconds"),
    ],
)
def test_a_bad_script_is_refused_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(StartError) as caught:
        load_script(path)
    assert caught.value.message.startswith(f"script {path}")
    assert told in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.py", tmp_path):
        with pytest.raises(StartError, match="does not exist or is not a file"):
            load_script(path)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return None", "reply() must return a str, not NoneType"),
        ("return b'x'", "reply() must return a str, not bytes"),
        ("raise KeyError('two\\nlines')", "reply() failed at line 2: KeyError:"),
        ("return inner()", "reply() failed at line 3: RuntimeError: no message"),
    ],
)
def test_a_failing_reply_is_told_in_one_sentence(tmp_path: Path, body: str, told: str) -> None:
    path = written(tmp_path, f"def reply(prompt):\n    {body}\ndef inner(): raise RuntimeError\n")
    script = load_script(path)
    with pytest.raises(EngineError) as caught:
        script.reply("q")
    assert told in caught.value.message
    assert "\n" not in caught.value.message


def test_an_interrupt_passes_through() -> None:
    def interrupted(_prompt: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Script("function", interrupted).reply("q")
