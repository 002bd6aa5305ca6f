"""The enums and constants other software shares with us, compared with the contract as written."""

from __future__ import annotations

from enum import Enum

import pytest
from listings import switches
from superkernel import super_kernel_constants as constants

CONTRACT = {
    "SuperKernelDeviceType": (
        "KERNEL_DEVICE_TYPE_AIV KERNEL_DEVICE_TYPE_AIC KERNEL_DEVICE_TYPE_MIX KERNEL_DEVICE_TYPE_MAX"
    ),
    "SuperKernelEarlyStartMode": "EarlyStartDisable EarlyStartEnableV1 EarlyStartEnableV2 EarlyStartV2DisableSubKernel",
    "SuperKernelFeedSyncAllMode": "FeedSyncAllDisable FeedSyncAllEnable",
    "SuperKernelLinkMode": "PerVecHerCube PerCubeHerVec PerCubeHerVecWithSuper",
    "SuperKernelStreamFusionMode": "StreamFusionDisable StreamFusionEnable",
    "SubOperatorType": "STATIC_OP DYNAMIC_OP",
    "SuperKernelPreLoadMode": "PreLoadStepByStep PreLoadByWhole PreloadByAdanvanceStep PreloadNA",
    "SuperKernelDebugDcciAllMode": "DebugDcciAllDisable DebugDcciAllEnable",
    "SuperKernelDebugSyncAllMode": "DebugSyncAllDisable DebugSyncAllEnable",
    "SuperKernelDataCacheMode": "DataCacheLoadAdancanceStep DataCacheLoadNA",
    "SuperKernelProfilingMode": "ProfilingDisable ProfilingEnable",
    "SuperKernelKernelType": (
        "KERNEL_TYPE_AIV_ONLY KERNEL_TYPE_AIC_ONLY KERNEL_TYPE_MIX_AIV_HARD_SYNC KERNEL_TYPE_MIX_AIC_HARD_SYNC "
        "KERNEL_TYPE_MIX_AIV_1_0 KERNEL_TYPE_MIX_AIC_1_0 KERNEL_TYPE_MIX_AIC_1_1 KERNEL_TYPE_MIX_AIC_1_2 "
        "KERNEL_TYPE_AICORE KERNEL_TYPE_VECTORCORE KERNEL_TYPE_MIX_AICORE KERNEL_TYPE_MIX_VECTOR_CORE KERNEL_TYPE_MAX"
    ),
}


@pytest.mark.parametrize("name", CONTRACT)
def test_members_are_numbered_from_zero_in_the_order_of_the_contract(name):
    enum = getattr(constants, name)
    assert issubclass(enum, Enum)
    assert {member.name: member.value for member in enum} == {
        member: number for number, member in enumerate(CONTRACT[name].split())
    }


def test_there_are_no_other_enums():
    found = {
        name for name, value in vars(constants).items() if isinstance(value, type) and value.__module__.endswith("ants")
    }
    # A switch that the contract does not know brings an enum of its own.
    assert set(CONTRACT) <= found <= {*CONTRACT, *(name for name, _, _ in switches())}


def test_plain_constants():
    assert constants.ERR_CODE == "EB0500"
    assert constants.AI_CORE_STR == "AiCore"
    assert constants.FUNC_STR == "func_name"
    assert constants.OBJ_FILES_STR == "obj_files"
    assert constants.CALL_INSTS == "CALLR"


def test_the_six_fusable_types_by_name():
    assert constants.STR_TO_SK_KERNEL_TYPE == {
        name: constants.SuperKernelKernelType[name]
        for name in (
            "KERNEL_TYPE_AIV_ONLY",
            "KERNEL_TYPE_AIC_ONLY",
            "KERNEL_TYPE_MIX_AIV_1_0",
            "KERNEL_TYPE_MIX_AIC_1_0",
            "KERNEL_TYPE_MIX_AIC_1_1",
            "KERNEL_TYPE_MIX_AIC_1_2",
        )
    }


def test_task_types_by_name():
    assert constants.STR_TO_SUPER_TASK_TYPE == {
        "normal": constants.SubOperatorType.STATIC_OP,
        "dynamic": constants.SubOperatorType.DYNAMIC_OP,
    }
