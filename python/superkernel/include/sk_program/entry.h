// Where every core of a launch starts. Included once, behind a program's first source.
#ifndef SK_PROGRAM_ENTRY_H
#define SK_PROGRAM_ENTRY_H

#include "sk_program/launch.h"

// Of sk_host/runtime.h, which a source with host code only does not include.
extern "C" {
extern uint32_t sk_rt_watch;
void sk_rt_sub_kernel_begin(uint64_t offset) noexcept;
void sk_rt_sub_kernel_end(uint64_t offset) noexcept;
void sk_rt_note(uint32_t note, uint64_t value) noexcept;
}

extern "C" __attribute__((used, visibility("default"))) void sk_program_entry(uint64_t call) {
#ifdef SK_CPU_DEFINITIONS_H
    sk_cpu::Enter();
#endif
    // SK_WATCH_KERNEL, and SK_NOTE_WATCHED: who asks for it has built the program with hooks.
    const bool is_watched = (sk_rt_watch & 4) != 0;
    if (is_watched) {
        sk_rt_sub_kernel_begin(0);
        sk_rt_note(10, 0);
    }
    (*reinterpret_cast<const std::function<void()> *>(call))();
    if (is_watched) {
        sk_rt_sub_kernel_end(0);
    }
}

#endif
