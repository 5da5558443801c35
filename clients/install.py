"""Puts pinned packages into folders of the cache, each once: a folder's stamp says what it holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from clients.client import Installed, Packages

NODE = Packages("node", "npm", ("node@26.10.0",))
"""Some clients want a newer Node.js than a system has. The package is the plain binary."""
STAMP = "installed.txt"
MINUTES = 30


class InstallError(Exception):
    """With the installer's own last words."""


def installed(cache: Path, packages: Packages) -> Installed:
    """Raises InstallError."""
    node = _place(cache, NODE)
    place = _place(cache, packages) if packages != NODE else node
    return Installed(place.parent.parent, place, node / "node")


def _place(cache: Path, packages: Packages) -> Path:
    """The folder of the packages' commands, made if need be."""
    folder = cache / packages.folder
    stamp, wanted = folder / STAMP, " ".join(packages.names)
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _install(folder, packages, cache)
        stamp.write_text(wanted)
    return folder / ("node_modules/.bin" if packages.registry == "npm" else "venv/bin")


def _install(folder: Path, packages: Packages, cache: Path) -> None:
    print(f"installing {' '.join(packages.names)}", flush=True)
    if packages.registry == "npm":
        (folder / "package.json").write_text('{"private": true}\n')
        _run(folder, cache, "npm", "install", "--no-fund", "--no-audit", "--loglevel=error", *packages.names)
        return
    _run(folder, cache, sys.executable, "-m", "venv", "venv")
    _run(folder, cache, "venv/bin/python", "-m", "pip", "install", "-q", *packages.names)


def _run(folder: Path, cache: Path, *command: str) -> None:
    path = f"{cache / NODE.folder / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
        )
    except FileNotFoundError as error:
        raise InstallError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"{command[0]} took more than {MINUTES} minutes") from error
    if done.returncode:
        raise InstallError(f"{' '.join(command)}: {(done.stderr or done.stdout)[-1000:]}")
