import sys

from ds4.cli import main

sys.exit(main())
