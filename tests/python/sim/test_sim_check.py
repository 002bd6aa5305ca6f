"""The gate: many schedules, both arrival rules, late cores, fused against unfused; a found seed repeats exactly."""

from __future__ import annotations

import json
import multiprocessing
import shlex
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import SuperKernelError, cli
from superkernel.sim import Device, Kernel, Variation, build_op
from superkernel.sim._remote import Glimpse

SOC = "Ascend910_93"
COUNT = 128

SCALE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    const int cores = (int)AscendC::GetBlockNum(), n = 128 / cores, first = n * (int)AscendC::GetBlockIdx();
    int32_t *in = (int32_t *)x, *out = (int32_t *)y;
    for (int i = 0; i < n; ++i) { out[first + i] = in[127 - first - i] * 3; }
    ((volatile uint8_t *)workspace)[64 * AscendC::GetBlockIdx()] = (uint8_t)cores;
    LATER
    // Whole lines belong to each core; what is flushed is in memory for all.
    dcci(out, 1, 2);
}
"""
# Other results when others run beside it: the number of steps that passed.
CLOCK = "if (AscendC::GetBlockIdx() == 0) { out[0] = (int32_t)AscendC::GetSystemCycle(); }"


def _op(folder: Path, name: str, kind: str, blocks: int, later: str = "") -> dict[str, Any]:
    source = SCALE.replace("NAME", name).replace("LATER", later)
    op = build_op(
        source,
        name,
        kernel_type=f"KERNEL_TYPE_{kind}_ONLY",
        block_dim=blocks,
        soc=SOC,
        out_dir=folder / "ops",
        name=name,
    )
    return op.entry()


@pytest.fixture(scope="module")
def entries(folder: Path) -> dict[str, dict[str, Any]]:
    made = {
        "vector": _op(folder, "vector", "AIV", 4),
        "cube": _op(folder, "cube", "AIC", 4),
        "clock": _op(folder, "clock", "AIV", 4, CLOCK),
    }
    # Several tests load them, and with several workers of pytest each has only some of the tests.
    _compile(folder, _linked(made), "te_superkernel_right")
    _compile(folder, _unlinked(made), "te_superkernel_unordered")
    _compile(folder, _with_clock(made), "te_superkernel_clock")
    return made


def _linked(entries: dict[str, Any]) -> list[Any]:
    return [_entry(entries["vector"], 0, sends=(5,)), _entry(entries["cube"], 1, receives=(5,))]


def _unlinked(entries: dict[str, Any]) -> list[Any]:
    return [_entry(entries["vector"], 0), _entry(entries["cube"], 1)]


def _with_clock(entries: dict[str, Any]) -> list[Any]:
    return [_entry(entries["vector"], -1), _entry(entries["clock"], -1)]


def _entry(entry: dict[str, Any], stream: int, sends: tuple[int, ...] = (), receives: tuple[int, ...] = ()) -> Any:
    return {**entry, "stream_id": stream, "send_event_list": list(sends), "recv_event_list": list(receives)}


def _compile(folder: Path, ops: list[Any], name: str) -> None:
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        superkernel.compile({"op_list": ops, "super_kernel_options": "stream-fusion=1"}, name)


def _fused(device: Device, folder: Path, ops: list[Any], name: str) -> Kernel:
    _compile(folder, ops, name)
    return device.load(folder / "kernel_meta" / f"{name}.json")


def _arguments() -> dict[Any, Any]:
    x, y, z = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32), np.zeros(COUNT, np.int32)
    return {"x_0": x, "y_0": y, "workspace_0": bytes(1024), "x_1": y, "y_1": z, "workspace_1": bytes(1024)}


def test_eight_seeds_have_every_combination() -> None:
    seen = {(v.schedule, v.arrivals, v.skewed_start) for v in map(Variation.of, range(8))}
    assert len(seen) == 8
    cores = [f"AIV{number}" for number in range(48)]
    assert Variation.of(0).delays(cores) == {} and len(Variation.of(4).delays(cores)) > 3
    assert Variation.of(5).delays(cores) == Variation.of(5).delays(cores) != Variation.of(4).delays(cores)


def test_a_right_kernel_passes_and_memory_stays(device: Device, folder: Path, entries: dict[str, Any]) -> None:
    kernel = _fused(device, folder, _linked(entries), "te_superkernel_right")
    args, live = _arguments(), len(device.buffers)
    verdict = kernel.check(args, seeds=16)
    assert verdict.ok and verdict.compared and verdict.seeds == tuple(range(16)), verdict
    assert "ok, 16 seeds" in str(verdict) and "\n" not in repr(verdict)
    assert not args["y_0"].any() and len(device.buffers) == live
    verdict.raise_for_status()


def test_a_missing_event_is_found_and_the_seed_repeats(device: Device, folder: Path, entries: dict[str, Any]) -> None:
    kernel = _fused(device, folder, _unlinked(entries), "te_superkernel_unordered")
    verdict = kernel.check(_arguments(), seeds=16, most_findings=3)
    assert not verdict.ok and len(verdict.findings) == 3
    finding = verdict.findings[-1]
    assert finding.status == "hazard" and "`cube`" in finding.message
    again = kernel.check(_arguments(), seeds=1, first_seed=finding.variation.seed).findings[0]
    assert (again.message, again.report.steps) == (finding.message, finding.report.steps)
    with pytest.raises(SuperKernelError) as caught:
        verdict.raise_for_status()
    assert caught.value.errorinfo["errId"] == "SK0919"


def test_other_results_than_the_ops_alone_are_found(device: Device, folder: Path, entries: dict[str, Any]) -> None:
    kernel = _fused(device, folder, _with_clock(entries), "te_superkernel_clock")
    verdict = kernel.check(_arguments(), seeds=4)
    assert [finding.status for finding in verdict.findings] == ["different"]
    assert "`y_1` differs from the ops alone in 1 of 128 elements (int32); element 0 is" in str(verdict)
    with pytest.raises(SuperKernelError) as caught:
        verdict.raise_for_status()
    assert caught.value.errorinfo["errId"] == "SK0925"
    assert kernel.check(_arguments(), seeds=4, ignore=["y_1"]).ok


def test_an_op_that_fails_alone_is_named(device: Device, folder: Path, entries: dict[str, Any]) -> None:
    kernel = device.load(folder / "kernel_meta" / "te_superkernel_clock.json")
    verdict = kernel.check({**_arguments(), "y_1": 0}, seeds=4)
    assert not verdict.ok and "op 1 `clock` alone: " in str(verdict) and "parameter y is 0" in str(verdict)


# -- workers of an executor ------------------------------------------------------------------------------------------


class Broken(Executor):
    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        raise BrokenExecutor("no worker is left")


def test_workers_see_what_this_process_sees(device: Device, folder: Path, entries: dict[str, Any]) -> None:
    """At the same addresses, whatever was allocated and freed before."""
    right = device.load(folder / "kernel_meta" / "te_superkernel_right.json")
    wrong = device.load(folder / "kernel_meta" / "te_superkernel_unordered.json")
    device.buffer(5 * 4096).free()
    kept = device.buffer(100)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for kernel, findings in ((right, 0), (wrong, 2)):
            here = kernel.check(_arguments(), seeds=20, most_findings=2)
            elsewhere = kernel.check(_arguments(), seeds=20, most_findings=2, executor=pool)
            assert len(here.findings) == findings and elsewhere.seeds == here.seeds
            assert (elsewhere.steps, elsewhere.warnings) == (here.steps, here.warnings)
            assert list(map(str, elsewhere.findings)) == list(map(str, here.findings))
            # Only what was found is run here.
            assert (elsewhere.last is None) == (findings == 0)
    kept.free()


def test_without_workers_seeds_are_run_here(
    device: Device, folder: Path, entries: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    kernel = device.load(folder / "kernel_meta" / "te_superkernel_right.json")
    verdict = kernel.check(_arguments(), seeds=2, executor=Broken())
    assert verdict.ok and verdict.last is not None
    assert "no worker is left" in caplog.text


class Forgetful(Executor):
    """Its workers lose seeds, or answer with something else."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(self._answer)
        return future


