"""The simulator against files, arguments and calls that make no sense: a result or an error of this package, whatever
comes, and the process lives on.

``SUPERKERNEL_SIM_DAMAGE`` sets how many of each are tried.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sim_kernels
import superkernel
from damage import ODD, damaged_bytes, damaged_document
from kernel_library import KernelLibrary
from superkernel import SuperKernelError, _build
from superkernel.sim import Agent, Device, ProfilingBuffer

COUNT = int(os.environ.get("SUPERKERNEL_SIM_DAMAGE", "150"))

pytestmark = pytest.mark.timeout(7200 if COUNT > 1000 else 300)


def outcome(action: Callable[[], Any]) -> tuple[str, Any]:
    """``fine`` and the value, or the id of the error. Anything else fails the test."""
    try:
        return "fine", action()
    except SuperKernelError as error:
        assert error.errorinfo["errId"].startswith("SK") and error.errorinfo["errSolution"], error
        assert len(str(error)) < 20_000
        return error.errorinfo["errId"], None


@pytest.fixture(scope="module")
def kernels(library: KernelLibrary, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The JSONs of a super kernel and of a sub-kernel, their objects beside them."""
    folder = tmp_path_factory.mktemp("kernels")
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(folder), cache_dir=""):
        report = _build.build(library.infos(library.op("one"), library.op("two")), "k")
    return [Path(report["json"]), Path(library.op("one").json_path)]


def test_kernels_that_are_damaged(device: Device, kernels: list[Path], tmp_path: Path, tally: Counter[str]):
    for number in range(COUNT):
        dice = random.Random(number)
        json_path = dice.choice(kernels)
        folder = tmp_path / "damaged"
        folder.mkdir()
        document = json.loads(json_path.read_text())
        for path in json_path.parent.iterdir():
            if path.suffix in (".o", ".json") and path.is_file():
                shutil.copy(path, folder)
        object_damaged = dice.randrange(2) == 0
        if object_damaged:
            path = folder / (document["binFileName"] + document["binFileSuffix"])
            path.write_bytes(damaged_bytes(path.read_bytes(), dice))
            # Otherwise the digest alone would refuse it.
            document["sha256"] = ""
        else:
            document = damaged_document(document, dice)
        text = json.dumps(document).encode()
        (folder / json_path.name).write_bytes(damaged_bytes(text, dice) if dice.randrange(8) == 0 else text)
        said, kernel = outcome(lambda folder=folder, name=json_path.name: device.load(folder / name))
        tally[said] += 1
        # A damaged description of good code must not lead anywhere bad; damaged code may do anything but harm us.
        if kernel is not None and (not object_damaged or number % 5 == 0):
            x, y = device.buffer(256), device.buffer(256)
            said, report = outcome(lambda kernel=kernel, x=x, y=y: kernel.launch([x, y, x, y], block_dim=1, timeout=5))
            tally[f"launch {said if report is None else report.status}"] += 1
            x.free()
            y.free()
        shutil.rmtree(folder)
    assert tally["fine"] and len(tally) > 3


def arguments(dice: random.Random, buffers: list[Any]) -> dict[str, Any]:
    """Arguments of a launch, one or two of them odd."""
    odd: dict[str, list[Any]] = {
        "args": [[], buffers[:1], [2**64], [None], [1.5], 5, "ab", [np.zeros(3)], [buffers[-1], -1], [True]],
        "block_dim": [1, 2, 0, -1, 2**40, True, "8", np.int64(1)],
        "schedule": ["round-robin", "random", "skewed", "rand", None, 5],
        "seed": [0, 7, -1, 2**64, 1.5, "x", np.uint64(3)],
        "timeout": [5, 1e300, math.inf, math.nan, -1, 0, "10", np.float32(5)],
        "arrivals": ["per-core", "summed", "each", None],
        "events": ["none", "ops", "sync", "all", []],
        "event_limit": [10, -1, 2**70],
        "step_limit": [1000, 0, -1, 1.5],
        "delays": [{}, {"AIV0": 3}, {"AIV9": 1}, {5: 1}, [{"core": "AIV0", "steps": 1}], 5, [{}]],
        "agents": [[], [5], 5, [Agent("a", writes=[])]],
        "op_names": [["a"], "ab", [1]],
        "ffts": [0, -1, 1 << 63],
    }
    chosen = dice.sample(sorted(odd), dice.randint(1, 3))
    given: dict[str, Any] = {"block_dim": 1, "timeout": 20}
    for name in chosen:
        given[name] = dice.choice([*odd[name], *odd[name], dice.choice(ODD)])
    return given


