// Flags and barriers of pipes, and preloads, as AscendC names them.
#ifndef SK_HOST_CACHE_H
#define SK_HOST_CACHE_H

#include "sk_core/order.h"

namespace AscendC {
namespace {

inline void PreLoad(int64_t units) { sk_rt_note(SK_NOTE_PRELOAD, static_cast<uint64_t>(units)); }
inline void ICachePreLoad(int64_t units) { PreLoad(units); }

template <pipe_t pipe> inline void PipeBarrier() { pipe_barrier(pipe); }

// Accesses of the scalar unit are visible when they have been made; only the compiler must not move them.
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };
template <MemDsbT memory> inline void DataSyncBarrier() { __asm__ volatile("" ::: "memory"); }

struct SkHostEventPipes {
    pipe_t source;
    pipe_t target;
};

constexpr SkHostEventPipes sk_host_event_pipes(HardEvent event) {
    constexpr SkHostEventPipes table[] = {
        {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M},    {PIPE_M, PIPE_MTE1},
        {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},    {PIPE_V, PIPE_MTE3},
        {PIPE_M, PIPE_V},       {PIPE_V, PIPE_M},       {PIPE_V, PIPE_V},       {PIPE_MTE3, PIPE_MTE1},
        {PIPE_MTE1, PIPE_MTE3}, {PIPE_MTE1, PIPE_V},    {PIPE_MTE2, PIPE_M},    {PIPE_M, PIPE_MTE2},
        {PIPE_V, PIPE_MTE1},    {PIPE_M, PIPE_FIX},     {PIPE_FIX, PIPE_M},     {PIPE_MTE3, PIPE_MTE2},
        {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},       {PIPE_S, PIPE_MTE2},
        {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},    {PIPE_MTE3, PIPE_S},    {PIPE_MTE2, PIPE_FIX},
        {PIPE_FIX, PIPE_MTE2},  {PIPE_FIX, PIPE_S},     {PIPE_M, PIPE_S},       {PIPE_FIX, PIPE_MTE3},
        {PIPE_MTE1, PIPE_FIX},  {PIPE_FIX, PIPE_MTE1},  {PIPE_FIX, PIPE_FIX},
    };
    return table[static_cast<uint8_t>(event)];
}

// A pair of pipes that the core kind does not have is skipped, as on the device.
constexpr bool sk_host_has_pipe(int kind, pipe_t pipe) {
    if (kind == AIC) {
        return pipe != PIPE_V && pipe != PIPE_V2;
    }
    return pipe != PIPE_M && pipe != PIPE_MTE1 && pipe != PIPE_FIX;
}

template <HardEvent event> inline void sk_host_pipe_event(uint32_t form, int32_t id, sk_host::Site site) {
    if (id < 0 || id > 7) {
        sk_host::Violation(site, "event id %d; ids are 0 to 7", id);
    }
    constexpr SkHostEventPipes pipes = sk_host_event_pipes(event);
    const int kind = sk_host_core_type();
    if (sk_host_has_pipe(kind, pipes.source) && sk_host_has_pipe(kind, pipes.target)) {
        sk_rt_pipe_flag(form, pipes.source, pipes.target, static_cast<uint32_t>(id), site.file, site.line);
    }
}

template <HardEvent event> inline void SetFlag(int32_t id, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_pipe_event<event>(0, id, site);
}
template <HardEvent event> inline void WaitFlag(int32_t id, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_pipe_event<event>(SK_PIPE_FLAG_WAIT, id, site);
}

} // namespace
} // namespace AscendC

#endif
