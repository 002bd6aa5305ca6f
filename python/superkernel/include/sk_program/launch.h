// Launches of a program whose host and kernel code share one file. `superkernel sim` turns `kernel<<<...>>>(...)` into
// calls of these.
#ifndef SK_PROGRAM_LAUNCH_H
#define SK_PROGRAM_LAUNCH_H

#include <stdint.h>

#include <functional>
#include <tuple>
#include <utility>

// One launch, as src/sim/launch/program.rs reads it.
struct SkProgramLaunch {
    const char *kernel;
    const char *kernelType;
    const char *file;
    uint32_t line;
    int64_t blocks;
    uint64_t call; // a std::function<void()> that runs the kernel on one core
};

// Memories of the simulated chip, numbered as in src/aicore/memory.rs; at the end what is kept for messages between cores.
enum SkProgramMemory : uint32_t {
    SK_PROGRAM_MEMORY_UB = 0,
    SK_PROGRAM_MEMORY_L1 = 1,
    SK_PROGRAM_MEMORY_L0A = 2,
    SK_PROGRAM_MEMORY_L0B = 3,
    SK_PROGRAM_MEMORY_L0C = 4,
    SK_PROGRAM_MEMORY_BT = 5,
    SK_PROGRAM_MEMORY_FB = 6,
    SK_PROGRAM_MEMORY_MESSAGES = 7,
};

extern "C" {
// Runs a kernel to its end; a failure ends the program with a report.
void sk_rt_program_launch(const SkProgramLaunch *launch) noexcept;
// Global memory. Null if there is no more of it.
void *sk_rt_program_allocate(uint64_t bytes) noexcept;
// 0 if there was no such memory.
int sk_rt_program_release(void *memory) noexcept;
// Cores of the simulated chip: cube cores, or vector cores.
uint32_t sk_rt_program_cores(uint32_t isVector) noexcept;
// Bytes of a memory: SkProgramMemory.
uint64_t sk_rt_program_memory(uint32_t memory) noexcept;
// The short name of the simulated SoC.
const char *sk_rt_program_soc(void) noexcept;
}

namespace sk_program {

struct Site {
    const char *kernel;
    const char *kernelType;
    const char *file;
    uint32_t line;
};

// The configuration of a launch: blocks, and what only the device needs.
template <class Number, class... Rest> inline int64_t Blocks(Number blocks, Rest &&...) {
    return static_cast<int64_t>(blocks);
}

// Arguments are evaluated once, by the host; every core gets copies.
template <class Kernel, class... Arguments>
inline void Run(const Site &site, int64_t blocks, Kernel kernel, Arguments &&...arguments) {
    const auto values = std::make_tuple(std::forward<Arguments>(arguments)...);
    const std::function<void()> call = [&] { std::apply(kernel, values); };
    const SkProgramLaunch launch{site.kernel, site.kernelType, site.file,
                                 site.line,   blocks,          reinterpret_cast<uintptr_t>(&call)};
    sk_rt_program_launch(&launch);
}

} // namespace sk_program

#endif
