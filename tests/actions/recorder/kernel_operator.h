// Records what one core does, instead of doing it.
//
// A generated super kernel compiled against this header and run once per core prints the core's actions, one a line:
// the sequence that the device program promises. Nothing blocks: a core's path does not depend on the other cores.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __BLOCK_LOCAL__
using GM_ADDR = uint8_t*;

namespace recorder {
struct Core {
    bool cube;
    int64_t block, sub, subs, blocks, id;
    uint64_t* slots;
    size_t slotCount;
};
extern Core core;
extern std::vector<std::string> actions;
extern std::map<const void*, std::string> names;  // functions and words of memory
extern std::map<const void*, uint64_t> words;     // words watched for writes, with their last value
extern std::map<const void*, int> locks;          // turns until a polled word becomes 1
extern const uint8_t* quietBegin;                 // cache operations in here are not actions (profiling records)
extern const uint8_t* quietEnd;

template <class... T>
void note(const char* format, T... values)
{
    char line[512];
    snprintf(line, sizeof line, format, values...);
    actions.emplace_back(line);
}
inline void note(const char* text) { actions.emplace_back(text); }

/// Plain stores leave no trace of their own: they are noticed at the next action.
inline void noticeWrites()
{
    for (auto& [word, value] : words) {
        uint64_t now = *static_cast<const volatile uint64_t*>(word);
        if (now != value) {
            note("write %s %llu", names[word].c_str(), (unsigned long long)now);
            value = now;
        }
    }
}
template <class... T>
void act(const char* format, T... values)
{
    noticeWrites();
    note(format, values...);
}
inline const char* name(const void* address)
{
    auto found = names.find(address);
    return found == names.end() ? "?" : found->second.c_str();
}

/// A variable whose assignments are actions.
template <class T>
struct Variable {
    const char* name;
    T value;
    Variable& operator=(T other)
    {
        value = other;
        if constexpr (std::is_pointer_v<T>) {
            uintptr_t base = reinterpret_cast<uintptr_t>(core.slots[core.slotCount]);
            act("%s = workspace+%lld", name, (long long)(reinterpret_cast<uintptr_t>(other) - base));
        } else {
            act("%s = %llu", name, (unsigned long long)other);
        }
        return *this;
    }
    operator T() const { return value; }
};
} // namespace recorder

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
struct OpSystemRunCfg { uint64_t l2Cacheoffset; };

#define ASCEND_IS_AIC (recorder::core.cube)
#define ASCEND_IS_AIV (!recorder::core.cube)

inline int64_t get_block_idx() { return recorder::core.block; }
inline int64_t get_block_num() { return recorder::core.blocks; }
inline int64_t get_subblockid() { return recorder::core.sub; }
inline int64_t get_subblockdim() { return recorder::core.cube ? 1 : recorder::core.subs; }
inline int64_t get_coreid() { return recorder::core.id; }
inline int64_t get_para_base() { return reinterpret_cast<int64_t>(recorder::core.slots); }
inline void set_ffts_base_addr(uint64_t address) { recorder::act("ffts %llu", (unsigned long long)address); }
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message)
{
    recorder::act("set %d %d %d", (int)pipe, (int)(message >> 4 & 3), (int)(message >> 8 & 15));
}
#if __NPU_ARCH__ == 3510
inline void wait_flag_dev(pipe_t pipe, int64_t flag) { recorder::act("wait %d pipe %d", (int)flag, (int)pipe); }
#else
inline void wait_flag_dev(int64_t flag) { recorder::act("wait %d", (int)flag); }
#endif
inline void pipe_barrier(pipe_t pipe) { recorder::act("pipe_barrier %d", (int)pipe); }
inline void trap() { recorder::act("trap"); }
inline void preload(const void* code, int64_t units) { recorder::act("preload %s %d", recorder::name(code), (int)units); }
template <class A, class B>
void dcci(const volatile void* address, A line, B destination)
{
    const uint8_t* byte = (const uint8_t*)address;
    if (byte >= recorder::quietBegin && byte < recorder::quietEnd) return;
    if ((int)line == 1) {
        recorder::act("flush %d", (int)destination);
        return;
    }
    auto lock = recorder::locks.find((const void*)address);
    recorder::act("dcci %s %d %d", recorder::name((const void*)address), (int)line, (int)destination);
    if (lock != recorder::locks.end() && --lock->second == 0) {
        *(volatile uint64_t*)address = 1;
        recorder::words[(const void*)address] = 1;
    }
}
template <class A>
void dcci(const volatile void* address, A line) { dcci(address, line, 0); }
inline void create_cbuf_matrix(uint32_t* local, uint64_t config, uint64_t value)
{
    recorder::act("create_cbuf_matrix %llu %llu %llu", (unsigned long long)(uintptr_t)local, (unsigned long long)config,
                  (unsigned long long)value);
}
inline void copyOut(const char* what, void* gm, void* local, const std::vector<int>& rest)
{
    std::string text;
    for (int value : rest) text += " " + std::to_string(value);
    recorder::act("%s workspace+%lld %lld%s", what, (long long)((uintptr_t)gm - (uintptr_t)recorder::core.slots[recorder::core.slotCount]),
                  (long long)(uintptr_t)local, text.c_str());
}
inline void copy_cbuf_to_gm(void* gm, void* local, int a, int b, int c, int d, int e) { copyOut("copy_cbuf_to_gm", gm, local, {a, b, c, d, e}); }
inline void copy_ubuf_to_gm(void* gm, void* local, int a, int b, int c, int d, int e) { copyOut("copy_ubuf_to_gm", gm, local, {a, b, c, d, e}); }
inline void copy_ubuf_to_gm_align_v2(void* gm, void* local, int a, int b, int c, int d, int e, int f)
{
    copyOut("copy_ubuf_to_gm_align_v2", gm, local, {a, b, c, d, e, f});
}

