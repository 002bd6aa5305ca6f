"""Random op lists, with everything the rules ask about."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from pathlib import Path
from typing import Any

from shape import Kernel, Op

TYPES = (
    "KERNEL_TYPE_AIV_ONLY",
    "KERNEL_TYPE_AIC_ONLY",
    "KERNEL_TYPE_MIX_AIV_1_0",
    "KERNEL_TYPE_MIX_AIC_1_0",
    "KERNEL_TYPE_MIX_AIC_1_1",
    "KERNEL_TYPE_MIX_AIC_1_2",
)
TEXT_SIZES = (100, 5000, 40000)
FUNCTIONS = 48


def write_objects(folder: Path) -> list[Path]:
    """Objects with ``.text`` of several sizes that define all functions a case can name."""
    paths = []
    for size in TEXT_SIZES:
        names = [f"f{size}_{number}{kind}" for number in range(FUNCTIONS) for kind in ("", "_aic", "_aiv")]
        lines = [".text", *(f".globl {name}\n{name}:" for name in names), f".zero {size}"]
        path = folder / f"code{size}.o"
        subprocess.run(["as", "-o", str(path), "-"], input="\n".join(lines) + "\n", text=True, check=True)
        paths.append(path)
    return paths


class Maker:
    """Makes one case from one seed."""

    def __init__(self, seed: int, folder: Path, soc: str) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.chip = "c310" if soc == "Ascend950" else "c220"
        self.seed = seed
        self.flags: dict[int, dict[str, bool]] = {}
        # Ops may share functions, as they do in a model.
        self.names = itertools.cycle(range(FUNCTIONS))

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def make(self, count: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """``kernel_infos`` and its options as a dict."""
        several = self.chance(50)
        options = self.options(several)
        types = self.random.choice((TYPES, TYPES, TYPES[:1] + TYPES[2:3], TYPES[1:2] + TYPES[3:4], TYPES[4:]))
        count = count or self.random.randint(1, 9)
        dynamic_allowed = self.chance(40)
        ops = [self.op(number, self.random.choice(types), options, several, dynamic_allowed) for number in range(count)]
        self.streams(ops, several)
        self.events(ops, several)
        text = ":".join(f"{name}={value}" for name, value in options.items())
        return {"op_list": ops, "super_kernel_options": text}, options

    def options(self, several: bool) -> dict[str, Any]:
        options: dict[str, Any] = {"split-mode": self.random.choice((1, 2, 4, 4, 7))}
        for name, percent in (
            ("feed-sync-all", 35),
            ("debug-dcci-all", 20),
            ("debug-sync-all", 30),
            ("profiling", 35),
        ):
            if self.chance(percent):
                options[name] = 1
        if several:
            options["stream-fusion"] = 1
        if self.chance(40):
            options["sync"] = "contract"
        if self.chance(30):
            options["early-start"] = 0
        if self.chance(50):
            options["preload-code"] = self.random.choice(("max", "none", "per-func"))
        if self.chance(30):
            options["dcci-before-kernel-start"] = "T0,T1"
            options["dcci-after-kernel-end"] = "T1,T2"
            options["dcci-disable-on-kernel"] = "T3"
        if self.chance(50):
            options["dynamic-cores"] = self.random.choice(("all", "tiled", "tiled"))
        return options

    def op(self, number: int, kind: str, options: dict[str, Any], several: bool, dynamic: bool) -> dict[str, Any]:
        size = self.random.choice(TEXT_SIZES)
        stem = f"f{size}_{next(self.names)}"
        is_dynamic = dynamic and self.chance(35)
        early = options.get("early-start", 1) != 0 and not several and not is_dynamic
        flags = {"sets": early and self.chance(35), "waits": early and self.chance(35)}
        description: dict[str, Any] = {
            "kernelName": f"kernel{number}",
            "blockDim": self.random.randint(1, 6),
            "sub_operator_kernel_type": kind,
            "sub_operator_kernel_name": self.functions(kind, stem),
            "sub_operator_params": [f"p{n}" for n in range(self.random.randint(0, 4))],
            "sub_operator_early_start_set_flag": flags["sets"],
            "sub_operator_early_start_wait_flag": flags["waits"],
            "sub_operator_op_type": f"T{self.random.randrange(5)}",
            "sub_op_with_sync_all": self.chance(50),
        }
        for key in ("before_kernel_start", "after_kernel_end", "disable_on_kernel"):
            description[f"sub_operator_call_dcci_{key}"] = self.chance(15)
        if self.chance(15):
            description |= {"debugOptions": "printf", "debugBufSize": 7500}
        if is_dynamic:
            description["sub_operator_kernel_name"] = {"dynamic_func_names": self.tiling_keys(kind, size)}
            if self.chance(20):
                del description["sub_op_with_sync_all"]
        path = self.folder / f"case{self.seed}_{number}.json"
        path.write_text(json.dumps(description))
        may_sync_all = description.get("sub_op_with_sync_all", True)
        self.flags[number] = flags | {"dcci": description, "may_sync_all": may_sync_all}
        entry = {"json_path": str(path), "bin_path": str(self.folder / f"code{size}.o"), "stream_id": 3}
        return entry | ({"task_type": "dynamic"} if is_dynamic else {})

    def functions(self, kind: str, stem: str) -> dict[str, Any]:
        if kind.endswith("_ONLY"):
            # Shared with other ops, but never with the other kind of core.
            return {"AiCore": {"func_name": stem + ("_aiv" if "AIV" in kind else "_aic")}}
        sides = {"cube": "aic", "vec": "aiv"}
        return {f"dav-{self.chip}-{arch}": {"func_name": f"{stem}_{side}"} for arch, side in sides.items()}

    def tiling_keys(self, kind: str, size: int) -> dict[str, Any]:
        fits = {"aiv": TYPES[0:3:2], "aic": TYPES[1:4:2], "mix": TYPES}
        from shape import CLASS_OF

        table: dict[str, Any] = {}
        for _ in range(self.random.randint(1, 3)):
            number = next(self.names)
            key_type = self.random.choice(fits[CLASS_OF[kind]])
            names = self.functions(key_type, f"f{size}_{number}")
            flat = {arch: entry["func_name"] for arch, entry in names.items()}
            table[str(self.random.choice((0, 7, 10000, 2**40 + number, 2**64 - 1 - number)))] = {
                "kernel_type": key_type,
                **flat,
            }
        return table

    def streams(self, ops: list[dict[str, Any]], several: bool) -> None:
        if several:
            count = self.random.choice((2, 2, 3))
            for op in ops:
                op["stream_id"] = self.random.randrange(count)

    def events(self, ops: list[dict[str, Any]], several: bool) -> None:
        event = 100
        for sender in range(len(ops)):
            for receiver in range(sender + 1, len(ops)):
                near = receiver - sender < 9
                if several and near and ops[sender]["stream_id"] != ops[receiver]["stream_id"] and self.chance(30):
                    self.link(ops, sender, receiver, event)
                    event += 1
        for number, op in enumerate(ops):
            if number + 1 < len(ops) and self.chance(20):
                op.setdefault("send_event_list", []).append(event)
                event += 1
            if number and self.chance(20):
                op.setdefault("recv_event_list", []).append(event)
                event += 1

    def link(self, ops: list[dict[str, Any]], sender: int, receiver: int, event: int) -> None:
        ops[sender].setdefault("send_event_list", []).append(event)
        ops[receiver].setdefault("recv_event_list", []).append(event)

    def kernel(self, plan: dict[str, Any], options: dict[str, Any]) -> Kernel:
        """The case as the reference sees it."""
        ops = []
        for position, op in enumerate(plan["ops"]):
            flags = self.flags[op["index"]]
            before, after = self.flushes(op, flags["dcci"], options)
            made = Op(position, op, flags["sets"], flags["waits"], before, after)
            if made.dynamic:
                made.key = self.random.choice([entry["tiling_key"] for entry in op["functions"]])
                made.run_blocks = self.random.randint(1, min(6, plan["block_num"]))
                made.may_sync_all = flags["may_sync_all"]
            ops.append(made)
        return Kernel(plan, options, ops)

    def flushes(self, op: dict[str, Any], description: Any, options: dict[str, Any]) -> tuple[bool, bool]:
        def listed(name: str) -> bool:
            return op["op_type"] in str(options.get(name, "")).split(",")

        if op["task_type"] == "dynamic":
            disabled = listed("dcci-disable-on-kernel")
            return (
                not disabled and listed("dcci-before-kernel-start"),
                not disabled and listed("dcci-after-kernel-end"),
            )
        asked = [description[f"sub_operator_call_dcci_{key}"] for key in ("before_kernel_start", "after_kernel_end")]
        disabled = description["sub_operator_call_dcci_disable_on_kernel"]
        return (asked[0] and not disabled, asked[1] and not disabled)
