"""Five operators from their folders, run one after another and fused into one super kernel, in both forms."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import superkernel
from superkernel import sim

HERE = Path(__file__).resolve().parent
# As many rows as vector cores: operators whose cores meet and that read their tiling at run time need all of them.
ROWS, COLUMNS = 48, 256
#: Folder, inputs (names of what is there already), attributes, name of the output.
CHAIN: list[tuple[str, dict[str, str], dict[str, Any], str]] = [
    ("math/row_add", {"x1": "a", "x2": "b"}, {}, "sum"),
    ("norm/row_norm", {"x": "sum", "gamma": "gamma"}, {"epsilon": 1e-5}, "normed"),
    ("activation/gate", {"x": "normed", "gate": "a"}, {"mode": "relu"}, "gated"),
    ("math/column_sum", {"x": "gated"}, {}, "columns"),
    ("quant/row_quant", {"x": "gated"}, {"scale": 8.0}, "quantised"),
]


def given() -> dict[str, np.ndarray]:
    """What goes in."""
    random = np.random.default_rng(1)
    shapes = {"a": (ROWS, COLUMNS), "b": (ROWS, COLUMNS), "gamma": (COLUMNS,)}
    return {name: random.uniform(-2, 2, shape).astype(np.float32) for name, shape in shapes.items()}


class Unfused:
    """The chain, one operator after another, and what it was made of."""

    def __init__(self, device: sim.Device, out: Path) -> None:
        #: Everything that goes in and comes out, by name.
        self.values: dict[str, Any] = given()
        self.built: dict[str, list[sim.BuiltOp]] = {"static": [], "dynamic": []}
        self.tilings: list[sim.Tiling] = []
        #: What stands behind each parameter, by place of the operator and name of the parameter.
        self.names: dict[tuple[int, str], str] = {}
        for place, (folder, inputs, attributes, output) in enumerate(CHAIN):
            with sim.Operator(HERE / folder, soc=device.soc, out_dir=out) as operator:
                prepared = operator.prepare({name: self.values[of] for name, of in inputs.items()}, attributes)
                done = operator.run_prepared(prepared, device)
                done.report.raise_for_status()
                (self.values[output],) = (done[name] for name in done.outputs)
                self.tilings.append(done.tiling)
                for form, built in self.built.items():
                    built.append(operator.build(prepared, form=form))
                self.names.update({(place, name): of for name, of in inputs.items()})
                self.names.update({(place, name): output for name in done.outputs})


def fuse(form: str, chain: Unfused, device: sim.Device, out: Path) -> None:
    """Fuses the chain, runs it and compares every byte."""
    with superkernel.configure(kernel_meta_parent_dir=str(out), soc=device.soc, toolchain="host"):
        options = "dynamic-cores=tiled" if form == "dynamic" else ""
        entries = [built.entry() for built in chain.built[form]]
        superkernel.compile({"op_list": entries, "super_kernel_options": options}, f"chain_{form}")
    kernel = device.load(out / "kernel_meta" / f"chain_{form}.json")
    fused = given()
    fused.update({name: np.zeros_like(value) for name, value in chain.values.items() if name not in fused})
    arguments: dict[Any, Any] = {slot: fused[name] for slot, name in chain.names.items()}
    keys: dict[int | str, int | tuple[int, int]] = {}
    for parameter in kernel.parameters:
        if parameter.own_name == "workspace":
            arguments[parameter.name] = device.buffer(1 << 16)
        elif parameter.own_name not in {name for _, name in chain.names} and not parameter.hidden:
            # An optional input that nobody gave, or tiling data.
            arguments[parameter.name] = 0
    if form == "dynamic":
        for place, tiling in enumerate(chain.tilings):
            keys[place] = (tiling.key, tiling.blocks)
            arguments.pop(f"tiling_{place}", None)
            arguments[place, "tiling"] = tiling.data
    kernel.launch(arguments, tiling_key=keys).raise_for_status()
    for *_, output in CHAIN:
        assert fused[output].tobytes() == chain.values[output].tobytes(), f"{form}: `{output}` differs"
    kernel.check(arguments, seeds=2, tiling_key=keys).raise_for_status()
    print(f"{form}: {len(CHAIN)} operators in one super kernel, every byte as unfused")


def main() -> None:
    """Both forms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/operators"))
    options = parser.parse_args()
    with sim.Device("Ascend910_93") as device:
        chain = Unfused(device, options.out)
        for form in ("static", "dynamic"):
            fuse(form, chain, device, options.out)
    print("execute sample success")


if __name__ == "__main__":
    main()
