// Intrinsics that exist on the chip and have no meaning here yet: calling one ends the run and names it.
#ifndef SK_CORE_NOT_EMULATED_H
#define SK_CORE_NOT_EMULATED_H

#define SK_CORE_NOT_EMULATED(name)                                                                                     \
    namespace {                                                                                                        \
    template <class... Arguments> inline void name(Arguments...) {                                                     \
        sk_rt_fault(SK_FAULT_API, "instruction " #name " is not emulated", __FILE__, __LINE__);                        \
    }                                                                                                                  \
    }

SK_CORE_NOT_EMULATED(load_image_to_cbuf)
SK_CORE_NOT_EMULATED(hset_flag)
SK_CORE_NOT_EMULATED(hwait_flag)
SK_CORE_NOT_EMULATED(vld_va_reg)

#undef SK_CORE_NOT_EMULATED

#endif
