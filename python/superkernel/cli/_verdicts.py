"""Verdicts of the simulator in the forms that people and CI systems read."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superkernel.sim import FailedSeed, Verdict

__all__ = ["allowed", "as_dict", "progress", "write_junit"]

#: What can be left unchecked beside tools.
RESULTS = "results"


def allowed(given: Iterable[str]) -> frozenset[str]:
    """What `--allow-unchecked` accepts, checked."""
    from superkernel import _core
    from superkernel.sim import _arguments as check

    names = [name for text in given for name in text.split(",")]
    known = [*_core.sim_choices("tool"), RESULTS]
    for name in names:
        if name not in known:
            raise check.refuse(f"--allow-unchecked {name[:80]}", f"name {', '.join(known)}")
    return frozenset(names)


@contextlib.contextmanager
def progress(kernel: str, *, quiet: bool, budget: float | None) -> Iterator[Callable[[int, int], None] | None]:
    """A changing line on a terminal, nothing elsewhere. ``budget``: seconds that the whole may take."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r\x1b[K{kernel}: {_far(done, total, time.monotonic() - begun, budget)}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _far(done: int, total: int, passed: float, budget: float | None) -> str:
    """How far it is: `12 of 100 seeds, 3.4 per second, 26 s left`."""
    rate = done / max(passed, 1e-3)
    left = (total - done) / max(rate, 1e-9)
    if budget is None:
        return f"{done} of {total} seeds, {rate:.1f} per second, {left:.0f} s left"
    return f"{done} seeds, {rate:.1f} per second, {max(0.0, min(left, budget - passed)):.0f} s left"


def as_dict(verdict: Verdict, accepted: frozenset[str], repeat: Callable[[FailedSeed], str]) -> dict[str, Any]:
    """A verdict as plain data, with the commands that repeat its findings."""
    told = verdict.to_dict()
    told["passed"] = verdict.ok and not verdict.not_allowed(accepted)
    for finding, entry in zip(verdict.findings, told["findings"]):
        entry["repeat"] = repeat(finding) if finding.repeatable else None
    return told


def write_junit(path: str, verdicts: Iterable[Verdict], accepted: frozenset[str]) -> None:
    """JUnit's XML: a suite for each kernel, in it a test for each tool."""
    from xml.etree import ElementTree

    from superkernel import _files

    root = ElementTree.Element("testsuites", name="superkernel run")
    for verdict in verdicts:
        _suite(root, verdict, accepted)
    ElementTree.indent(root)
    _files.write(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(root: Any, verdict: Verdict, accepted: frozenset[str]) -> None:
    from xml.etree.ElementTree import SubElement

    refused = verdict.not_allowed(accepted)
    names = [str(tool) for tool in type(next(iter(verdict.tools))) if tool in verdict.tools]
    # A tool that was not chosen may find something all the same, and results may have nothing to be compared with.
    names += [
        name
        for name in dict.fromkeys([*(str(finding.tool) for finding in verdict.findings), *verdict.unchecked])
        if name not in names
    ]
    suite = SubElement(root, "testsuite", name=verdict.kernel, tests=str(len(names)))
    failures, skipped = 0, 0
    for name in names:
        case = SubElement(suite, "testcase", classname=f"superkernel.{verdict.kernel}", name=name)
        found = [finding for finding in verdict.findings if str(finding.tool) == name]
        for finding in found:
            failure = SubElement(case, "failure", type=finding.id, message=finding.message.partition("\n")[0])
            failure.text = _printable(str(finding))
        if name in refused:
            failure = SubElement(case, "failure", type="SK0944", message=f"not checked: {refused[name]}")
            failure.text = _printable(refused[name])
        elif name in verdict.unchecked and not found:
            SubElement(case, "skipped", message=f"not checked: {verdict.unchecked[name]}")
            skipped += 1
        failures += bool(found) or name in refused
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    suite.set("errors", "0")


def _printable(text: str) -> str:
    """XML has no other control characters than these."""
    return "".join(letter for letter in text if letter >= " " or letter in "\n\t")
