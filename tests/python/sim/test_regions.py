"""Ops whose regions are given run without a barrier between them; wrong regions are found by a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import superkernel
from superkernel import SuperKernelError, cli
from superkernel.sim import build_op

SOC = "Ascend910_93"
BYTES = 1024

#: Every core copies a part that another core of the op before has written.
COPY = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t *)x, 256);
    out.SetGlobalBuffer((__gm__ int32_t *)y, 256);
    const int cores = (int)AscendC::GetBlockNum(), part = 256 / cores;
    const int to = part * (int)AscendC::GetBlockIdx(), from = part * ((int)AscendC::GetBlockIdx() + 1 - cores);
    for (int i = 0; i < part; ++i) { out.SetValue(to + i, in.GetValue((from + i + 256) % 256) + 1); }
    dcci((__gm__ int32_t *)y, 1, 2);
}
"""


@pytest.fixture(scope="module", autouse=True)
def on_the_host(folder: Path) -> Iterator[None]:
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        yield


@pytest.fixture(scope="module")
def ops(folder: Path) -> dict[str, dict[str, Any]]:
    def made(name: str, kind: str) -> dict[str, Any]:
        kernel_type = f"KERNEL_TYPE_{kind}_ONLY"
        source = COPY.replace("NAME", name)
        op = build_op(source, name, kernel_type=kernel_type, block_dim=2, soc=SOC, out_dir=folder / "ops", name=name)
        return dict(op.entry())

    return {"vector": made("vector", "AIV"), "cube": made("cube", "AIC"), "third": made("third", "AIV")}


def touching(entry: dict[str, Any], reads: int, writes: int) -> dict[str, Any]:
    """The entry with one buffer that is read and one that is written."""
    return {**entry, "regions": {"reads": [[reads * BYTES, BYTES]], "writes": [[writes * BYTES, BYTES]]}}


def written(folder: Path, name: str, *entries: dict[str, Any], options: str = "") -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"op_list": entries, "super_kernel_options": options}))
    return path


def orders(path: Path) -> list[str]:
    """The barriers and hand-overs between the ops."""
    steps = superkernel.plan(json.loads(path.read_text()), "k")["steps"]
    return [step["action"] for step in steps if step["action"] in ("barrier", "early-start-wait")]


def run(path: Path, *words: str) -> int:
    return cli.main(["run", str(path), "--soc", SOC, "--others", "int32:256", "--seeds", "6", *words])


@pytest.mark.parametrize("options", ["", "early-start=0"])
@pytest.mark.parametrize("second", ["third", "cube"])
def test_wrong_regions_are_found_by_a_run_and_right_ones_are_not(
    ops: dict[str, dict[str, Any]], folder: Path, capsys: pytest.CaptureFixture[str], second: str, options: str
) -> None:
    # The second op reads what the first one writes; the list says that it reads something else.
    wrong = written(folder, "wrong", touching(ops["vector"], 0, 1), touching(ops[second], 2, 3), options=options)
    right = written(folder, "right", touching(ops["vector"], 0, 1), touching(ops[second], 1, 3), options=options)
    assert not orders(wrong) and orders(right)
    assert run(wrong, "--input", "x_1=@y_0", "--tool", "order") == 1
    said = capsys.readouterr()
    assert f"`{second}`" in said.out + said.err and "SK0919" in said.out + said.err
    assert run(right, "--input", "x_1=@y_0") == 0, capsys.readouterr().err


def test_ops_that_touch_different_memory_run_without_an_order(
    ops: dict[str, dict[str, Any]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart = [touching(ops["vector"], 0, 1), touching(ops["cube"], 2, 3), touching(ops["third"], 4, 5)]
    path = written(folder, "apart", *apart)
    assert not orders(path)
    assert run(path, "--allow-unchecked", "order") == 0, capsys.readouterr().err
    # The last one reads what the first one writes, two ops before it.
    skipped = written(folder, "skipped", *apart[:2], touching(ops["third"], 1, 5))
    assert len(orders(skipped)) == 1
    assert run(skipped, "--input", "x_2=@y_0", "--allow-unchecked", "order") == 0, capsys.readouterr().err


def test_regions_decide_about_a_build(ops: dict[str, dict[str, Any]], folder: Path) -> None:
    plain = {"op_list": [ops["vector"], ops["third"]], "super_kernel_options": "early-start=0"}
    apart = {**plain, "op_list": [touching(ops["vector"], 0, 1), touching(ops["third"], 2, 3)]}
    other = {**plain, "op_list": [touching(ops["vector"], 0, 1), touching(ops["third"], 2, 4)]}
    record = folder / "kernel_meta" / "k_apart.manifest.json"
    records = []
    for infos in (plain, apart, other):
        superkernel.compile(infos, "k_apart")
        records.append(record.read_text())
    assert "reads 0x800+1024; writes 0xc00+1024" in records[1] and '"regions"' not in records[0]
    assert len(set(records)) == 3


@pytest.mark.parametrize(
    ("regions", "error_id", "told"),
    [
        ({"reads": []}, "SK0204", "`op_list[0].regions.writes`"),
        ({"reads": [], "writes": [[1, 2, 3]]}, "SK0217", "`op_list[0].regions.writes[0]` is not `[start, bytes]`"),
        ({"reads": [], "writes": [[16, 0]]}, "SK0217", "has no bytes"),
        ({"reads": [], "writes": [], "works": []}, "SK0217", "`op_list[0].regions.works` is no part of"),
        ({"reads": [], "writes": [["4096", 1]]}, "SK0203", "`op_list[0].regions.writes[0][0]`"),
    ],
)
def test_bad_regions_are_refused(
    ops: dict[str, dict[str, Any]], regions: dict[str, Any], error_id: str, told: str
) -> None:
    with pytest.raises(SuperKernelError) as caught:
        superkernel.plan({"op_list": [{**ops["vector"], "regions": regions}]}, "k")
    assert caught.value.errorinfo["errId"] == error_id and told in str(caught.value)
