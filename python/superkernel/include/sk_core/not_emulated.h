// Intrinsics that exist on the chip and have no meaning here yet: calling one ends the run and names it.
#ifndef SK_CORE_NOT_EMULATED_H
#define SK_CORE_NOT_EMULATED_H

#define SK_CORE_NOT_EMULATED(name)                                                                                     \
    namespace {                                                                                                        \
    template <class... Arguments> inline void name(Arguments...) {                                                     \
        sk_rt_fault(SK_FAULT_API, "instruction " #name " is not emulated", __FILE__, __LINE__);                        \
    }                                                                                                                  \
    }

SK_CORE_NOT_EMULATED(copy_cbuf_to_bt)
SK_CORE_NOT_EMULATED(copy_cbuf_to_fbuf)
SK_CORE_NOT_EMULATED(copy_gm_to_cbuf_multi_nd2nz_b8)
SK_CORE_NOT_EMULATED(copy_gm_to_cbuf_multi_nd2nz_b16)
SK_CORE_NOT_EMULATED(copy_gm_to_cbuf_multi_nd2nz_b32s)
SK_CORE_NOT_EMULATED(copy_matrix_cbuf_to_cc)
SK_CORE_NOT_EMULATED(copy_matrix_cc_to_gm)
SK_CORE_NOT_EMULATED(copy_matrix_cc_to_cbuf)
SK_CORE_NOT_EMULATED(create_cbuf_matrix)
SK_CORE_NOT_EMULATED(create_cbuf_matrix_bf16)
SK_CORE_NOT_EMULATED(create_ca_matrix)
SK_CORE_NOT_EMULATED(create_ca_matrix_bf16)
SK_CORE_NOT_EMULATED(create_cb_matrix)
SK_CORE_NOT_EMULATED(create_cb_matrix_bf16)
SK_CORE_NOT_EMULATED(load_cbuf_to_ca)
SK_CORE_NOT_EMULATED(load_cbuf_to_cb)
SK_CORE_NOT_EMULATED(load_cbuf_to_ca_s4)
SK_CORE_NOT_EMULATED(load_cbuf_to_cb_s4)
SK_CORE_NOT_EMULATED(load_cbuf_to_ca_transpose)
SK_CORE_NOT_EMULATED(load_cbuf_to_cb_transpose)
SK_CORE_NOT_EMULATED(load_cbuf_to_cb_transpose_s4)
SK_CORE_NOT_EMULATED(load_cbuf_to_cb_sp)
SK_CORE_NOT_EMULATED(load_gm_to_ca)
SK_CORE_NOT_EMULATED(load_gm_to_cb)
SK_CORE_NOT_EMULATED(load_gm_to_cbuf)
SK_CORE_NOT_EMULATED(load_gm_to_ca_s4)
SK_CORE_NOT_EMULATED(load_gm_to_cb_s4)
SK_CORE_NOT_EMULATED(load_gm_to_cbuf_s4)
SK_CORE_NOT_EMULATED(load_image_to_cbuf)
SK_CORE_NOT_EMULATED(img2colv2_cbuf_to_ca)
SK_CORE_NOT_EMULATED(img2colv2_cbuf_to_cb)
SK_CORE_NOT_EMULATED(img2colv2_cbuf_to_ca_s4)
SK_CORE_NOT_EMULATED(img2colv2_cbuf_to_cb_s4)
SK_CORE_NOT_EMULATED(mad)
SK_CORE_NOT_EMULATED(mad_s4)
SK_CORE_NOT_EMULATED(mad_sp)
SK_CORE_NOT_EMULATED(hset_flag)
SK_CORE_NOT_EMULATED(hwait_flag)
SK_CORE_NOT_EMULATED(vld_va_reg)
SK_CORE_NOT_EMULATED(set_aipp_spr_0)
SK_CORE_NOT_EMULATED(set_aipp_spr_1)
SK_CORE_NOT_EMULATED(set_aipp_spr_2)
SK_CORE_NOT_EMULATED(set_aipp_spr_3)
SK_CORE_NOT_EMULATED(set_aipp_spr_4)
SK_CORE_NOT_EMULATED(set_aipp_spr_5)
SK_CORE_NOT_EMULATED(set_aipp_spr_6)
SK_CORE_NOT_EMULATED(set_aipp_spr_7)
SK_CORE_NOT_EMULATED(set_aipp_spr_8)
SK_CORE_NOT_EMULATED(set_aipp_spr_9)
SK_CORE_NOT_EMULATED(set_aipp_spr_18)
SK_CORE_NOT_EMULATED(set_aipp_spr_19)
SK_CORE_NOT_EMULATED(set_aipp_spr_20)
SK_CORE_NOT_EMULATED(set_aipp_spr_21)
SK_CORE_NOT_EMULATED(set_data_exp_0)
SK_CORE_NOT_EMULATED(set_data_exp_1)
SK_CORE_NOT_EMULATED(set_data_exp_2)
SK_CORE_NOT_EMULATED(set_data_exp_3)

#undef SK_CORE_NOT_EMULATED

#endif
