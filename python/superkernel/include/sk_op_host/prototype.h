// How graphs describe an operator: REG_OP(Type).INPUT(x, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(Type). The operator's
// definition says the same, so that this is only read over.
#ifndef SK_OP_HOST_PROTOTYPE_H
#define SK_OP_HOST_PROTOTYPE_H

#include "sk_op_host/graph.h"

namespace sk_op_host {

struct Prototype {
    Prototype &Part() { return *this; }
};

} // namespace sk_op_host

#define REG_OP(type) [[maybe_unused]] static ::sk_op_host::Prototype sk_prototype_##type = ::sk_op_host::Prototype()
#define OP_END_FACTORY_REG(type) Part();
#define INPUT(...) Part()
#define OPTIONAL_INPUT(...) Part()
#define DYNAMIC_INPUT(...) Part()
#define OUTPUT(...) Part()
#define OPTIONAL_OUTPUT(...) Part()
#define DYNAMIC_OUTPUT(...) Part()
#define REQUIRED_ATTR(...) Part()
#define ATTR(...) Part()
#define DATATYPE(...) Part()
#define GRAPH(...) Part()
#define DYNAMIC_GRAPH(...) Part()

#endif
