"""What benchmarks measure, as ratios within one run: they hold on a slow and on a busy machine too.

A benchmark calls :func:`ratio` for each figure. Run by itself it only prints them; ``benches/run.py`` collects them
(the file named by ``SUPERKERNEL_RATIOS``) and compares them with those on record in ``benches/recorded.json``.
"""

from __future__ import annotations

import json
import os
from typing import Literal

Better = Literal["higher", "lower"]


def ratio(name: str, value: float, better: Better = "higher") -> None:
    """Prints one ratio and hands it to whoever runs the benchmarks."""
    print(f"ratio: {name}: {value:.3g} ({better} is better)", flush=True)
    collected = os.environ.get("SUPERKERNEL_RATIOS")
    if collected:
        with open(collected, "a") as file:
            file.write(json.dumps({"name": name, "value": value, "better": better}) + "\n")
