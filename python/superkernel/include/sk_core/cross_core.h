// Flags between cores: one meaning for the built-in subset and for the vendor's headers.
#ifndef SK_CORE_CROSS_CORE_H
#define SK_CORE_CROSS_CORE_H

namespace {

// Scheduler message: bits 0-3 the constant 1, bits 4-5 the mode, bits 8-11 the flag.
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message) {
    sk_rt_cross_core_set(pipe, static_cast<uint32_t>(message >> 4 & 0x3), static_cast<uint32_t>(message >> 8 & 0xf));
}
inline void set_ffts_base_addr(uint64_t address) { sk_rt_set_ffts_base_addr(address); }

#if __NPU_ARCH__ == 3510
inline void wait_flag_dev(pipe_t pipe, int64_t flag) { sk_rt_wait_flag(pipe, static_cast<uint32_t>(flag & 0xf)); }
inline void set_intra_block(pipe_t pipe, int64_t id) { sk_rt_intra_block_set(pipe, static_cast<uint32_t>(id)); }
inline void wait_intra_block(pipe_t pipe, int64_t id) { sk_rt_intra_block_wait(pipe, static_cast<uint32_t>(id)); }
#else
inline void wait_flag_dev(int64_t flag) { sk_rt_wait_flag(PIPE_S, static_cast<uint32_t>(flag & 0xf)); }
#endif

} // namespace

#endif
