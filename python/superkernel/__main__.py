"""``python -m superkernel``: the same as the command ``superkernel``."""

import sys

from superkernel.cli import main

sys.exit(main())
