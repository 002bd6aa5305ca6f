//! The names under which host code includes what our headers (`sk_op_host`) offer.

use std::path::Path;

use crate::fs::{self, FileError};

/// Our header, and the names it goes by.
const SPELLINGS: [(&str, &[&str]); 19] = [
    (
        "sk_op_host/graph.h",
        &[
            "graph/types.h",
            "graph/utils/type_utils.h",
            "graph/ascend_string.h",
            "graph/ge_error_codes.h",
            "graph/operator.h",
            "register/register_types.h",
            "external/graph/types.h",
            "external/graph/operator.h",
            "common/utils/extern_math_util.h",
            "utils/extern_math_util.h",
        ],
    ),
    ("sk_op_host/prototype.h", &["graph/operator_reg.h", "external/graph/operator_reg.h"]),
    (
        "sk_op_host/shapes.h",
        &[
            "exe_graph/runtime/shape.h",
            "exe_graph/runtime/storage_shape.h",
            "exe_graph/runtime/storage_format.h",
            "exe_graph/runtime/tensor.h",
            "runtime/storage_shape.h",
            "runtime/shape.h",
            "runtime/tensor.h",
        ],
    ),
    (
        "sk_op_host/attributes.h",
        &[
            "exe_graph/runtime/runtime_attrs.h",
            "exe_graph/runtime/continuous_vector.h",
            "runtime/continuous_vector.h",
            "runtime/runtime_attrs.h",
        ],
    ),
    (
        "sk_op_host/context.h",
        &[
            "exe_graph/runtime/tiling_context.h",
            "exe_graph/runtime/tiling_parse_context.h",
            "exe_graph/runtime/tiling_data.h",
            "exe_graph/runtime/infer_shape_context.h",
            "exe_graph/runtime/infer_shape_range_context.h",
            "exe_graph/runtime/infer_datatype_context.h",
            "exe_graph/runtime/inferDataType_context.h",
            "exe_graph/runtime/kernel_context.h",
            "exe_graph/runtime/kernel_run_context.h",
            "exe_graph/runtime/extended_kernel_context.h",
            "exe_graph/runtime/compute_node_info.h",
            "runtime/tiling_context.h",
            "runtime/tiling_parse_context.h",
            "runtime/infer_shape_context.h",
            "runtime/infer_datatype_context.h",
            "runtime/infer_shape_range_context.h",
            "runtime/kernel_context.h",
        ],
    ),
    (
        "sk_op_host/platform.h",
        &[
            "platform/platform_info.h",
            "platform/platform_info_def.h",
            "platform/platform_infos_def.h",
            "platform/platform_ascendc.h",
            "platform/soc_spec.h",
            "tiling/platform/platform_ascendc.h",
        ],
    ),
    (
        "sk_op_host/registry.h",
        &["register/op_impl_registry.h", "register/op_impl_registry_api.h", "register/op_impl_kernel_registry.h"],
    ),
    ("sk_op_host/definition.h", &["register/op_def_registry.h", "register/op_def.h", "register/op_def_factory.h"]),
    ("sk_op_host/tiling_data.h", &["register/tilingdata_base.h"]),
    (
        "sk_op_host/log.h",
        &[
            "log/log.h",
            "log/error_code.h",
            "op_common/log/log.h",
            "op_common/log/error_code.h",
            "base/err_msg.h",
            "alog_pub.h",
            "opdev/op_log.h",
            "dlog_pub.h",
            "err_mgr.h",
            "runtime/rt_external_base.h",
            "toolchain/slog.h",
        ],
    ),
    (
        "sk_op_host/util.h",
        &[
            "util/math_util.h",
            "util/shape_util.h",
            "util/const_util.h",
            "util/platform_util.h",
            "op_host/util/math_util.h",
            "op_host/util/shape_util.h",
            "op_host/util/const_util.h",
            "op_host/util/platform_util.h",
            "op_common/op_host/util/math_util.h",
            "op_common/op_host/util/shape_util.h",
            "op_common/op_host/util/const_util.h",
            "op_common/op_host/util/platform_util.h",
            "op_common/op_host/util/opbase_export.h",
            "op_common/op_host/infershape_broadcast_util.h",
            "op_common/op_host/infershape_elewise_util.h",
            "op_common/op_host/infershape_reduce_util.h",
            "op_host/infershape_broadcast_util.h",
            "op_host/infershape_elewise_util.h",
            "op_host/infershape_reduce_util.h",
            "infershape_broadcast_util.h",
            "infershape_elewise_util.h",
            "infershape_reduce_util.h",
        ],
    ),
    (
        "sk_op_host/tiling_class.h",
        &["op_host/tiling_base_class.h", "op_host/tiling_base_util.h", "op_common/op_host/tiling_base_class.h"],
    ),
    (
        "sk_op_host/register_tiling.h",
        &[
            "atvoss/elewise/elewise_tiling.h",
            "atvoss/elewise/elewise_base_struct.h",
            "atvoss/reduce/reduce_tiling_data.h",
            "atvoss/broadcast/broadcast_tiling.h",
            "atvoss/reduce/reduce_tiling.h",
            "op_common/atvoss/elewise/elewise_tiling.h",
            "op_common/atvoss/broadcast/broadcast_tiling.h",
            "op_common/atvoss/reduce/reduce_tiling.h",
        ],
    ),
    ("sk_op_host/acl_rt.h", &["acl/acl_rt.h"]),
    ("sk_op_host/json.h", &["nlohmann/json.hpp"]),
    ("sk_op_host/securec.h", &["securec.h"]),
    (
        "sk_op_host/half.h",
        &[
            "util/fp16.h",
            "util/bfloat16.h",
            "op_host/util/fp16.h",
            "op_host/util/bfloat16.h",
            "op_common/op_host/util/fp16.h",
            "op_common/op_host/util/bfloat16.h",
        ],
    ),
    ("sk_op_host/template_key.h", &["ascendc/host_api/tiling/template_argument.h", "tiling/template_argument.h"]),
    (
        "sk_op_host/tiling_api.h",
        &[
            "tiling/tiling_api.h",
            "kernel_tiling/kernel_tiling.h",
            "tiling/math/power_tiling.h",
            "tiling/math/log_tiling.h",
            "tiling/math/exp_tiling.h",
            "tiling/sort/sort_tiling_intf.h",
            "adv_api/math/power_tiling.h",
            "tiling/matmul/matmul_tiling.h",
            "graph/tensor.h",
        ],
    ),
];

/// All of it, for digests.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    SPELLINGS.iter().flat_map(|(header, names)| std::iter::once(*header).chain(names.iter().copied()))
}

/// Has our headers something under this name?
pub(super) fn is_ours(spelling: &str) -> bool {
    SPELLINGS.iter().any(|(_, names)| names.contains(&spelling))
}

/// Writes a header for every name into `folder`, which includes ours.
pub(super) fn write(folder: &Path) -> Result<(), FileError> {
    for (header, names) in SPELLINGS {
        for name in names {
            let file = folder.join(name);
            fs::create_directories(file.parent().unwrap_or(folder))?;
            fs::write(&file, format!("#include \"{header}\"\n").as_bytes())?;
        }
    }
    Ok(())
}
