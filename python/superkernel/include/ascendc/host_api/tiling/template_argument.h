// Template arguments of operators, as kernels declare them. When a source is looked at they stay in its text, where the
// builder reads them; compiled they are nothing: the builder names the arguments where it calls the kernel.
#ifndef SK_TEMPLATE_ARGUMENT_H
#define SK_TEMPLATE_ARGUMENT_H

// Headers of a toolkit may have these names already.
#undef ASCENDC_TPL_ARGS_DECL
#undef ASCENDC_TPL_SEL
#undef ASCENDC_TPL_ARGS_SEL
#undef ASCENDC_TPL_UINT_DECL
#undef ASCENDC_TPL_BOOL_DECL
#undef ASCENDC_TPL_FORMAT_DECL
#undef ASCENDC_TPL_DTYPE_DECL
#undef ASCENDC_TPL_DATATYPE_DECL
#undef ASCENDC_TPL_KERNEL_TYPE_DECL
#undef ASCENDC_TPL_UINT_SEL
#undef ASCENDC_TPL_BOOL_SEL
#undef ASCENDC_TPL_FORMAT_SEL
#undef ASCENDC_TPL_DTYPE_SEL
#undef ASCENDC_TPL_DATATYPE_SEL
#undef ASCENDC_TPL_TILING_STRUCT_SEL
#undef ASCENDC_TPL_KERNEL_TYPE_SEL
#undef ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL
#undef ASCENDC_TPL_DETERMINISTIC_SEL
#undef ASCENDC_TPL_UI_RANGE
#undef ASCENDC_TPL_UI_LIST
#undef ASCENDC_TPL_UI_MIX
#undef ASCENDC_TPL_AIV_ONLY
#undef ASCENDC_TPL_AIC_ONLY
#undef ASCENDC_TPL_MIX_AIV_1_0
#undef ASCENDC_TPL_MIX_AIC_1_0
#undef ASCENDC_TPL_MIX_AIC_1_1
#undef ASCENDC_TPL_MIX_AIC_1_2
#undef ASCENDC_TPL_1_BW
#undef ASCENDC_TPL_2_BW
#undef ASCENDC_TPL_4_BW
#undef ASCENDC_TPL_8_BW
#undef ASCENDC_TPL_INPUT
#undef ASCENDC_TPL_OUTPUT

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_INPUT(number) (100000000 + (number))
#define ASCENDC_TPL_OUTPUT(number) (900000000 + (number))

#ifdef SK_OPERATOR_LOOK
#define ASCENDC_TPL_ARGS_DECL(kernel, ...) sk_look_template(kernel, __VA_ARGS__)
#define ASCENDC_TPL_SEL(...) sk_look_selections(__VA_ARGS__)
#define ASCENDC_TPL_ARGS_SEL(...) sk_look_selection(__VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(name, width, ...) sk_look_uint(sk_##name, width, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(name, ...) sk_look_bool(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(name, ...) sk_look_number(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_DECL(name, ...) sk_look_number(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) sk_look_shared_type(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) sk_look_type(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(name, ...) sk_look_numbers(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(name, ...) sk_look_values(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(name, ...) sk_look_values(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_SEL(name, ...) sk_look_values(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(name, ...) sk_look_values(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(name, ...) sk_look_values(sk_##name, __VA_ARGS__)
#define ASCENDC_TPL_TILING_STRUCT_SEL(type) sk_look_struct(type)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(value) sk_look_kernel_type(value)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) sk_look_deterministic(__VA_ARGS__)
#else
#define ASCENDC_TPL_ARGS_DECL(...) static_assert(true, "")
#define ASCENDC_TPL_SEL(...) static_assert(true, "")
#endif

#endif
