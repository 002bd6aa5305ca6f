// What differs from operator to operator and the vendor's headers want to know: declared in front of them, so that one
// precompiled form serves operators of any number of blocks.
#ifndef SK_CPU_OPERATOR_FORM_H
#define SK_CPU_OPERATOR_FORM_H

static inline unsigned sk_cpu_static_block_num();

#endif
