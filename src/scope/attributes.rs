//! Where each planner field lives among a node's attributes, for every reader of graphs.

use super::brackets::Bracket;
use super::error::ScopeError;
use super::graph::{Node, Role, TaskType};

/// The value of one attribute, reduced to what the planner can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AttributeValue {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A truth value.
    Switch(bool),
    /// Anything else: a list, a tensor, a message.
    Other,
}

impl AttributeValue {
    fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the string `{text}`"),
            Self::Integer(number) => format!("the number {number}"),
            Self::Switch(on) => format!("the truth value {on}"),
            Self::Other => "a list or message".to_owned(),
        }
    }
}

/// Stores attribute `key` in the field of `node` it belongs to; attributes that no field is made from are skipped.
pub(crate) fn apply(node: &mut Node, key: &str, value: &AttributeValue) -> Result<(), ScopeError> {
    let wrong = |expected: &'static str| ScopeError::Attribute {
        node: node.name.clone(),
        key: key.to_owned(),
        found: value.describe(),
        expected,
    };
    let text = || match value {
        AttributeValue::Text(text) => Ok(text.clone()),
        AttributeValue::Integer(_) | AttributeValue::Switch(_) | AttributeValue::Other => Err(wrong("a string")),
    };
    let integer = || match value {
        AttributeValue::Integer(number) => Ok(*number),
        AttributeValue::Text(_) | AttributeValue::Switch(_) | AttributeValue::Other => Err(wrong("an integer")),
    };
    // Dumps write truth values as `b: true`, some writers as `i: 1`.
    let switch = || match value {
        AttributeValue::Switch(on) => Ok(*on),
        AttributeValue::Integer(0) => Ok(false),
        AttributeValue::Integer(1) => Ok(true),
        AttributeValue::Integer(_) | AttributeValue::Text(_) | AttributeValue::Other => Err(wrong("a truth value")),
    };
    let cores = || match value {
        AttributeValue::Text(text) => core_count(text).ok_or_else(|| wrong("a decimal number of cores")),
        AttributeValue::Integer(number) => {
            u32::try_from(*number).map(Some).map_err(|_| wrong("a decimal number of cores"))
        }
        AttributeValue::Switch(_) | AttributeValue::Other => Err(wrong("a decimal number of cores")),
    };
    match key {
        "_super_kernel_scope" => node.scope = text()?,
        "_super_kernel_options" => node.options = text()?,
        "supportSuperKernel" => node.support = integer()?,
        "local_memory_size" => node.local_memory_size = integer()?,
        "_tiling_sink_op" => node.tiling_sink = switch()?,
        "_op_ensure_reuse_binary" => node.reuse_binary = switch()?,
        "_hccl" => node.hccl = switch()?,
        "_op_aicore_num" => node.aicore_num = cores()?,
        "_op_vectorcore_num" => node.vectorcore_num = cores()?,
        "superkernel_kernelname" => node.kernel_name = text()?,
        "bin_file_path" => node.bin_path = text()?,
        "json_file_path" => node.json_path = text()?,
        "SPK_task_type" => {
            node.task_type = TaskType::from_name(&text()?).ok_or_else(|| wrong("`normal` or `dynamic`"))?;
        }
        "_no_task" => node.no_task = switch()?,
        // A node that begins or ends a range has the arguments of the call.
        "name" | "scope" | "scope_name" if Bracket::of_type(&node.op_type).is_some() => node.scope = text()?,
        "options" if Bracket::of_type(&node.op_type).is_some() => node.options = text()?,
        _ => {
            if let Role::Event(kind, _) = node.role()
                && kind.id_attribute() == key
            {
                node.event_id = Some(integer()?);
            }
        }
    }
    Ok(())
}

/// `Some(None)` for an empty string: no limit.
fn core_count(text: &str) -> Option<Option<u32>> {
    if text.is_empty() {
        return Some(None);
    }
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok().map(Some)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> AttributeValue {
        AttributeValue::Text(value.to_owned())
    }

    #[test]
    fn attributes_reach_their_fields() {
        let mut node = Node::new("a", "MatMulV2", 1, 0);
        for (key, value) in [
            ("_super_kernel_scope", text("sp1")),
            ("_super_kernel_options", text("stream-fusion=1")),
            ("supportSuperKernel", AttributeValue::Integer(1)),
            ("_hccl", AttributeValue::Switch(true)),
            ("_tiling_sink_op", AttributeValue::Integer(1)),
            ("_op_aicore_num", text("20")),
            ("_op_vectorcore_num", text("")),
            ("SPK_task_type", text("dynamic")),
            ("event_id", AttributeValue::Integer(4)),
            ("anything", AttributeValue::Other),
        ] {
            apply(&mut node, key, &value).unwrap();
        }
        assert_eq!((node.scope.as_str(), node.options.as_str(), node.support), ("sp1", "stream-fusion=1", 1));
        assert!(node.hccl && node.tiling_sink);
        assert_eq!((node.aicore_num, node.vectorcore_num), (Some(20), None));
        assert_eq!(node.task_type, TaskType::Dynamic);
        assert_eq!(node.event_id, None, "only event ends have an event id");
    }

    #[test]
    fn the_id_of_a_notify_has_its_own_attribute() {
        let mut node = Node::new("s", "SendNotify", 1, 0);
        apply(&mut node, "event_id", &AttributeValue::Integer(4)).unwrap();
        assert_eq!(node.event_id, None);
        apply(&mut node, "notify_id", &AttributeValue::Integer(5)).unwrap();
        assert_eq!(node.event_id, Some(5));
    }

    #[test]
    fn a_wrong_kind_of_value_is_named() {
        let mut node = Node::new("a", "Add", 1, 0);
        let error = apply(&mut node, "supportSuperKernel", &text("1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "node `a`: attribute `supportSuperKernel` is the string `1`; expected an integer"
        );
        assert!(apply(&mut node, "_op_aicore_num", &text("+4")).is_err());
        assert!(apply(&mut node, "SPK_task_type", &text("static")).is_err());
    }
}
