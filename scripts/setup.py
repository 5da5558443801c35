"""Makes .venv ready: `python3 scripts/setup.py serve` or `... test`. Standard library only.

This file must run on any Python 3, so that an old one gets a sentence and not a syntax error. The work
is in `ds4_setup`, which may use what Python 3.11 has.
"""

import os
import shutil
import subprocess
import sys

NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")


def newer_python():
    for path in map(shutil.which, NEWER):
        # Version managers leave commands behind that only print an error.
        if path and subprocess.call([path, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def main():
    if sys.version_info < (3, 11):
        found = newer_python()
        if found:
            os.execv(found, [found] + sys.argv)
        sys.stderr.write(
            "setup: Python 3.11 or newer is needed, this is %d.%d; install one, or name it: "
            "make PYTHON=/path/to/python3.12 ...\n" % sys.version_info[:2]
        )
        return 1
    from ds4_setup.main import main as setup

    return setup(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
