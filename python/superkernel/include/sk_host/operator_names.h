// Registers as an operator means them. Inside a super kernel they describe the super kernel; an operator that asks for its
// own block gets what it would get alone. Included between kernel_operator.h and the source of an operator, which says by
// SK_OPERATOR_VECTORS_ONLY whether it runs on vector cores only, when every one of them is a block, and by
// SK_OPERATOR_CORE_KIND what it is compiled for.
#ifndef SK_HOST_OPERATOR_NAMES_H
#define SK_HOST_OPERATOR_NAMES_H

namespace {

inline int64_t sk_operator_sub_block_dim() { return SK_OPERATOR_VECTORS_ONLY ? 1 : sk_rt_core()->subBlockDim; }
inline int64_t sk_operator_sub_block_id() { return SK_OPERATOR_VECTORS_ONLY ? 0 : sk_rt_core()->subBlockIdx; }
inline int64_t sk_operator_block_idx() {
    const SkCoreState &core = *sk_rt_core();
    return SK_OPERATOR_VECTORS_ONLY ? core.blockIdx * core.subBlockDim + core.subBlockIdx : core.blockIdx;
}
inline int64_t sk_operator_block_num() { return AscendC::GetBlockNum(); }
// An object and not a macro with a value: operators may have variables of that name.
struct SkOperatorBlockIndex {
    operator int64_t() const { return sk_operator_block_idx(); }
};
constexpr SkOperatorBlockIndex sk_operator_block_index{};

} // namespace

#ifdef SK_CPU_STUB_DEF_H
// Device compilers know the kind of core while they compile; in the headers' CPU mode it is a variable.
namespace {
constexpr int32_t sk_operator_core_kind = SK_OPERATOR_CORE_KIND;
} // namespace
#define g_coreType sk_operator_core_kind
#endif

#define get_block_idx sk_operator_block_idx
#define get_block_num sk_operator_block_num
#define get_subblockid sk_operator_sub_block_id
#define get_subblockdim sk_operator_sub_block_dim
#define get_task_ration sk_operator_sub_block_dim
#define block_idx sk_operator_block_index

#endif