@pytest.mark.parametrize("answer", [[], [Glimpse(1, (), (), False)] * 7, None, [None] * 8])
def test_seeds_that_a_worker_left_out_are_an_error(device: Device, folder: Path, entries: Any, answer: Any) -> None:
    kernel = device.load(folder / "kernel_meta" / "te_superkernel_right.json")
    with pytest.raises(SuperKernelError) as caught:
        kernel.check(_arguments(), seeds=8, executor=Forgetful(answer))
    assert caught.value.errorinfo["errId"] == "SK0931" and "8 seeds, from 0 on" in str(caught.value)


# -- a kernel without a super kernel around it -----------------------------------------------------------------------


def test_a_lone_op_is_compared_with_a_run_of_its_own(device: Device, entries: dict[str, Any]) -> None:
    x, y = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
    verdict = device.load(entries["vector"]["json_path"]).check([x, y, bytes(1024)], seeds=4)
    assert verdict.ok and verdict.compared, verdict
    clock = device.load(entries["clock"]["json_path"]).check([x, y, bytes(1024)], seeds=4)
    assert [finding.status for finding in clock.findings] == ["different"], clock
    # One that fails is found by a seed, which can be repeated.
    null = device.load(entries["vector"]["json_path"]).check([x, 0, bytes(1024)], seeds=4)
    assert [(finding.status, finding.repeatable) for finding in null.findings] == [("crash", True)]


