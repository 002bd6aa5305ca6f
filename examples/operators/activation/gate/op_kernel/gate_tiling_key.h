#ifndef GATE_TILING_KEY_H
#define GATE_TILING_KEY_H

#include "ascendc/host_api/tiling/template_argument.h"

#define GATE_RELU 10
#define GATE_SQUARE 20

ASCENDC_TPL_ARGS_DECL(Gate, ASCENDC_TPL_DATATYPE_DECL(T, 0, 1),
                      ASCENDC_TPL_UINT_DECL(MODE, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_LIST, GATE_RELU, GATE_SQUARE),
                      ASCENDC_TPL_BOOL_DECL(LIMITED, 0, 1));

ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
                                     ASCENDC_TPL_DATATYPE_SEL(T, 0, 1),
                                     ASCENDC_TPL_UINT_SEL(MODE, ASCENDC_TPL_UI_LIST, GATE_RELU, GATE_SQUARE),
                                     ASCENDC_TPL_BOOL_SEL(LIMITED, 0, 1)), );

#endif
