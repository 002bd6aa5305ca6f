// What orders a core's own pipes and its data cache: one meaning for the built-in subset and for the vendor's headers.
#ifndef SK_CORE_ORDER_H
#define SK_CORE_ORDER_H

namespace {

inline void pipe_barrier(pipe_t pipe) {
    __asm__ volatile("" ::: "memory");
    if (sk_rt_watch & SK_WATCH_ORDER) {
        sk_rt_pipe_barrier(pipe);
    }
}
inline void set_flag(pipe_t source, pipe_t target, int64_t id, const char *file = __builtin_FILE(),
                     uint32_t line = __builtin_LINE()) {
    sk_rt_pipe_flag(0, source, target, static_cast<uint32_t>(id), file, line);
}
inline void wait_flag(pipe_t source, pipe_t target, int64_t id, const char *file = __builtin_FILE(),
                      uint32_t line = __builtin_LINE()) {
    sk_rt_pipe_flag(SK_PIPE_FLAG_WAIT, source, target, static_cast<uint32_t>(id), file, line);
}
// The same with a set of events of their own, for buffers around the cube unit. Which buffer does not matter here, nor
// whether it is a part of one.
template <class Memory>
inline void hset_flag(pipe_t source, pipe_t target, int64_t id, Memory, bool, const char *file = __builtin_FILE(),
                      uint32_t line = __builtin_LINE()) {
    sk_rt_pipe_flag(SK_PIPE_FLAG_BUFFER, source, target, static_cast<uint32_t>(id), file, line);
}
template <class Memory>
inline void hwait_flag(pipe_t source, pipe_t target, int64_t id, Memory, bool, const char *file = __builtin_FILE(),
                       uint32_t line = __builtin_LINE()) {
    sk_rt_pipe_flag(SK_PIPE_FLAG_BUFFER | SK_PIPE_FLAG_WAIT, source, target, static_cast<uint32_t>(id), file, line);
}

// Addresses are never dereferenced here; the fences keep the compiler from carrying values across.
inline void dcci(const volatile void *address, int64_t line, int64_t destination = CACHELINE_OUT) {
    __asm__ volatile("" ::: "memory");
    sk_rt_dcci(reinterpret_cast<uintptr_t>(address), (line == ENTIRE_DATA_CACHE ? SK_DCCI_WHOLE : 0u) |
                                                         (destination == CACHELINE_UB ? SK_DCCI_LOCAL : 0u));
    __asm__ volatile("" ::: "memory");
}

// Prefetches have no effect on results; those of code are counted.
inline void preload(const void *, int64_t units) { sk_rt_note(SK_NOTE_PRELOAD, static_cast<uint64_t>(units)); }
template <class Offset> inline void dc_preload(const volatile uint64_t *, Offset) {}

inline void trap(const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    sk_rt_fault(SK_FAULT_TRAP, "trap()", file, line);
}

} // namespace

#endif
