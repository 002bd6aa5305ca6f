// What the simulator provides. Everything here is undefined in a kernel object and bound when the object is loaded.
#ifndef SK_HOST_RUNTIME_H
#define SK_HOST_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

// The state of one core that kernel code reads and writes directly. The simulator owns one per core and keeps the same
// layout (src/sim/machine/core_state.rs); new fields go to the end.
struct SkCoreState {
    int64_t kind;        // 1 AIC, 2 AIV
    int64_t arch;        // 2201 or 3510
    int64_t blockIdx;
    int64_t blockNum;
    int64_t subBlockIdx;
    int64_t subBlockDim; // as the core's register says: 1 on AIC
    int64_t vectorCount; // AIVs per block of the launch, 0 if it has none
    int64_t coreId;
    uint64_t paraBase;
    // What the core is doing, for reports: a literal of this header, or null.
    const char *activity;
    // Local memories. A size of 0 says that the core kind does not have it.
    uint8_t *unifiedBuffer;
    uint64_t unifiedBufferSize;
    uint8_t *l1;
    uint64_t l1Size;
    uint8_t *l0a;
    uint64_t l0aSize;
    uint8_t *l0b;
    uint64_t l0bSize;
    uint8_t *l0c;
    uint64_t l0cSize;
    // Unused: what stands behind keeps its place.
    uint64_t reserved[9];
    uint8_t *biasTable;
    uint64_t biasTableSize;
    uint8_t *fixpipeBuffer;
    uint64_t fixpipeBufferSize;
    // The TPipe made last (AscendC::GetTPipePtr).
    void *pipe;
};

struct SkInstruction;

// Points of interest that are not synchronisation by themselves.
enum SkNote : uint32_t {
    SK_NOTE_SYNC_ALL_BEGIN = 1, // value 1: SyncAll<true>, 0: SyncAll<false>
    SK_NOTE_SYNC_ALL_END = 2,
    SK_NOTE_SET_NEXT_TASK = 3,  // before the set
    SK_NOTE_WAIT_PRE_BEGIN = 4, // value: the early start configuration
    SK_NOTE_WAIT_PRE_END = 5,
    SK_NOTE_COMPLEMENT_BEGIN = 6,
    SK_NOTE_COMPLEMENT_END = 7,
    SK_NOTE_PRELOAD = 8,        // value: number of 2 KiB units
    SK_NOTE_UNKNOWN_KEY = 9,    // value: the slot of a tiling key that is in no table
    SK_NOTE_WATCHED = 10,       // the operator that was just entered tells every scalar access
    SK_NOTE_EXCHANGE = 11,      // before and after a barrier made of words in global memory
};

// Why kernel code could not go on.
enum SkFault : uint32_t {
    SK_FAULT_TRAP = 1,        // trap()
    SK_FAULT_ASSERT = 2,      // assert() of the kernel
    SK_FAULT_API = 3,         // a call broke a rule of the programming interface (alignment, size, bounds, order)
    SK_FAULT_NULL_CALL = 4,   // a function pointer was null
};

// What a queue does with one of its buffers.
enum SkQueue : uint32_t {
    SK_QUEUE_INIT = 0,
    SK_QUEUE_ENQUE = 1,
    SK_QUEUE_DEQUE = 2,
    SK_QUEUE_FREE = 3,
    SK_QUEUE_ALLOC = 4,
    SK_QUEUE_BUFFER = 5,  // a buffer that belongs to no queue is made
    SK_QUEUE_ADDRESS = 6, // the kernel takes an address in a buffer: plain pointers may reach it from now on
};

// Forms of sk_rt_pipe_flag.
enum SkPipeFlag : uint32_t {
    SK_PIPE_FLAG_WAIT = 1,   // else the flag is set
    SK_PIPE_FLAG_BUFFER = 2, // of the set for the buffers around the cube unit
};

// How the scalar unit accesses memory.
enum SkAccess : uint32_t {
    SK_ACCESS_WRITE = 1,  // else it reads
    SK_ACCESS_TENSOR = 2, // a call on a tensor, not a plain pointer
};

// Bits of sk_rt_watch: what the simulator wants to hear of.
enum SkWatch : uint32_t {
    SK_WATCH_ORDER = 1,
    SK_WATCH_CACHE = 2,
    SK_WATCH_KERNEL = 4, // begin and end of a program's kernel
};

// Forms of sk_rt_dcci.
enum SkDcci : uint32_t {
    SK_DCCI_WHOLE = 1, // the entire data cache, the address is ignored; else one line
    SK_DCCI_LOCAL = 2, // lines of UB only, not those of global memory
};

