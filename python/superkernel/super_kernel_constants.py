"""The enums and constants that other software shares with super kernels. Names and values are a contract."""

from __future__ import annotations

from enum import Enum

ERR_CODE = "EB0500"
AI_CORE_STR = "AiCore"
FUNC_STR = "func_name"
OBJ_FILES_STR = "obj_files"
CALL_INSTS = "CALLR"


class SuperKernelDeviceType(Enum):
    """The cores a kernel runs on."""

    KERNEL_DEVICE_TYPE_AIV = 0
    KERNEL_DEVICE_TYPE_AIC = 1
    KERNEL_DEVICE_TYPE_MIX = 2
    KERNEL_DEVICE_TYPE_MAX = 3


class SuperKernelEarlyStartMode(Enum):
    """Overlap of neighbouring ops."""

    EarlyStartDisable = 0
    EarlyStartEnableV1 = 1
    EarlyStartEnableV2 = 2
    EarlyStartV2DisableSubKernel = 3


class SuperKernelLinkMode(Enum):
    """How the objects of both core kinds are linked."""

    PerVecHerCube = 0
    PerCubeHerVec = 1
    PerCubeHerVecWithSuper = 2


class SubOperatorType(Enum):
    """When it is known which function of an op runs."""

    STATIC_OP = 0
    DYNAMIC_OP = 1


class SuperKernelPreLoadMode(Enum):
    """Instruction-cache preload."""

    PreLoadStepByStep = 0
    PreLoadByWhole = 1
    PreloadByAdanvanceStep = 2
    PreloadNA = 3


class SuperKernelDataCacheMode(Enum):
    """Data-cache preload."""

    DataCacheLoadAdancanceStep = 0
    DataCacheLoadNA = 1


class SuperKernelKernelType(Enum):
    """The kernel types of the device."""

    KERNEL_TYPE_AIV_ONLY = 0
    KERNEL_TYPE_AIC_ONLY = 1
    KERNEL_TYPE_MIX_AIV_HARD_SYNC = 2
    KERNEL_TYPE_MIX_AIC_HARD_SYNC = 3
    KERNEL_TYPE_MIX_AIV_1_0 = 4
    KERNEL_TYPE_MIX_AIC_1_0 = 5
    KERNEL_TYPE_MIX_AIC_1_1 = 6
    KERNEL_TYPE_MIX_AIC_1_2 = 7
    KERNEL_TYPE_AICORE = 8
    KERNEL_TYPE_VECTORCORE = 9
    KERNEL_TYPE_MIX_AICORE = 10
    KERNEL_TYPE_MIX_VECTOR_CORE = 11
    KERNEL_TYPE_MAX = 12


# One per option that is a switch.
# table: switches (written by `make tables`)


class SuperKernelStreamFusionMode(Enum):
    """``stream-fusion``: allow ops of several streams to run side by side."""

    StreamFusionDisable = 0
    StreamFusionEnable = 1


class SuperKernelDebugDcciAllMode(Enum):
    """``debug-dcci-all``: flush the data cache after every op."""

    DebugDcciAllDisable = 0
    DebugDcciAllEnable = 1


class SuperKernelDebugSyncAllMode(Enum):
    """``debug-sync-all``: a full barrier after every op."""

    DebugSyncAllDisable = 0
    DebugSyncAllEnable = 1


class SuperKernelFeedSyncAllMode(Enum):
    """``feed-sync-all``: let idle cores follow the SyncAll of ops that use fewer cores."""

    FeedSyncAllDisable = 0
    FeedSyncAllEnable = 1


class SuperKernelProfilingMode(Enum):
    """``profiling``: write time records for the kernel, its ops and events."""

    ProfilingDisable = 0
    ProfilingEnable = 1


# end of table

#: The kernel types that can be fused, by name.
STR_TO_SK_KERNEL_TYPE = {
    kernel_type.name: kernel_type
    for kernel_type in (
        SuperKernelKernelType.KERNEL_TYPE_AIV_ONLY,
        SuperKernelKernelType.KERNEL_TYPE_AIC_ONLY,
        SuperKernelKernelType.KERNEL_TYPE_MIX_AIV_1_0,
        SuperKernelKernelType.KERNEL_TYPE_MIX_AIC_1_0,
        SuperKernelKernelType.KERNEL_TYPE_MIX_AIC_1_1,
        SuperKernelKernelType.KERNEL_TYPE_MIX_AIC_1_2,
    )
}

#: The values of ``task_type``.
STR_TO_SUPER_TASK_TYPE = {"normal": SubOperatorType.STATIC_OP, "dynamic": SubOperatorType.DYNAMIC_OP}
