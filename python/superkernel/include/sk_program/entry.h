// Where every core of a launch starts. Included once, behind a program's first source.
#ifndef SK_PROGRAM_ENTRY_H
#define SK_PROGRAM_ENTRY_H

#include "sk_program/launch.h"

extern "C" __attribute__((used, visibility("default"))) void sk_program_entry(uint64_t call) {
#ifdef SK_CPU_DEFINITIONS_H
    sk_cpu::Enter();
#endif
    (*reinterpret_cast<const std::function<void()> *>(call))();
}

#endif
