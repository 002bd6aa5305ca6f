// What the host's library says about types, under the name kernels know it by.
#ifndef SK_HOST_TRAITS_H
#define SK_HOST_TRAITS_H

#include <type_traits>

namespace AscendC {
namespace Std {
// clang-format off
using std::add_const; using std::add_const_t; using std::add_cv; using std::add_cv_t; using std::add_lvalue_reference;
using std::add_lvalue_reference_t; using std::add_pointer; using std::add_pointer_t; using std::add_rvalue_reference;
using std::add_rvalue_reference_t; using std::add_volatile; using std::add_volatile_t; using std::bool_constant;
using std::conditional; using std::conditional_t; using std::decay; using std::decay_t; using std::enable_if;
using std::enable_if_t; using std::false_type; using std::integral_constant; using std::is_array; using std::is_array_v;
using std::is_base_of; using std::is_base_of_v; using std::is_class; using std::is_class_v; using std::is_const;
using std::is_const_v; using std::is_constructible; using std::is_constructible_v; using std::is_convertible;
using std::is_convertible_v; using std::is_enum; using std::is_enum_v; using std::is_floating_point;
using std::is_floating_point_v; using std::is_integral; using std::is_integral_v; using std::is_pointer;
using std::is_pointer_v; using std::is_reference; using std::is_reference_v; using std::is_same; using std::is_same_v;
using std::is_signed; using std::is_signed_v; using std::is_unsigned; using std::is_unsigned_v; using std::is_void;
using std::is_void_v; using std::remove_const; using std::remove_const_t; using std::remove_cv; using std::remove_cv_t;
using std::remove_pointer; using std::remove_pointer_t; using std::remove_reference; using std::remove_reference_t;
using std::remove_volatile; using std::remove_volatile_t; using std::true_type; using std::void_t;
// clang-format on
} // namespace Std
} // namespace AscendC

#endif
