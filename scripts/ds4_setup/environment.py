"""The virtual environment: made, checked, filled."""

import importlib.util
import subprocess
import sys
from pathlib import Path

from ds4_setup.errors import SetupError

NO_VENV = (
    "this Python cannot make virtual environments (its ensurepip is missing); install it "
    "(Debian, Ubuntu: apt install python3-venv) or name another Python: make PYTHON=/path/to/python3.12 ..."
)
CAN_RUN = "import pip, sys; sys.exit('%d.%d.%d' % sys.version_info[:3] != sys.argv[1])"


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def version() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def usable(venv: Path) -> bool:
    """It runs, has pip, and is of the Python that runs now."""
    try:
        done = subprocess.run([python_of(venv), "-c", CAN_RUN, version()], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def create(venv: Path) -> None:
    if usable(venv):
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        raise SetupError(NO_VENV)
    verb = "replacing" if venv.exists() else "creating"
    print(f"setup: {verb} {venv} with Python {version()}", flush=True)
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", venv], capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise SetupError(f"{venv} could not be created: {lines[-1]}")


def install(venv: Path, *arguments: str) -> None:
    """`pip install ARGUMENTS`, quiet unless it fails."""
    pip = [str(python_of(venv)), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    if subprocess.run([*pip, "install", *arguments]).returncode != 0:
        raise SetupError(f"pip install {' '.join(arguments)} failed; its lines above say why")