// noexcept: a kernel needs no clean-up code around these calls; a core that cannot go on is simply never resumed.
extern "C" {
struct SkCoreState *sk_rt_core(void) noexcept;

// Cross-core flags: modes 0 to 2, and the in-block flags of arch 3510.
void sk_rt_cross_core_set(uint32_t pipe, uint32_t mode, uint32_t flag) noexcept;
void sk_rt_wait_flag(uint32_t pipe, uint32_t flag) noexcept;
void sk_rt_intra_block_set(uint32_t pipe, uint32_t id) noexcept;
void sk_rt_intra_block_wait(uint32_t pipe, uint32_t id) noexcept;
void sk_rt_set_ffts_base_addr(uint64_t address) noexcept;

// Flags between two pipes of one core: SkPipeFlag bits; `source` and `target` are pipe_t values.
void sk_rt_pipe_flag(uint32_t form, uint32_t source, uint32_t target, uint32_t id, const char *file,
                     uint32_t line) noexcept;

// What orders accesses and what is not an instruction, for the modes of the simulator that ask for it. Nobody needs to
// call these while the bit SK_WATCH_ORDER of sk_rt_watch is 0.
void sk_rt_pipe_barrier(uint32_t pipe) noexcept;
// `pipe` fills or reads the buffer; `bytes` and `position` tell about it when it is made.
void sk_rt_queue(uint32_t action, const void *buffer, uint32_t pipe, uint64_t bytes, const char *position,
                 const char *file, uint32_t line) noexcept;
// The scalar unit is about to access memory: SkAccess bits.
void sk_rt_scalar(const volatile void *address, uint32_t bytes, uint32_t access, const char *file,
                  uint32_t line) noexcept;
extern uint32_t sk_rt_watch;

// Cache maintenance: a switching point. SkDcci bits.
void sk_rt_dcci(uint64_t address, uint32_t form) noexcept;
// A load or store of 1 to 8 bytes of global memory around the cache: a switching point too.
uint64_t sk_rt_bypass(const volatile void *address, uint32_t bytes, uint32_t isWrite, uint64_t value) noexcept;

// Lets others run: a loop may wait for what another core writes.
void sk_rt_spin(void) noexcept;

// The instructions of the core (sk_core/issue.h), and its special registers.
void sk_rt_issue(const struct SkInstruction *instruction) noexcept;
void sk_rt_set_register(uint32_t number, uint64_t value) noexcept;
uint64_t sk_rt_get_register(uint32_t number) noexcept;

// Memory for messages between cores that the vendor's matmul objects use: zeroed for every launch, 16 MiB.
uint8_t *sk_rt_system_workspace(void) noexcept;

// Deterministic clock in simulated cycles.
int64_t sk_rt_system_cycle(void) noexcept;

// Data moved by a pipe or work done by it, in bytes: statistics, and what a cost model would charge.
void sk_rt_work(uint32_t pipe, uint64_t bytes) noexcept;

// Ends the run and names the core; does not return.
[[noreturn]] void sk_rt_fault(uint32_t fault, const char *text, const char *file, uint32_t line) noexcept;

// An assert of the vendor's headers that device builds do not have; comes back unless such asserts end the run.
void sk_rt_complain(const char *text) noexcept;
void sk_rt_print(const char *text, uint64_t length) noexcept;
void sk_rt_note(uint32_t note, uint64_t value) noexcept;

// Which operator the core is in: by its position in the super kernel, or by the offset of its first parameter.
void sk_rt_op_begin(uint32_t position) noexcept;
void sk_rt_op_end(uint32_t position) noexcept;
void sk_rt_sub_kernel_begin(uint64_t argsOffset) noexcept;
void sk_rt_sub_kernel_end(uint64_t argsOffset) noexcept;
}

// Code compiled with hooks before its loads and stores (src/sim/code/accesses.cpp) says so.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SK_HOST_WATCHED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SK_HOST_WATCHED 1
#endif
#if defined(SK_HOST_WATCHED)
#define SK_TELL_WATCHED() sk_rt_note(SK_NOTE_WATCHED, 0)
#else
#define SK_TELL_WATCHED() ((void)0)
#endif

// Markers for generated code and for the wrapper of a sub-kernel. They change nothing but reports.
#define SK_OP_BEGIN(position) (sk_rt_op_begin(position), SK_TELL_WATCHED())
#define SK_OP_END(position) sk_rt_op_end(position)
#define SK_UNKNOWN_KEY(slots) sk_rt_note(SK_NOTE_UNKNOWN_KEY, ((uint64_t)(slots) - sk_rt_core()->paraBase) / 8)
#define SK_SUB_KERNEL_BEGIN(argsOffset) (sk_rt_sub_kernel_begin(argsOffset), SK_TELL_WATCHED())
#define SK_SUB_KERNEL_END(argsOffset) sk_rt_sub_kernel_end(argsOffset)

#endif
