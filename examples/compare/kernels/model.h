// Shapes of the sample model. Small, so that the simulator is quick; every row is a whole number of 32-byte blocks.
#ifndef COMPARE_MODEL_H
#define COMPARE_MODEL_H

#include "kernel_operator.h"

namespace model {

constexpr uint32_t TOKENS = 32;
constexpr uint32_t WIDTH = 64;   // features of a token
constexpr uint32_t EXPERTS = 16; // columns of the router
constexpr uint32_t TOP = 8;      // experts chosen per token
constexpr uint32_t HIDDEN = 32;  // features inside an expert
constexpr uint32_t LANES = 8;    // floats in a 32-byte block

} // namespace model

#endif
