"""``python -m superkernel_rs``: the same as the command ``superkernel``."""

import sys

from superkernel_rs.command import main

sys.exit(main())