class Walk:
    """A random walk over everything a device offers, closed and freed things included."""

    def __init__(self, number: int, path: Path) -> None:
        self.dice = random.Random(number)
        self.path = path
        self.device = Device("Ascend910_93", memory=1 << 20)
        self.buffers = [self.device.buffer(64), self.device.buffer(64)]
        self.kernels = [self.device.load(path)]
        self.profile = ProfilingBuffer(self.device, cubes=1, records=4)

    def step(self) -> tuple[str, str]:
        """What was called, and what came of it."""
        name, action = self.action()
        said, value = outcome(action)
        if said == "fine" and name == "buffer":
            self.buffers.append(value)
        if said == "fine" and name == "load":
            self.kernels.append(value)
        return name, said

    def action(self) -> tuple[str, Callable[[], Any]]:
        dice, device = self.dice, self.device
        buffer, kernel = dice.choice(self.buffers), dice.choice(self.kernels)
        data = dice.choice([8, 0, -1, b"abc", "x", None, 1 << 30, np.arange(4), np.arange(4)[::-2], [1], *ODD])
        number = dice.choice([0, 1, -1, 7, 64, 2**64, 1.5, "a", None, *ODD])
        actions: list[tuple[str, Callable[[], Any]]] = [
            ("buffer", lambda: device.buffer(data)),
            ("buffer", lambda: device.buffer(dice.randint(1, 5000))),
            ("write", lambda: buffer.write(data, number)),
            ("write", lambda: buffer.write(data)),
            ("read", lambda: buffer.read(number)),
            ("read", lambda: buffer.read(0, number)),
            ("word", lambda: buffer.word(number)),
            ("set_word", lambda: buffer.set_word(number, number)),
            ("at", lambda: buffer.at(number)),
            ("numpy", lambda: buffer.numpy(data if isinstance(data, str) else np.int16)),
            ("free", buffer.free),
            ("overrun", buffer.overrun),
            ("repair", buffer.repair),
            ("records", self.profile.records),
            ("load", lambda: device.load(data)),
            ("load", lambda: device.load(self.path)),
            ("launch", lambda: kernel.launch(**arguments(dice, self.buffers))),
            ("launch", lambda: kernel.launch([buffer], block_dim=1)),
            *([("close", device.close)] if dice.randrange(60) == 0 else []),
        ]
        return dice.choice(actions)

    def end(self) -> None:
        """Closes the device; nothing of it can be used any more."""
        self.device.close()
        for use in (self.buffers[0].read, self.kernels[0].launch, lambda: self.device.buffer(8)):
            assert outcome(use)[0] == "SK0902"


def test_calls_that_make_no_sense(tmp_path: Path, tally: Counter[str]):
    body = "static void body() { if (slot(0)) { slot(0)[0] += 1; } }"
    with Device("Ascend910_93") as first:
        path = sim_kernels.kernel(first, tmp_path, body, "0:1").description.object
    for number in range(max(COUNT // 40, 2)):
        walk = Walk(number, path)
        for _ in range(40):
            name, said = walk.step()
            tally[f"{name} {'fine' if said == 'fine' else 'refused'}"] += 1
        walk.end()
    assert tally["launch fine"] and tally["launch refused"] and tally["write refused"]
