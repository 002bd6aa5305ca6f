"""Names of the replaced software: those that work, and those that say what took their place."""

from __future__ import annotations

import importlib

import pytest
import superkernel
from op_lists import AIC, AIV, OpList
from superkernel import SuperKernelError, super_kernel_utils
from superkernel._migration import MODULES
from superkernel.super_kernel_op_infos import SuperOperatorInfos
from superkernel.super_kernel_sub_op_infos import Key, SubOperatorInfos

WORKS = [(module, name, home) for module, row in MODULES.items() for name, home in row.works.items()]
NATIVE = [(module, name, text) for module, row in MODULES.items() for name, text in row.native.items()]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_the_plan_is_there(module):
    found = importlib.import_module(f"superkernel.{module}")
    assert sorted(found.__all__) == sorted(MODULES[module].works)
    # Looking around in it imports nothing that is gone.
    assert all(hasattr(found, name) for name in dir(found))
    assert not hasattr(found, "nothing_of_that_name")
    with pytest.raises(ImportError, match=r"cannot import name 'nothing_of_that_name'"):
        exec(f"from superkernel.{module} import nothing_of_that_name")


@pytest.mark.parametrize(("module", "name", "home"), WORKS)
def test_a_name_that_works_is_one_object(module, name, home):
    found = getattr(importlib.import_module(f"superkernel.{module}"), name)
    assert found is getattr(importlib.import_module(f"superkernel.{home}"), name)


@pytest.mark.parametrize(("module", "name", "text"), NATIVE)
def test_a_name_that_became_native_says_what_took_its_place(module, name, text):
    with pytest.raises(ImportError) as refused:
        exec(f"from superkernel.{module} import {name}")
    assert str(refused.value).startswith(f"`superkernel.{module}.{name}` is no longer available: ")
    assert text in str(refused.value)


def test_what_is_named_instead_exists():
    """A text that sends people to `superkernel.x.y` is of use only as long as that is there."""
    import re

    named = {found for _, _, text in NATIVE for found in re.findall(r"`superkernel\.([\w.]+)", text)}
    assert {"compile", "elf.localize_symbols"} <= named
    for path in named:
        found = superkernel
        for part in path.split("."):
            found = getattr(found, part)
        assert callable(found)


@pytest.fixture
def infos(tmp_path):
    ops = OpList(tmp_path)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    return ops.dynamic(stream_id=1).infos("stream-fusion=1")


def keys(kind) -> set[str]:
    return {name for name, value in vars(kind).items() if isinstance(value, Key)}


def as_plain(value):
    if isinstance(value, tuple):
        return [as_plain(one) for one in value]
    return value.to_dict() if isinstance(value, SubOperatorInfos) else dict(value) if hasattr(value, "keys") else value


def test_the_views_say_what_the_plan_says(infos):
    with superkernel.configure(soc="Ascend910_93"):
        view, plan = SuperOperatorInfos(infos, "k"), superkernel.plan(infos, "k")
    assert keys(SuperOperatorInfos) == set(plan) and view.to_dict() == plan
    for key in plan:
        assert as_plain(getattr(view, key)) == plan[key], key
    assert len(view.ops) == 4 and view.ops is view.ops
    for op, planned in zip(view.ops, plan["ops"]):
        assert keys(SubOperatorInfos) == set(planned) and op.to_dict() == planned
        for key in planned:
            assert as_plain(getattr(op, key)) == planned[key], key
    assert (repr(view), repr(view.ops[2])) == ("<SuperOperatorInfos k>", "<SubOperatorInfos k2>")


def test_the_views_are_read_only(infos):
    with superkernel.configure(soc="Ascend910_93"):
        view = SuperOperatorInfos(infos, "k")
    with pytest.raises(AttributeError, match="`block_num` is read only"):
        view.block_num = 3
    with pytest.raises(AttributeError, match="`stream_id` is read only"):
        view.ops[0].stream_id = 3
    with pytest.raises(TypeError):
        view.slots[0]["name"] = "x"
    with pytest.raises(SuperKernelError, match="`op_list`"):
        SuperOperatorInfos({"op_list": []})


def test_what_was_wrapped_of_cann():
    with superkernel.configure(soc="Ascend910B3", op_debug_config=["oom"]):
        assert super_kernel_utils.get_soc_version() == "Ascend910B"
        assert super_kernel_utils.is_support_super_kernel()
        assert super_kernel_utils.get_compile_config_info("tir.op_debug_config") == ["oom"]
        assert super_kernel_utils.get_compile_config_info("kernel_meta_parent_dir") == "."
        assert super_kernel_utils.get_compile_config_info() == dict(superkernel.current_config())
    with superkernel.configure(soc="Ascend310B1"):
        assert not super_kernel_utils.is_support_super_kernel()
    with pytest.raises(SuperKernelError, match=r"no setting `kernel_meta_dir`\n  hint: use one of: soc, "):
        super_kernel_utils.get_compile_config_info("kernel_meta_dir")
    with pytest.raises(SuperKernelError) as raised:
        super_kernel_utils.super_kernel_raise_err("op 3 is odd")
    assert raised.value.errorinfo["errCode"] == super_kernel_utils.ERR_CODE == "EB0500"
    assert raised.value.errorinfo["message"] == "op 3 is odd"