# -- the command -----------------------------------------------------------------------------------------------------

INPUTS = [
    "--input",
    "x_0=int32:128",
    "--input",
    "y_0=zeros:int32:128",
    "--input",
    "x_1=@y_0",
    "--input",
    "y_1=int32:128",
]


def _file(folder: Path, ops: list[Any]) -> str:
    path = folder / f"ops{len(list(folder.glob('ops*.json')))}.json"
    path.write_text(json.dumps({"op_list": ops, "super_kernel_options": "stream-fusion=1"}))
    return str(path)


def test_the_command_passes_what_is_right(
    folder: Path, entries: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    ops = [_entry(entries["vector"], 0, sends=(5,)), _entry(entries["cube"], 1, receives=(5,))]
    values = folder / "x.npy"
    np.save(values, np.arange(COUNT, dtype=np.int32))
    given = ["--seeds", "8", "--soc", SOC, *INPUTS, "--input", f"x_0={values}"]
    assert cli.main(["run", _file(folder, ops), *given]) == 0
    assert "ok, 8 seeds" in capsys.readouterr().out
    built = folder / "kernel_meta" / "te_superkernel_right.json"
    assert cli.main(["run", str(built), *given]) == 0


def test_the_command_fails_and_prints_the_command_that_repeats_it(
    folder: Path, entries: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    ops = [_entry(entries["vector"], 0), _entry(entries["cube"], 1)]
    assert cli.main(["run", _file(folder, ops), "--first-seed", "5", "--soc", SOC, *INPUTS]) == 1
    first = capsys.readouterr().out
    assert "seed 5 (skewed" in first and "hazard" in first
    repeat = first.splitlines()[-1]
    assert repeat.startswith("repeat: superkernel run ") and "--seed 5 --tool order" in repeat
    assert cli.main(shlex.split(repeat)[2:]) == 1
    again = capsys.readouterr().out
    # The same id, told in the same words; only the modes that nobody needs are gone.
    told = [[line for line in text.splitlines() if "`cube`" in line] for text in (first, again)]
    assert told[0] == told[1] != [] and "[SK0919] hazard" in again
    assert again.splitlines()[-1] == repeat


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--input", "q_0=1"], "no parameter `q_0`"),
        (["--input", "x_0"], "NAME=VALUE"),
        (["--input", "x_0=float99:4"], "`x_0` cannot be `float99:4`"),
        (["--input", "x_0=float32:0"], "cannot be"),
        (["--input", "x_0=@x_9"], "memory of its own"),
        (["--others", "object:4"], "cannot be"),
        (["--tiling-key", "5"], "OP=KEY"),
        (["--seeds", "0"], "seeds=0"),
        (["--rtol", "-1"], "rtol=-1"),
    ],
)
def test_wrong_words_are_refused(
    folder: Path, entries: dict[str, Any], capsys: pytest.CaptureFixture[str], given: list[str], message: str
) -> None:
    built = folder / "kernel_meta" / "te_superkernel_right.json"
    assert built.exists() and cli.main(["run", str(built), "--soc", SOC, *given]) == 2
    assert message in capsys.readouterr().err
