
// Loads and stores of the scalar unit. Kernel code compiled with -fsanitize=thread calls these functions before every
// access that the compiler cannot prove to be private. They are our own: no sanitizer's runtime is involved. What lies
// in watched memory goes into a log, neighbours joined; the simulator empties it whenever order could change.
extern "C" {

// Same layout as in access_log.rs.
struct SkAccessRun {
    uint64_t begin;
    uint64_t end;
    uint64_t code; // where the call came from
    uint64_t kind; // 0 read, 1 write, 2 write of a word that cores exchange, 3 read of one, 4 write that combines
};
struct SkAccessLog {
    uint64_t base[2]; // watched memories: global, local
    uint64_t size[2];
    uint64_t keeps;   // accesses to global memory go into the log
    uint64_t tells;   // the simulator hears of every access before it happens
    uint64_t used;
    uint64_t capacity;
    SkAccessRun *runs;
    uint32_t latest[256]; // by code address: its latest run
    uint64_t idle[256];   // by code address: code whose accesses mean nothing
    uint64_t scrambled;   // such code has run
    uint64_t stared_at;   // the address of global memory that was read last, if nothing else was accessed since,
    uint64_t starer;      // the code that read it,
    uint64_t stares;      // and how often
};
// After so many reads of one address in a row, others get their turn: what is waited for is what they write.
static const uint64_t kStaringPatience = 256;

// In a section of its own: there are kernels of which all data is exchanged between cores.
__attribute__((visibility("default"), section("sk_shim_state"))) SkAccessLog *sk_shim_log = nullptr;

static __attribute__((noinline)) void sk_log_watched(SkAccessLog *log, uint64_t at, uint64_t bytes, uint64_t kind,
                                                     uint64_t code) {
    if ((kind == 0 || kind == 3) && at == log->stared_at && code == log->starer) {
        log->stares += 1;
        if (log->stares == kStaringPatience) {
            log->stares = 0;
            sk_shim_table.stare(at, code, *static_cast<void *const *>(__builtin_frame_address(0)));
        }
    } else {
        log->stared_at = (kind == 0 || kind == 3) && at - log->base[0] < log->size[0] ? at : 0;
        log->starer = code;
        log->stares = 0;
    }
    if (log->tells != 0) {
        // Before the access, so that it finds what a cache holds. The frame is that of the kernel's function: the hook
        // between it and us has none.
        uint64_t &idle = log->idle[(code ^ code >> 8) & 255];
        const uint32_t heard = idle == code ? 1
                                            : sk_shim_table.access(at, bytes, static_cast<uint32_t>(kind), code,
                                                                   *static_cast<void *const *>(__builtin_frame_address(0)));
        if (heard == 1) {
            idle = code;
            log->scrambled = 1;
            return;
        }
        if (heard == 2) {
            kind = 4;
        }
    }
    if (log->keeps == 0 || at - log->base[0] >= log->size[0]) {
        return;
    }
    // Words that cores exchange are in no order before they are read; who sees what another one has left hears of it.
    if (kind == 3) {
        sk_shim_table.look(at);
        return;
    }
    uint32_t &latest = log->latest[(code ^ code >> 8) & 255];
    if (latest < log->used) {
        SkAccessRun &run = log->runs[latest];
        if (run.code == code && run.kind == kind) {
            if (at == run.end) {
                run.end += bytes;
                return;
            }
            if (at >= run.begin && at + bytes <= run.end) {
                return;
            }
            if (at + bytes == run.begin) {
                run.begin = at;
                return;
            }
        }
    }
    if (log->used == log->capacity) {
        sk_shim_table.drain();
    }
    SkAccessRun &run = log->runs[log->used];
    latest = static_cast<uint32_t>(log->used);
    log->used += 1;
    run.begin = at;
    run.end = at + bytes;
    run.code = code;
    run.kind = kind;
}

static inline __attribute__((always_inline)) void sk_log(const volatile void *address, uint64_t bytes, uint64_t kind,
                                                         void *code) {
    SkAccessLog *log = sk_shim_log;
    const uint64_t at = reinterpret_cast<uint64_t>(address);
    if (log != nullptr && (at - log->base[0] < log->size[0] || at - log->base[1] < log->size[1])) {
        sk_log_watched(log, at, bytes, kind, reinterpret_cast<uint64_t>(code));
    }
}

#define SK_LOG(kind, bytes) sk_log(address, bytes, kind, __builtin_return_address(0))

#define SK_ACCESS(bytes)                                                                                               \
    SK_HIDDEN void __tsan_read##bytes(void *address) { SK_LOG(0, bytes); }                                             \
    SK_HIDDEN void __tsan_write##bytes(void *address) { SK_LOG(1, bytes); }                                            \
    SK_HIDDEN void __tsan_read_write##bytes(void *address) { SK_LOG(1, bytes); }                                       \
    SK_HIDDEN void __tsan_unaligned_read##bytes(void *address) { SK_LOG(0, bytes); }                                   \
    SK_HIDDEN void __tsan_unaligned_write##bytes(void *address) { SK_LOG(1, bytes); }                                  \
    SK_HIDDEN void __tsan_unaligned_read_write##bytes(void *address) { SK_LOG(1, bytes); }                             \
    /* Words that cores exchange are volatile. */                                                                      \
    SK_HIDDEN void __tsan_volatile_read##bytes(void *address) { SK_LOG(3, bytes); }                                    \
    SK_HIDDEN void __tsan_volatile_write##bytes(void *address) { SK_LOG(2, bytes); }                                   \
    SK_HIDDEN void __tsan_unaligned_volatile_read##bytes(void *address) { SK_LOG(3, bytes); }                          \
    SK_HIDDEN void __tsan_unaligned_volatile_write##bytes(void *address) { SK_LOG(2, bytes); }
SK_ACCESS(1)
SK_ACCESS(2)
SK_ACCESS(4)
SK_ACCESS(8)
SK_ACCESS(16)

SK_HIDDEN void __tsan_read_range(void *address, unsigned long bytes) { SK_LOG(0, bytes); }
SK_HIDDEN void __tsan_write_range(void *address, unsigned long bytes) { SK_LOG(1, bytes); }
SK_HIDDEN void __tsan_vptr_read(void **address) { SK_LOG(0, sizeof(void *)); }
SK_HIDDEN void __tsan_vptr_update(void **address, void *) { SK_LOG(1, sizeof(void *)); }
SK_HIDDEN void __tsan_init(void) {}
SK_HIDDEN void __tsan_func_entry(void *) {}
SK_HIDDEN void __tsan_func_exit(void) {}

// One core runs at a time, so the plain operation is atomic. Such words are exchanged, too.
#define SK_ATOMIC_COMBINE(bits, name, result)                                                                          \
    SK_HIDDEN uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address, uint##bits##_t value, int) { \
        SK_LOG(2, bits / 8);                                                                                           \
        const uint##bits##_t old = *address;                                                                           \
        *address = static_cast<uint##bits##_t>(result);                                                                \
        return old;                                                                                                    \
    }
