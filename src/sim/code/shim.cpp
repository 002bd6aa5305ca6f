// Binds a kernel to the simulator: every service jumps through a table that the simulator fills after loading. Compiled
// once, linked to every kernel.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include <exception>

struct SkCoreState;
struct SkInstruction;
struct SkProgramLaunch;

extern "C" {

// Same order as `table` in hooks.rs.
struct SkShimTable {
    SkCoreState *(*core)(void);
    void (*cross_core_set)(uint32_t, uint32_t, uint32_t);
    void (*wait_flag)(uint32_t, uint32_t, const void *);
    void (*intra_block_set)(uint32_t, uint32_t);
    void (*intra_block_wait)(uint32_t, uint32_t, const void *);
    void (*set_ffts_base_addr)(uint64_t);
    void (*pipe_flag)(uint32_t, uint32_t, uint32_t, uint32_t, const char *, uint32_t, const void *);
    void (*dcci)(uint64_t, uint32_t, const void *);
    int64_t (*system_cycle)(void);
    void (*work)(uint32_t, uint64_t);
    void (*fault)(uint32_t, const char *, const char *, uint32_t);
    void (*print)(const char *, uint64_t);
    void (*note)(uint32_t, uint64_t);
    void (*op_begin)(uint32_t);
    void (*op_end)(uint32_t);
    void (*sub_kernel_begin)(uint64_t);
    void (*sub_kernel_end)(uint64_t);
    void (*spin)(void);
    void (*issue)(const SkInstruction *, const void *);
    void (*set_register)(uint32_t, uint64_t);
    uint64_t (*get_register)(uint32_t);
    uint8_t *(*system_workspace)(void);
    void (*pipe_barrier)(uint32_t);
    void (*queue)(uint32_t, const void *, uint32_t, uint64_t, const char *, const char *, uint32_t);
    void (*scalar)(const volatile void *, uint32_t, uint32_t, const char *, uint32_t);
    void (*program_launch)(const SkProgramLaunch *);
    void *(*program_allocate)(uint64_t);
    int (*program_release)(void *);
    uint32_t (*program_cores)(uint32_t);
    uint64_t (*program_memory)(uint32_t);
    const char *(*program_soc)(void);
    void (*drain)(void);
    uint32_t (*access)(uint64_t, uint64_t, uint32_t, uint64_t, const void *);
    uint64_t (*bypass)(const volatile void *, uint32_t, uint32_t, uint64_t);
    void (*stare)(uint64_t, uint64_t, const void *);
    void (*look)(uint64_t);
    void (*complain)(const char *, const void *);
    void *end;
};

__attribute__((visibility("default"))) SkShimTable sk_shim_table = {};
// What the simulator wants to hear of, set for every launch.
__attribute__((visibility("default"))) uint32_t sk_rt_watch = 0;

#define SK_HIDDEN __attribute__((visibility("hidden")))
// As in hooks.rs.
#define SK_FAULT_EXCEPTION 8

SK_HIDDEN SkCoreState *sk_rt_core(void) { return sk_shim_table.core(); }
SK_HIDDEN void sk_rt_cross_core_set(uint32_t pipe, uint32_t mode, uint32_t flag) {
    sk_shim_table.cross_core_set(pipe, mode, flag);
}
SK_HIDDEN void sk_rt_wait_flag(uint32_t pipe, uint32_t flag) {
    sk_shim_table.wait_flag(pipe, flag, __builtin_frame_address(0));
}
SK_HIDDEN void sk_rt_intra_block_set(uint32_t pipe, uint32_t id) { sk_shim_table.intra_block_set(pipe, id); }
SK_HIDDEN void sk_rt_intra_block_wait(uint32_t pipe, uint32_t id) {
    sk_shim_table.intra_block_wait(pipe, id, __builtin_frame_address(0));
}
SK_HIDDEN void sk_rt_set_ffts_base_addr(uint64_t address) { sk_shim_table.set_ffts_base_addr(address); }
SK_HIDDEN void sk_rt_pipe_flag(uint32_t form, uint32_t source, uint32_t target, uint32_t id, const char *file,
                               uint32_t line) {
    sk_shim_table.pipe_flag(form, source, target, id, file, line, __builtin_frame_address(0));
}
SK_HIDDEN void sk_rt_pipe_barrier(uint32_t pipe) { sk_shim_table.pipe_barrier(pipe); }
SK_HIDDEN void sk_rt_queue(uint32_t action, const void *buffer, uint32_t pipe, uint64_t bytes, const char *position,
                           const char *file, uint32_t line) {
    sk_shim_table.queue(action, buffer, pipe, bytes, position, file, line);
}
SK_HIDDEN void sk_rt_scalar(const volatile void *address, uint32_t bytes, uint32_t access, const char *file,
                            uint32_t line) {
    sk_shim_table.scalar(address, bytes, access, file, line);
}
SK_HIDDEN void sk_rt_dcci(uint64_t address, uint32_t whole) {
    sk_shim_table.dcci(address, whole, __builtin_frame_address(0));
}
SK_HIDDEN int64_t sk_rt_system_cycle(void) { return sk_shim_table.system_cycle(); }
SK_HIDDEN void sk_rt_work(uint32_t pipe, uint64_t bytes) { sk_shim_table.work(pipe, bytes); }
SK_HIDDEN void sk_rt_fault(uint32_t fault, const char *text, const char *file, uint32_t line) {
    sk_shim_table.fault(fault, text, file, line);
}
SK_HIDDEN void sk_rt_print(const char *text, uint64_t length) { sk_shim_table.print(text, length); }
SK_HIDDEN void sk_rt_complain(const char *text) { sk_shim_table.complain(text, __builtin_frame_address(0)); }
SK_HIDDEN void sk_rt_note(uint32_t note, uint64_t value) { sk_shim_table.note(note, value); }
SK_HIDDEN void sk_rt_op_begin(uint32_t position) { sk_shim_table.op_begin(position); }
SK_HIDDEN void sk_rt_op_end(uint32_t position) { sk_shim_table.op_end(position); }
SK_HIDDEN void sk_rt_sub_kernel_begin(uint64_t offset) { sk_shim_table.sub_kernel_begin(offset); }
SK_HIDDEN void sk_rt_sub_kernel_end(uint64_t offset) { sk_shim_table.sub_kernel_end(offset); }
// Lets others run.
SK_HIDDEN void sk_rt_spin(void) { sk_shim_table.spin(); }
SK_HIDDEN void sk_rt_issue(const SkInstruction *instruction) {
    sk_shim_table.issue(instruction, __builtin_frame_address(0));
}
SK_HIDDEN void sk_rt_set_register(uint32_t number, uint64_t value) { sk_shim_table.set_register(number, value); }
SK_HIDDEN uint64_t sk_rt_get_register(uint32_t number) { return sk_shim_table.get_register(number); }
SK_HIDDEN uint8_t *sk_rt_system_workspace(void) { return sk_shim_table.system_workspace(); }

SK_HIDDEN uint64_t sk_rt_bypass(const volatile void *address, uint32_t bytes, uint32_t isWrite, uint64_t value) {
    return sk_shim_table.bypass(address, bytes, isWrite, value);
}

// Services for host code that runs in the same image.
SK_HIDDEN void sk_rt_program_launch(const SkProgramLaunch *launch) { sk_shim_table.program_launch(launch); }
SK_HIDDEN void *sk_rt_program_allocate(uint64_t bytes) { return sk_shim_table.program_allocate(bytes); }
SK_HIDDEN int sk_rt_program_release(void *memory) { return sk_shim_table.program_release(memory); }
SK_HIDDEN uint32_t sk_rt_program_cores(uint32_t isVector) { return sk_shim_table.program_cores(isVector); }
SK_HIDDEN uint64_t sk_rt_program_memory(uint32_t memory) { return sk_shim_table.program_memory(memory); }
SK_HIDDEN const char *sk_rt_program_soc(void) { return sk_shim_table.program_soc(); }

// Argument checks of the vendor's headers, whatever they are called: the core makes its own.
SK_HIDDEN int sk_rt_agree(void) { return 1; }

// Where a program's cores start: only programs have host code.
__attribute__((weak)) void sk_program_entry(uint64_t call);

// Variables of a kernel belong to cores and are exchanged between them: none of them is ever destroyed. Those of a
// program, and what its host code registered, come to their end with the process.
SK_HIDDEN int __cxa_atexit(void (*function)(void *), void *argument, void *image) {
    using Register = int (*)(void (*)(void *), void *, void *);
    static const auto real = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "__cxa_atexit"));
    return sk_program_entry == nullptr || real == nullptr ? 0 : real(function, argument, image);
}

