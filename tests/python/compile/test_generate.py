"""``superkernel.generate`` and the program's part of ``plan``, through the public interface."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import superkernel
from op_lists import AIC, AIV, MIX_1_2, OpList


def with_objects(ops: OpList) -> OpList:
    """One object for every op: it defines all functions the list names."""
    for number, entry in enumerate(ops.ops):
        names = [f"f{number}{suffix}" for suffix in ("", "_aic", "_aiv")]
        lines = [".text", *(f".globl {name}\n{name}:" for name in names), ".zero 5000", ""]
        subprocess.run(["as", "-o", entry["bin_path"], "-"], input="\n".join(lines), text=True, check=True)
    return ops


def test_equal_inputs_give_equal_sources(tmp_path: Path):
    infos = with_objects(OpList(tmp_path).op(AIV, 8).op(MIX_1_2, 4).op(AIC, 6)).infos("split-mode=2")
    source = superkernel.generate(infos, "te_superkernel_ab")
    assert source == superkernel.generate(infos, "te_superkernel_ab")
    assert "auto_gen_te_superkernel_ab_kernel(void)" in source
    assert source.startswith("#if 1\n") and source.endswith("#endif\n")
    assert "sk_preload_below(core_index, 8, sk_code_f0, 3);" in source


def test_missing_objects_are_named(tmp_path: Path):
    infos = OpList(tmp_path).op(AIV, 8).infos()
    with pytest.raises(superkernel.SuperKernelError, match="op 0"):
        superkernel.generate(infos, "sk")
    assert superkernel.plan(infos, "sk")["ops"][0]["functions"][0]["preload"] is None


def test_the_plan_tells_steps_and_flags(tmp_path: Path):
    ops = OpList(tmp_path).op(AIC, 8, send_event_list=[1]).op(AIV, 8, stream_id=1)
    ops.op(AIV, 8, stream_id=1, recv_event_list=[1])
    plan = superkernel.plan(ops.infos("stream-fusion=1"), "sk")
    assert plan["edges"] == [{"from": 0, "to": 2, "cube_to_vec": True, "vec_to_cube": False}]
    waits = [step for step in plan["steps"] if step["action"] == "wait-flag"]
    assert [(step["op"], step["cores"], step["reason"]) for step in waits] == [(2, "aiv", "event 1")]
    assert all(step["reason"] for step in plan["steps"] if step["action"] in ("barrier", "set-flag"))


def test_a_circle_is_refused(tmp_path: Path):
    ops = OpList(tmp_path).op(AIC, 8).op(AIV, 8, stream_id=1, recv_event_list=[2], send_event_list=[1])
    ops.op(AIC, 8, recv_event_list=[1], send_event_list=[2]).op(AIV, 8, stream_id=1)
    with pytest.raises(superkernel.SuperKernelError, match=r"op 1.*op 2") as caught:
        superkernel.plan(ops.infos("stream-fusion=1"), "sk")
    assert caught.value.errorinfo["errId"] == "SK0309"


def test_the_command_prints_the_source(tmp_path: Path):
    path = with_objects(OpList(tmp_path).op(AIV, 8)).write()
    command = [sys.executable, "-m", "superkernel", "generate", str(path), "--name", "te_one"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "auto_gen_te_one_kernel(void)" in printed
    subprocess.run([*command, "-o", str(tmp_path / "out.cpp")], check=True)
    assert (tmp_path / "out.cpp").read_text() == printed


def test_a_plan_is_a_dictionary_whose_large_parts_are_made_on_demand(tmp_path: Path):
    ops = OpList(tmp_path).op(AIV, 8).op(AIC, 8)

    def fresh() -> dict[str, Any]:
        return superkernel.plan(ops.infos(), "sk")

    plan = fresh()
    assert isinstance(plan, dict) and len(plan) == 18 and "steps" in plan
    assert list(plan)[-3:] == ["order", "steps", "warnings"]
    whole = json.loads(json.dumps(fresh()))
    assert [len(whole[part]) for part in ("ops", "slots", "edges", "order")] == [2, len(plan["slots"]), 0, 0]
    assert len(whole["steps"]) > 5 and all(step["action"] for step in whole["steps"])
    # However it is looked at first, nothing is missing.
    looks = {
        "dict": dict,
        "unpacked": lambda plan: {**plan},
        "items": lambda plan: dict(plan.items()),
        "values": lambda plan: dict(zip(plan.keys(), plan.values())),
        "get": lambda plan: {key: plan.get(key) for key in plan},
        "copy": lambda plan: plan.copy(),
        "deep copy": copy.deepcopy,
        "pickle": lambda plan: pickle.loads(pickle.dumps(plan)),
        "union": lambda plan: plan | {},
        "repr": lambda plan: ast.literal_eval(repr(plan)),
        "pop": lambda plan: {**whole, "steps": plan.pop("steps")},
    }
    for name, look in looks.items():
        assert look(fresh()) == whole, name
    assert fresh() == whole and fresh() == fresh()
    plan = fresh()
    plan["steps"] = []
    del plan["ops"]
    assert plan["steps"] == [] and "ops" not in plan
