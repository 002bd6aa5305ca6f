// Rules of the programming interface, checked where they are broken: a violation ends the run and names the source line.
#ifndef SK_HOST_CHECK_H
#define SK_HOST_CHECK_H

namespace sk_host {
namespace {

// Where the kernel called us: a defaulted last parameter `Site site = Site::Here()` picks up the caller's line.
struct Site {
    const char *file;
    uint32_t line;

    static constexpr Site Here(const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
        return Site{file, line};
    }
};

template <class... Values>
[[noreturn]] __attribute__((noinline, cold)) void Violation(Site site, const char *format, Values... values) {
    char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    __builtin_snprintf(text, sizeof(text), format, values...);
#pragma GCC diagnostic pop
    sk_rt_fault(SK_FAULT_API, text, site.file, site.line);
}

inline bool IsAligned(const volatile void *pointer, uintptr_t alignment) {
    return (reinterpret_cast<uintptr_t>(pointer) & (alignment - 1)) == 0;
}

constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The unit of local memory: what DMA moves and what vector instructions address.
constexpr uint64_t BLOCK_BYTES = 32;

} // namespace
} // namespace sk_host

#endif