// Runs the code of a core: `entry` takes nothing, or the argument. An exception must not leave it: behind it are frames
// that no exception can cross.
__attribute__((visibility("default"))) void sk_shim_enter(void *entry, uint32_t has_argument, uint64_t argument) {
    char text[256] = "kernel code threw an exception";
    try {
        if (has_argument != 0) {
            reinterpret_cast<void (*)(uint64_t)>(entry)(argument);
        } else {
            reinterpret_cast<void (*)()>(entry)();
        }
        return;
    } catch (const std::exception &error) {
        snprintf(text, sizeof text, "kernel code threw an exception: %s", error.what());
    } catch (...) {
    }
    sk_shim_table.fault(SK_FAULT_EXCEPTION, text, nullptr, 0);
}

// The same for the host code of a program, which ends with an exception that nobody catches as any program does.
__attribute__((visibility("default"))) int sk_shim_main(void *main, int count, const char *const *arguments) noexcept {
    return reinterpret_cast<int (*)(int, const char *const *)>(main)(count, arguments);
}

// A kernel compiled with -fsanitize-coverage=trace-pc calls this from every basic block: even loops that never touch
// the device interface can then be interrupted and counted.
SK_HIDDEN void __sanitizer_cov_trace_pc(void) {
    static uint32_t calls = 0;
    if ((++calls & 0xfff) == 0) {
        sk_shim_table.spin();
    }
}
}
