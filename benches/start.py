"""What an import and the command's start cost beyond the interpreter's own start, in processor time.

    python benches/start.py

Prints milliseconds, and both as ratios of the interpreter's start.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from ratios import ratio

ROUNDS = 15


def milliseconds(*arguments: str) -> float:
    """The shortest of some runs of the interpreter."""
    times = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return 1000 * min(times)


def main() -> None:
    """Prints the figures."""
    bare = milliseconds("-c", "pass")
    imported = milliseconds("-c", "import superkernel") - bare
    version = milliseconds("-m", "superkernel", "--version") - bare
    print(f"interpreter {bare:.0f} ms; import superkernel {imported:.0f} ms more; --version {version:.0f} ms more")
    ratio("import superkernel / start of the interpreter", imported / bare, "lower")
    ratio("superkernel --version / start of the interpreter", version / bare, "lower")


if __name__ == "__main__":
    main()
