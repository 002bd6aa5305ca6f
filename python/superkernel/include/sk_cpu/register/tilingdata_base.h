// Tiling structures as kernels see them: plain structs. The vendor's headers describe them with these macros.
#ifndef SK_CPU_TILINGDATA_BASE_H
#define SK_CPU_TILINGDATA_BASE_H

#include <stdint.h>

#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name) type name = {}
#define TILING_DATA_FIELD_DEF_ARR(type, count, name) type name[count] = {}
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name
#define END_TILING_DATA_DEF };
#define REGISTER_TILING_DATA_CLASS(name, type)

#endif
