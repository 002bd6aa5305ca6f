"""What a large graph takes, against the size of its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

#: A command takes at most so many times the file's size, beyond what it takes for a graph of one layer.
LIMIT = 10
LAYER = 20
PROFILE = """OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
MatMulV2,AI_CORE,100,1000,5,10,20,100
"""


def write(path: Path, nodes: int) -> int:
    """Layers on two streams, each a scope that one op cuts, with events across and edges along; the file's size."""
    listed: list[dict[str, object]] = []
    events, data = [], []
    for number in range(nodes):
        layer, place = divmod(number, LAYER)
        kernel = f"MatMulV2_{number:08x}_relocatable"
        node: dict[str, object] = {"name": f"model/layer_{layer}/matmul_{place}", "type": "MatMulV2"}
        node |= {"stream": place % 2, "support": int(place != LAYER // 2), "kernel_name": kernel}
        node["bin_path"] = f"/opt/kernels/ascend910_93/matmul/{kernel}.o"
        if place < LAYER - 2:
            node |= {"scope": f"layer{layer}", "options": "stream-fusion=1"}
        if place >= 2:
            data.append({"from": listed[-2]["name"], "to": node["name"], "input": 0})
        if place % 5 == 4:
            events.append({"id": number, "from": listed[-3]["name"], "to": node["name"]})
        listed.append(node)
    path.write_text(json.dumps({"name": "large", "nodes": listed, "events": events, "data": data}))
    return path.stat().st_size


def peak(arguments: list[str]) -> int:
    """Bytes that a command takes at its peak."""
    with subprocess.Popen([sys.executable, "-m", "superkernel", *arguments], stdout=subprocess.DEVNULL) as command:
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    assert command.returncode == 0
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize("command", ["scope", "suggest", "predict"])
def test_memory_follows_the_size_of_the_file(tmp_path: Path, command: str) -> None:
    small, large, profile = tmp_path / "small.json", tmp_path / "large.json", tmp_path / "op_statistic.csv"
    profile.write_text(PROFILE)
    write(small, LAYER)
    size = write(large, 1500 * LAYER)
    options = [] if command == "scope" else ["--profile", str(profile)]
    beyond = peak([command, *options, str(large)]) - peak([command, *options, str(small)])
    assert beyond <= LIMIT * size, f"{beyond / size:.1f} times the {size:,} bytes of the file"
