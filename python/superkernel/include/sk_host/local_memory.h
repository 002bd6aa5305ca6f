// Local memories.
//
// On the device a local pointer is an offset from 0. Here both forms are accepted: an offset, and an address inside the
// core's own buffer (what LocalTensor::GetPhyAddr gives).
#ifndef SK_HOST_LOCAL_MEMORY_H
#define SK_HOST_LOCAL_MEMORY_H

namespace sk_host {
namespace {

struct Memory {
    uint8_t *base;
    uint64_t size;
    const char *name;
};

inline Memory UnifiedBuffer() { return {sk_rt_core()->unifiedBuffer, sk_rt_core()->unifiedBufferSize, "UB"}; }
inline Memory L1() { return {sk_rt_core()->l1, sk_rt_core()->l1Size, "L1"}; }
inline Memory L0A() { return {sk_rt_core()->l0a, sk_rt_core()->l0aSize, "L0A"}; }
inline Memory L0B() { return {sk_rt_core()->l0b, sk_rt_core()->l0bSize, "L0B"}; }
inline Memory BiasTable() { return {sk_rt_core()->biasTable, sk_rt_core()->biasTableSize, "BT"}; }
inline Memory FixpipeBuffer() { return {sk_rt_core()->fixpipeBuffer, sk_rt_core()->fixpipeBufferSize, "FB"}; }
inline Memory L0C() { return {sk_rt_core()->l0c, sk_rt_core()->l0cSize, "L0C"}; }

inline const char *KindName() { return sk_rt_core()->kind == 1 ? "AIC" : "AIV"; }

// The host address of `bytes` bytes of local memory.
inline uint8_t *Resolve(const Memory &memory, const volatile void *pointer, uint64_t bytes, Site site) {
    const uint64_t address = reinterpret_cast<uintptr_t>(pointer);
    const uint64_t base = reinterpret_cast<uintptr_t>(memory.base);
    const uint64_t offset = address >= base && address - base <= memory.size ? address - base : address;
    if (memory.size == 0) {
        Violation(site, "a core of kind %s has no %s", KindName(), memory.name);
    }
    if (offset > memory.size || bytes > memory.size - offset) {
        Violation(site, "%llu bytes at offset %llu of %s: it has only %llu bytes", (unsigned long long)bytes,
                  (unsigned long long)offset, memory.name, (unsigned long long)memory.size);
    }
    return memory.base + offset;
}

inline void RequireBlockAligned(const uint8_t *pointer, const Memory &memory, const char *call, Site site) {
    const uint64_t offset = static_cast<uint64_t>(pointer - memory.base);
    if (offset % BLOCK_BYTES != 0) {
        Violation(site, "%s: offset %llu of %s is not a multiple of 32", call, (unsigned long long)offset, memory.name);
    }
}

// Bytes from the first one of `bursts` pieces to behind the last one.
inline uint64_t Span(uint64_t bursts, uint64_t length, uint64_t step) {
    return bursts == 0 ? 0 : (bursts - 1) * step + length;
}

} // namespace
} // namespace sk_host

#endif
