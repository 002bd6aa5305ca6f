"""A hook of mkdocs: brings the documents of the project's root into the site, with their links made to fit.

What lies outside the documents (sources, samples, the licence) is named on the site, not linked.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
#: File of the root: page of the site.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Adds the documents of the root."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Makes the links of the repository those of the site."""
    sources = {site: source for source, site in PAGES.items()}
    here = sources.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def linked(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if not target or "://" in target:
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        if not (ROOT / path).exists():
            # Left as it is, for mkdocs to complain about.
            return found[0]
        if path not in PAGES and not (path.startswith("docs/") and path.endswith(".md")):
            return text
        site = PAGES.get(path, path[len("docs/") :])
        start = posixpath.dirname(page.file.src_uri)
        return f"[{text}]({posixpath.relpath(site, start or '.')}{anchor})"

    # Pictures are written as HTML, which knows nothing of pages.
    up = posixpath.relpath(".", posixpath.dirname(page.file.src_uri) or ".")
    markdown = markdown.replace('="docs/images/', f'="{up}/images/')
    return _LINK.sub(linked, markdown)
