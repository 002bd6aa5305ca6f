// Data of the `.ascend.meta.*` sections.
#ifndef SK_HOST_META_H
#define SK_HOST_META_H

enum SkHostFunctionMeta : uint16_t {
    F_TYPE_KTYPE = 1,
    F_TYPE_CROSS_CORE_SYNC = 2,
    F_TYPE_MIX_TASK_RATION = 3,
    F_TYPE_L0_EXCEPTION_DFX = 4,
    F_TYPE_L0_EXCEPTION_DFX_ARGSINFO = 5,
    F_TYPE_L0_EXCEPTION_DFX_IS_TIK = 6,
    F_TYPE_DETERMINISTIC_INFO = 13,
    F_TYPE_FUNCTION_ENTRY_INFO = 14,
    F_TYPE_BLOCK_NUM_INFO = 15,
};

enum SkHostFunctionKind : unsigned int {
    K_TYPE_AICORE = 1,
    K_TYPE_AIC = 2,
    K_TYPE_AIV = 3,
    K_TYPE_MIX_AIC_MAIN = 4,
    K_TYPE_MIX_AIV_MAIN = 5,
    K_TYPE_AIC_ROLLBACK = 6,
    K_TYPE_AIV_ROLLBACK = 7,
};

struct BaseTlv {
    unsigned short type;
    unsigned short len;
};

struct KernelTypeTlv {
    BaseTlv head;
    unsigned int ktype;
};

struct MixTaskRationTlv {
    BaseTlv head;
    unsigned short taskRation0;
    unsigned short taskRation1;
};

struct FunLevelKType {
    KernelTypeTlv ktypeMeta;
};

struct FunLevelMixCoreType {
    KernelTypeTlv ktypeMeta;
    MixTaskRationTlv taskRationMeta;
};

struct OpSystemRunCfg {
    uint64_t l2Cacheoffset;
};

#endif
