"""The snippets of the documents, and how each of them is run.

A fenced block with a language is a snippet and runs as written; ``<!-- fragment -->`` in the line above a block says
that it does not stand alone. The last name in the paragraph above, if that ends with ``:``, is the file the block is
saved as. Blocks without a language are text: output, diagrams, lists of commands.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
FRAGMENT = "<!-- fragment -->"


class Snippet(NamedTuple):
    """A fenced block."""

    document: str
    line: int
    language: str
    text: str
    file: str | None
    is_fragment: bool

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def documents() -> list[Path]:
    """What people read."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def snippets(path: Path) -> list[Snippet]:
    """The blocks of a document that have a language."""
    lines = path.read_text().split("\n")
    found, start = [], None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("```"):
            continue
        if start is None:
            start = number
            continue
        language = lines[start].strip().strip("`").strip()
        if language:
            above = "\n".join(lines[max(0, start - 6) : start]).rstrip()
            paragraph = above.rsplit("\n\n", 1)[-1]
            names = re.findall(r"`([\w./-]+\.\w+)`", paragraph) if paragraph.endswith(":") else []
            text = "\n".join(lines[start + 1 : number]) + "\n"
            file = names[-1] if names else None
            fragment = start > 0 and lines[start - 1].strip() == FRAGMENT
            found.append(Snippet(str(path.relative_to(ROOT)), start + 1, language, text, file, fragment))
        start = None
    assert start is None, f"{path}: the block of line {start} has no end"
    return found


def run(snippet: Snippet, folder: Path) -> None:
    """Runs a snippet in ``folder``, or saves it there as the file it is."""
    if snippet.file is not None:
        target = folder / snippet.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(snippet.text)
        return
    if snippet.language == "json":
        json.loads(snippet.text)
        return
    command = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-W", "error", "-c"]}
    assert snippet.language in command, f"{snippet}: nobody knows how to run `{snippet.language}`"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "ASCEND"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{clean.get('PATH', '')}"
    done = subprocess.run(
        [*command[snippet.language], snippet.text],
        cwd=folder,
        env={**clean, "PATH": path, "XDG_CACHE_HOME": str(folder / ".cache"), "SUPERKERNEL_TOOLCHAIN": "host"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, f"{snippet}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
