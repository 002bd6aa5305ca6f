// What every driver of recorded kernels shares: the state of the recorder, memory for the slots, one run of one core.
#pragma once
#include "kernel_operator.h"

namespace recorder {
Core core;
std::vector<std::string> actions;
std::map<const void*, std::string> names;
std::map<const void*, uint64_t> words;
std::map<const void*, int> locks;
const uint8_t* quietBegin;
const uint8_t* quietEnd;

constexpr size_t MOST_SLOTS = 100000, AREAS = 160, AREA = 32768;
static uint64_t memory[MOST_SLOTS][8];
static uint64_t slots[MOST_SLOTS + 1];
static uint64_t workspace[8];
static uint8_t profile[64 + AREAS * AREA];

inline uint64_t* area(size_t number) { return reinterpret_cast<uint64_t*>(profile + 64 + number * AREA); }

/// Forgets the last core: fresh slots and an empty profiling buffer.
inline void start(Core next, size_t slotCount)
{
    names.clear();
    words.clear();
    locks.clear();
    core = next;
    core.slots = slots;
    core.slotCount = slotCount;
    slots[slotCount] = reinterpret_cast<uint64_t>(workspace);
    memset(profile, 0, sizeof profile);
    quietBegin = profile;
    quietEnd = profile + sizeof profile;
    *reinterpret_cast<uint32_t*>(profile + 12) = AREA;
    for (size_t number = 0; number < AREAS; ++number) {
        uint64_t* head = area(number);
        head[0] = 0xbdca8756;
        head[1] = reinterpret_cast<uint64_t>(head + 4);
        head[2] = reinterpret_cast<uint64_t>(head + AREA / 8);
    }
}

/// A slot that points to a word of its own; a lock is watched, and a polled one becomes 1 after two turns.
inline void word(size_t slot, const char* name, uint64_t value, bool watched, bool polled)
{
    memory[slot][0] = value;
    slots[slot] = reinterpret_cast<uint64_t>(memory[slot]);
    names[memory[slot]] = name;
    if (watched) words[memory[slot]] = value;
    if (polled) locks[memory[slot]] = 2;
}

/// Runs one core and prints what it did.
inline void run(int kernel, void (*entry)())
{
    printf("# %d %s %d %d\n", kernel, core.cube ? "aic" : "aiv", (int)core.block, (int)core.sub);
    entry();
    noticeWrites();
    for (const std::string& action : actions) puts(action.c_str());
    actions.clear();
    uint64_t* head = area(core.cube ? core.block + 50 : core.block * core.subs + core.sub);
    for (uint64_t* record = head + 4; record < reinterpret_cast<uint64_t*>(head[1]); record += 2) {
        printf("record %llu\n", (unsigned long long)record[0]);
    }
}
} // namespace recorder

recorder::Variable<uint32_t> g_super_kernel_early_start_config{"config", {}};
recorder::Variable<uint32_t> g_super_kernel_dynamic_block_num{"blocks", {}};
namespace AscendC {
recorder::Variable<GM_ADDR> g_superKernelAutoSyncAllConfigGmBaseAddr{"feed_base", {}};
recorder::Variable<GM_ADDR> g_superKernelAutoSyncAllConfigGmAddr{"feed_addr", {}};
recorder::Variable<uint32_t> g_superKernelAutoSyncAllSyncIdx{"feed_index", {}};
recorder::Variable<uint32_t> g_superKernelAutoSyncAllEnable{"feed_enable", {}};
} // namespace AscendC