extern recorder::Variable<uint32_t> g_super_kernel_early_start_config;
extern recorder::Variable<uint32_t> g_super_kernel_dynamic_block_num;

namespace AscendC {
enum class HardEvent : uint8_t { MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, MTE2_MTE3 = 20 };
constexpr uint16_t SYNC_AIC_FLAG = 11, SYNC_AIV_FLAG = 12, SYNC_AIC_AIV_FLAG = 13, SYNC_AIV_ONLY_ALL = 14;
inline uint16_t GetffstMsg(uint16_t mode, uint16_t flag) { return uint16_t(1 | mode << 4 | flag << 8); }
inline int64_t GetBlockIdx() { return recorder::core.cube ? recorder::core.block : recorder::core.block * recorder::core.subs + recorder::core.sub; }
inline int64_t GetBlockIdxImpl() { return GetBlockIdx(); }
inline int64_t GetBlockNum() { return recorder::core.blocks; }
template <bool isAIVOnly = true>
void SyncAll() { recorder::act("syncall %d", (int)isAIVOnly); }
inline void SetNextTaskStart() { recorder::act("set_next"); }
template <int8_t cfg = -1>
void WaitPreTaskEndImpl()
{
    int shown = cfg < 0 ? (int)(uint32_t)g_super_kernel_early_start_config : cfg;
    recorder::act("wait_prev %d", shown);
}
template <pipe_t pipe>
void PipeBarrier() { recorder::act("pipe_barrier %d", (int)pipe); }
template <HardEvent event>
void SetFlag(int32_t id) { recorder::act("set_flag %d %d", (int)event, id); }
template <HardEvent event>
void WaitFlag(int32_t id) { recorder::act("wait_flag %d %d", (int)event, id); }
inline void PreLoad(int64_t units) { recorder::act("preload_here %d", (int)units); }
inline void InitDump(bool mix, GM_ADDR workspace, uint32_t size)
{
    recorder::act("init_dump %d workspace+%lld %u", (int)mix,
                  (long long)((uintptr_t)workspace - (uintptr_t)recorder::core.slots[recorder::core.slotCount]), size);
}
template <class T>
void DuplicateImpl(T* local, T value, int32_t count)
{
    recorder::act("duplicate %lld %lld %d", (long long)(uintptr_t)local, (long long)value, count);
}
inline int64_t GetSystemCycle()
{
    recorder::act("cycle");
    return (int64_t)recorder::actions.size();
}
inline void SuperKernelAutoSyncAllEndImpl() { recorder::act("feed_end"); }
inline void SuperKernelAutoSyncAllComplementImpl() { recorder::act("feed_complement"); }
extern recorder::Variable<GM_ADDR> g_superKernelAutoSyncAllConfigGmBaseAddr;
extern recorder::Variable<GM_ADDR> g_superKernelAutoSyncAllConfigGmAddr;
extern recorder::Variable<uint32_t> g_superKernelAutoSyncAllSyncIdx;
extern recorder::Variable<uint32_t> g_superKernelAutoSyncAllEnable;
} // namespace AscendC

constexpr unsigned F_TYPE_KTYPE = 1, F_TYPE_MIX_TASK_RATION = 3, K_TYPE_MIX_AIC_MAIN = 4, K_TYPE_MIX_AIV_MAIN = 5;
struct MetaHead { uint16_t type, length; };
struct MetaKernelType { MetaHead head; unsigned int kind; };
struct MetaRatio { MetaHead head; uint16_t cube, vector; };
struct FunLevelKType { MetaKernelType type; };
struct FunLevelMixCoreType { MetaKernelType type; MetaRatio ratio; };