#define SK_ATOMIC(bits)                                                                                                \
    SK_HIDDEN uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int) { return *address; } \
    SK_HIDDEN void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, int) {          \
        SK_LOG(2, bits / 8);                                                                                           \
        *address = value;                                                                                              \
    }                                                                                                                  \
    SK_ATOMIC_COMBINE(bits, exchange, value)                                                                           \
    SK_ATOMIC_COMBINE(bits, fetch_add, old + value)                                                                    \
    SK_ATOMIC_COMBINE(bits, fetch_sub, old - value)                                                                    \
    SK_ATOMIC_COMBINE(bits, fetch_and, old & value)                                                                    \
    SK_ATOMIC_COMBINE(bits, fetch_or, old | value)                                                                     \
    SK_ATOMIC_COMBINE(bits, fetch_xor, old ^ value)                                                                    \
    SK_ATOMIC_COMBINE(bits, fetch_nand, ~(old & value))                                                                \
    SK_HIDDEN int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *address,                      \
                                                                uint##bits##_t *expected, uint##bits##_t value, int,   \
                                                                int) {                                                 \
        SK_LOG(2, bits / 8);                                                                                           \
        const uint##bits##_t old = *address;                                                                           \
        const bool same = old == *expected;                                                                            \
        *(same ? address : expected) = same ? value : old;                                                             \
        return same;                                                                                                   \
    }                                                                                                                  \
    SK_HIDDEN int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *address,                        \
                                                              uint##bits##_t *expected, uint##bits##_t value, int a,   \
                                                              int b) {                                                 \
        return __tsan_atomic##bits##_compare_exchange_strong(address, expected, value, a, b);                          \
    }                                                                                                                  \
    SK_HIDDEN uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                               \
        volatile uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t value, int a, int b) {               \
        __tsan_atomic##bits##_compare_exchange_strong(address, &expected, value, a, b);                                \
        return expected;                                                                                               \
    }
SK_ATOMIC(8)
SK_ATOMIC(16)
SK_ATOMIC(32)
SK_ATOMIC(64)
SK_HIDDEN void __tsan_atomic_thread_fence(int) {}
SK_HIDDEN void __tsan_atomic_signal_fence(int) {}

// The linker leads calls of the C library's functions here (--wrap).
void *__real_memcpy(void *, const void *, unsigned long);
void *__real_memmove(void *, const void *, unsigned long);
void *__real_memset(void *, int, unsigned long);

#define SK_COPY(name, inner)                                                                                           \
    SK_HIDDEN void *name(void *address, const void *from, unsigned long bytes) {                                       \
        sk_log(from, bytes, 0, __builtin_return_address(0));                                                           \
        SK_LOG(1, bytes);                                                                                              \
        return inner(address, from, bytes);                                                                            \
    }
SK_COPY(__wrap_memcpy, __real_memcpy)
SK_COPY(__wrap_memmove, __real_memmove)
SK_COPY(__tsan_memcpy, __real_memcpy)
SK_COPY(__tsan_memmove, __real_memmove)

#define SK_FILL(name)                                                                                                  \
    SK_HIDDEN void *name(void *address, int value, unsigned long bytes) {                                              \
        SK_LOG(1, bytes);                                                                                              \
        return __real_memset(address, value, bytes);                                                                   \
    }
SK_FILL(__wrap_memset)
SK_FILL(__tsan_memset)
}
