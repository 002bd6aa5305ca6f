// What the vendor's headers declare and leave to be defined, and how an operator built on them starts on a core.
// Included once, behind the operator's source.
#ifndef SK_CPU_DEFINITIONS_H
#define SK_CPU_DEFINITIONS_H

// From here on names mean the core again, not the operator (sk_host/operator_names.h).
#undef get_block_idx
#undef get_block_num
#undef get_subblockid
#undef get_subblockdim
#undef get_task_ration
#undef block_idx
#undef g_coreType

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <new>

// Everything that is written at run time belongs to one core: the headers keep their state in ordinary statics. The
// simulator exchanges all variables of a kernel that has this section.
__attribute__((used, section("sk_whole_image"))) static const uint8_t sk_cpu_whole_image = 1;

int32_t g_coreType = 0;
int32_t g_matmulCount = 0;
uint64_t g_tilingKey = 0;

uint8_t *GetSysWorkSpacePtr() { return sk_rt_system_workspace(); }

namespace AscendC {

bool g_isAtomic = false;

// One core at a time runs: nothing is locked.
ProcessLock *ProcessLock::processLock = nullptr;
int ProcessLock::Read() { return 0; }
int ProcessLock::Write() { return 0; }
int ProcessLock::Unlock() { return 0; }
void ProcessLock::UnInit() {}
void ProcessLock::FreeLock() {}
ProcessLock *ProcessLock::CreateLock() {
    alignas(16) static uint8_t place[sizeof(ProcessLock)];
    return reinterpret_cast<ProcessLock *>(place);
}

// Whole addresses of operands that instructions carry cut to 32 bits, which is enough to find them in UB again.
void SetModelDeqTensor(void *) {}
void SetModelGatherbSrc0Tensor(uint64_t, const uint32_t) {}
void SetIndexMatrix(void *address) {
    sk_rt_set_register(SK_REGISTER_INDEX_MATRIX, reinterpret_cast<uintptr_t>(address));
}

namespace check {

// GM, UB, L1, L0A, L0B, L0C, BT, FB, whatever kind this core is of.
uint64_t GetHardWarebufferSize(uint8_t index) {
    // table: memories (make tables writes it)
    constexpr uint64_t sizes[] = {1099511627776, 196608, 524288, 65536, 65536, 131072, 1024, 7168};
    // end of table
    return index < sizeof(sizes) / sizeof(sizes[0]) ? sizes[index] : 0;
}

} // namespace check

} // namespace AscendC

namespace sk_cpu {

// The headers ask for their memories with eight requests, in this order, when they are first used.
static uint32_t memoryRequest = 0;

static uint8_t *NextMemory() {
    const SkCoreState &core = *sk_rt_core();
    uint8_t *const memories[] = {core.unifiedBuffer, core.unifiedBuffer, core.l1,        core.l0a,
                                 core.l0b,           core.l0c,           core.biasTable, core.fixpipeBuffer};
    uint8_t *const memory = memories[memoryRequest - 1];
    memoryRequest = memoryRequest == 8 ? 0 : memoryRequest + 1;
    return memory;
}

// What was printed last: the reason of an abort that follows.
static char lastText[1024];

// Host code of the same image calls the same names, while no core runs.
static bool OnCore() { return sk_rt_core() != nullptr; }

static int Print(const char *format, va_list arguments) {
    if (!OnCore()) {
        return vfprintf(stdout, format, arguments);
    }
    const int length = __builtin_vsnprintf(lastText, sizeof(lastText), format, arguments);
    if (length > 0) {
        const uint64_t kept = static_cast<uint64_t>(length);
        sk_rt_print(lastText, kept < sizeof(lastText) ? kept : sizeof(lastText) - 1);
    }
    return length;
}

static int PrintText(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = Print(format, arguments);
    va_end(arguments);
    return length;
}

static void GiveUp() {
    const size_t length = strlen(lastText);
    if (length > 0 && lastText[length - 1] == '\n') {
        lastText[length - 1] = '\0';
    }
    sk_rt_complain(lastText[0] == '\0' ? "the headers gave up without a reason" : lastText);
}

// Before the operator: who this core is, and where the memories are. What the super kernel keeps per core are variables of
// the headers, which it shares.
static void Enter() {
    const SkCoreState &core = *sk_rt_core();
    block_idx = core.blockIdx;
    sub_block_idx = core.subBlockIdx;
    g_taskRation = core.subBlockDim;
    g_coreType = static_cast<int32_t>(core.kind);
    static bool bound = false;
    if (!bound) {
        bound = true;
        memoryRequest = 1;
        AscendC::ConstDefiner::Instance();
        memoryRequest = 0;
    }
}

} // namespace sk_cpu

void *operator new[](size_t bytes) {
    if (sk_cpu::memoryRequest != 0) {
        return sk_cpu::NextMemory();
    }
    return malloc(bytes == 0 ? 1 : bytes);
}

extern "C" {

int printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = sk_cpu::Print(format, arguments);
    va_end(arguments);
    return length;
}
int vprintf(const char *format, va_list arguments) { return sk_cpu::Print(format, arguments); }
int puts(const char *text) { return sk_cpu::PrintText("%s\n", text); }
int putchar(int letter) { return sk_cpu::PrintText("%c", letter); }

// The headers raise SIGABRT behind a message of theirs.
int raise(int number) noexcept {
    if (sk_cpu::OnCore()) {
        sk_cpu::GiveUp();
        return 0;
    }
    return pthread_kill(pthread_self(), number);
}
void abort() noexcept {
    if (sk_cpu::OnCore()) {
        sk_rt_fault(SK_FAULT_API, sk_cpu::lastText[0] == '\0' ? "abort() was called" : sk_cpu::lastText, nullptr, 0);
    }
    raise(SIGABRT);
    _exit(128 + SIGABRT);
}
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) noexcept {
    if (sk_cpu::OnCore()) {
        sk_rt_fault(SK_FAULT_ASSERT, condition, file, line);
    }
    fprintf(stderr, "%s:%u: %s: assertion `%s` failed\n", file, line, function, condition);
    abort();
}

// The cycle counter of the headers: steps of the simulation, so that runs repeat.
int clock_gettime(clockid_t clock, struct timespec *time) noexcept {
    if (!sk_cpu::OnCore()) {
        return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    }
    const int64_t cycle = sk_rt_system_cycle();
    time->tv_sec = cycle / 1000000000;
    time->tv_nsec = cycle % 1000000000;
    return 0;
}
}

#endif
