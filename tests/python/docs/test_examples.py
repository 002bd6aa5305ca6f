"""The samples run, and print what they claim."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
GALLERY = ["two_streams", "mixed_op", "tiling_sink", "feed_sync_all", "early_start", "notify_wait", "inside_a_core"]


def run(script: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, script.name, *arguments], cwd=script.parent, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_minimal() -> None:
    output = run(EXAMPLES / "minimal" / "superkernel_runtime_ascendc_basic.py")
    assert output.splitlines()[-1] == "execute sample success"
    # Powers that are infinite: two infinite bases, and a zero to a negative power.
    assert "the first: [1.0, 1.0, 0.0, 1.0, 0.0, 0.0" in output


#: What the report of the faulty twin must name: what is wrong, and where.
CAUSES = {
    "two_streams": ("hazard", "op 2 `add`", "does not wait for op 0 `product`", "`a x b`", "read after write"),
    "mixed_op": ("deadlock", "waits for flag 6; not set by AIV1", "op 0 `product_plus_bias`"),
    "tiling_sink": ("deadlock", "polls `lock`, which no core changes", "trap"),
    "feed_sync_all": ("deadlock", "op 0 `running_sum` calls SyncAll on 3 of 8 aiv cores", "feed-sync-all=1"),
    "early_start": ("hazard", "op 0 `produce` writes there after its own SetNextTaskStart", "`3x`"),
    "notify_wait": ("deadlock", "polls `lock of the answer`, which no core changes"),
    # A twin for every kind of finding; the script itself claims that each is found where it should.
    "inside_a_core": (
        "does not wait for pipe V: SetFlag<HardEvent::V_MTE3> and WaitFlag<HardEvent::V_MTE3> between them is missing",
        "(a buffer of a VECIN queue)",
        "PipeBarrier<PIPE_MTE3> between them is missing",
        "which nothing has written since the operator began",
        "repeat 0 reads and writes bytes that overlap in part",
        "event 2 from V to MTE3, which is raised already",
        "event 2 from MTE3 to V is still raised at the end",
        "was enqueued and never dequeued",
        "EnQue is missing",
        "event id 8; ids are 0 to 7",
        "offset 260 of UB is not a multiple of 32",
        "which are not all in one buffer",
        "a scalar load of 4 bytes of GM at 0 bytes past the end of `x`: they are in no buffer",
        "is still in the data cache of AIV0: dcci after the write is missing",
        "from its data cache, as it was before op 3 `announce` on AIV0",
        "waits for the flags of bytes 0 to 512 of L0C",
        "does not wait for pipe M: SetFlag<HardEvent::M_FIX> and WaitFlag<HardEvent::M_FIX> between them is missing",
        "two cores must not write to one line",
    ),
}


@pytest.mark.parametrize("faulty", [False, True], ids=["right", "faulty"])
@pytest.mark.parametrize("name", GALLERY)
def test_gallery(name: str, faulty: bool) -> None:
    output = run(EXAMPLES / "gallery" / f"{name}.py", *(["--faulty"] if faulty else []))
    assert output.splitlines()[-1] == "as claimed"
    assert ("  | " in output) is faulty
    told = "\n".join(line for line in output.splitlines() if line.startswith("  | "))
    assert [cause for cause in CAUSES[name] if cause not in told] == ([] if faulty else list(CAUSES[name]))


def test_every_kind_of_finding_has_a_twin() -> None:
    source = (EXAMPLES.parent / "src" / "sim" / "interface" / "findings.rs").read_text()
    kinds = set(re.findall(r'= "([a-z-]+)",$', source.split("enum FindingKind {")[1].split("\n}")[0], re.MULTILINE))
    script = (EXAMPLES / "gallery" / "inside_a_core.py").read_text()
    assert "unordered" in kinds
    # What ends the run at once is a status of its own, and no finding.
    shown = set(re.findall(r'Twin\(\s*"\w+",\s*(?:CHECKED|STRICT),\s*"([a-z-]+)"', script)) - {"api"}
    # A pointer that leaves its buffer is planted in `tests/kernels/planted_cores.py`.
    assert kinds - {"bounds"} == shown


def test_every_script_of_the_gallery_is_tested() -> None:
    scripts = {path.stem for path in (EXAMPLES / "gallery").glob("*.py")} - {"common"}
    assert scripts == set(GALLERY)
