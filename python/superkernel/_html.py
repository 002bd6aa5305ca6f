"""Results as notebooks show them: a headline and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["section"]

_RED = ' style="color: #c0392b"'


def section(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, bad: str = "") -> str:
    """A headline with a table under it, if that has rows; those whose first cell is ``bad`` are red."""
    lines = [f"<b>{escape(title)}</b>"]
    body = [
        f"<tr{_RED if bad and cells[0] == bad else ''}>{''.join(_cell(cell) for cell in cells)}</tr>" for cells in rows
    ]
    if body:
        head = "".join(f"<th>{escape(name)}</th>" for name in header)
        lines.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")
    return f"<div>{''.join(lines)}</div>"


def _cell(cell: object) -> str:
    text = escape(str(cell)).replace("\n", "<br>")
    return f'<td style="text-align: left">{text}</td>'
