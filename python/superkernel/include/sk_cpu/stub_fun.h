// The intrinsics and hooks that the vendor's headers call in their CPU-debug mode.
#ifndef SK_CPU_STUB_FUN_H
#define SK_CPU_STUB_FUN_H

#include "stub_def.h"
#include "sk_core/intrinsics.h"
#include "sk_core/scalar.h"

// The life of queues and buffers. Nothing depends on these calls.
namespace {

template <class... Arguments> inline void AscendCQueCreate(Arguments...) {}
template <class... Arguments> inline void AscendCBufInit(Arguments...) {}
template <class... Arguments> inline void AscendCBufAlloc(Arguments...) {}
template <class... Arguments> inline void AscendCBufFree(Arguments...) {}
template <class... Arguments> inline void AscendCBufEnque(Arguments...) {}
template <class... Arguments> inline void AscendCBufDeque(Arguments...) {}
template <class... Arguments> inline void AscendCBufGet(Arguments...) {}
template <class... Arguments> inline void AscendCBufAbsAddr(Arguments...) {}
template <class... Arguments> inline void AscendCTBufPoolInit(Arguments...) {}
template <class... Arguments> inline void AscendCTBufPoolResetCheck(Arguments...) {}
template <class... Arguments> inline void AscendCUpdateTbufPoolStatus(Arguments...) {}
template <class... Arguments> inline void AscendCRecordPoolHierarchy(Arguments...) {}

// Called around software barriers that poll global memory: let others run.
inline void sk_cpu_exchange() {
    sk_rt_note(SK_NOTE_EXCHANGE, 0);
    sk_rt_dcci(0, 1);
}
template <class... Arguments> inline void __sync_all_stub(Arguments...) { sk_cpu_exchange(); }
template <class... Arguments> inline void __ib_set_stub(Arguments...) { sk_cpu_exchange(); }
template <class... Arguments> inline void __ib_wait_stub(Arguments...) { sk_cpu_exchange(); }

inline void set_nd_para(uint64_t word) {
    // The headers check their own copy of the register.
    g_fixpipeNdNzParam = word;
    sk_rt_set_register(SK_REGISTER_ND_PARA, word);
}

} // namespace

#endif
