"""Mistakes planted in kernels are found with what the gate looks for by default; their right forms are not blamed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from kernels.planted import PLANTED
from kernels.planting import N, Planted
from superkernel.sim import Device, Kernel, Tool, Verdict, build_op

SOC = "Ascend910_93"
#: Enough for every mode.
SEEDS = 12
EVERYTHING = list(Tool)


def _kernel(device: Device, folder: Path, planted: Planted, *, wrong: bool) -> Kernel:
    entries = []
    for op in planted.ops:
        built = build_op(
            op.source(),
            op.name,
            kernel_type=op.kernel_type,  # type: ignore[arg-type]
            block_dim=op.blocks,
            compile_options=[f"-DIS_WRONG={int(wrong)}"],
            soc=SOC,
            out_dir=folder / "ops",
        )
        sends, receives = op.events(wrong=wrong)
        entries.append(built.entry(stream_id=op.stream, send_events=sends, recv_events=receives))
    place = folder / f"{planted.name}-{wrong}"
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=place):
        superkernel.compile({"op_list": entries, "super_kernel_options": planted.options}, "te_superkernel_planted")
    return device.load(place / "kernel_meta" / "te_superkernel_planted.json")


def _check(kernel: Kernel, planted: Planted, **options: Any) -> Verdict:
    args: dict[Any, Any] = {}
    for parameter in kernel.parameters:
        if parameter.hidden:
            continue
        usual = {"x": np.arange(N, dtype=np.int32), "y": np.zeros(N, np.int32), "workspace": np.zeros(4096, np.int32)}
        args[parameter.name] = usual[parameter.own_name]
    args.update({name: args[other] for name, other in planted.shared.items()})
    return kernel.check(args, seeds=SEEDS, **options)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_mistake_is_found_and_its_right_form_is_not_blamed(device: Device, folder: Path, planted: Planted) -> None:
    tool = Tool(planted.tool)
    wrong = _kernel(device, folder, planted, wrong=True)
    verdict = _check(wrong, planted, tools=None if tool != Tool.AUTOSYNC else EVERYTHING)
    assert [(finding.id, finding.tool) for finding in verdict.findings] == [(planted.error_id, tool)], verdict
    if verdict.findings[0].repeatable:
        # The shortest way to repeat it finds it again, and so does the tool alone from the first seed on.
        (finding,) = verdict.findings
        assert finding.again_with == (tool,), verdict
        (again,) = _check(wrong, planted, tools=[tool]).findings
        assert again.id == planted.error_id
    if tool == Tool.AUTOSYNC:
        assert _check(wrong, planted).ok, "device compilers put it in"
    right = _kernel(device, folder, planted, wrong=False)
    verdict = _check(right, planted, tools=EVERYTHING)
    assert verdict.ok and not verdict.unchecked, verdict
    assert _check(right, planted).ok
    shutil.rmtree(folder / f"{planted.name}-True")


def test_every_kind_and_every_tool_is_there() -> None:
    kinds = {"events", "pipes", "caches", "cores", "queues", "bounds", "early start", "streams", "workspaces"}
    assert {planted.kind for planted in PLANTED} == kinds | {"atomics", "masks"}
    assert {planted.tool for planted in PLANTED} == {tool.value for tool in Tool}
    assert len({planted.name for planted in PLANTED}) == len(PLANTED)
