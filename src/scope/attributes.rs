//! Where each planner field lives among a node's attributes, for every reader of graphs.

use super::error::ScopeError;
use super::graph::{Node, Role};
use crate::model::TaskType;

/// The value of one attribute, reduced to what the planner can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AttributeValue {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A truth value.
    Switch(bool),
    /// A list of integers.
    Integers(Vec<i64>),
    /// Anything else: another list, a tensor, a message.
    Other,
}

impl AttributeValue {
    fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the string `{text}`"),
            Self::Integer(number) => format!("the number {number}"),
            Self::Switch(on) => format!("the truth value {on}"),
            Self::Integers(_) | Self::Other => "a list or message".to_owned(),
        }
    }

    fn as_switch(&self) -> Option<bool> {
        match self {
            Self::Switch(on) => Some(*on),
            Self::Integer(0) => Some(false),
            Self::Integer(1) => Some(true),
            Self::Text(text) => match text.as_str() {
                "true" | "True" | "1" => Some(true),
                "false" | "False" | "0" => Some(false),
                _ => None,
            },
            Self::Integer(_) | Self::Integers(_) | Self::Other => None,
        }
    }

    /// `Some(None)`: no limit.
    fn as_cores(&self) -> Option<Option<u32>> {
        match self {
            Self::Text(text) => core_count(text),
            Self::Integer(number) => u32::try_from(*number).ok().map(Some),
            Self::Switch(_) | Self::Integers(_) | Self::Other => None,
        }
    }
}

/// Marks a node as something that was compiled: where no op of a dump has it, the dump is from before compilation.
pub(crate) const SUPPORT: &str = "supportSuperKernel";

/// The stream that the user has switched to.
pub(crate) const STREAM_LABEL: &str = "_user_stream_label";

/// Stores attribute `key` in the field of `node` it belongs to; attributes that no field is made from are skipped, and
/// their values not even read. Writers disagree about kinds, so a number or truth value may also be written as text.
pub(crate) fn apply(
    node: &mut Node,
    key: &str,
    read: impl Fn() -> Result<AttributeValue, ScopeError>,
) -> Result<(), ScopeError> {
    let wrong = |value: &AttributeValue, expected: &'static str| ScopeError::Attribute {
        node: node.name.to_string(),
        key: key.to_owned(),
        found: value.describe(),
        expected,
    };
    let text = || match read()? {
        AttributeValue::Text(text) => Ok(text),
        AttributeValue::Integer(number) => Ok(number.to_string()),
        value @ (AttributeValue::Switch(_) | AttributeValue::Integers(_) | AttributeValue::Other) => {
            Err(wrong(&value, "a string"))
        }
    };
    let integer = || match read()? {
        AttributeValue::Integer(number) => Ok(number),
        AttributeValue::Text(text) => text.parse().map_err(|_| wrong(&AttributeValue::Text(text), "an integer")),
        value @ (AttributeValue::Switch(_) | AttributeValue::Integers(_) | AttributeValue::Other) => {
            Err(wrong(&value, "an integer"))
        }
    };
    let switch = || {
        let value = read()?;
        value.as_switch().ok_or_else(|| wrong(&value, "a truth value"))
    };
    let cores = || {
        let value = read()?;
        value.as_cores().ok_or_else(|| wrong(&value, "a decimal number of cores"))
    };
    let integers = || match read()? {
        AttributeValue::Integers(numbers) => Ok(numbers),
        AttributeValue::Integer(number) => Ok(vec![number]),
        // An empty list has no kind.
        AttributeValue::Other => Ok(Vec::new()),
        value @ (AttributeValue::Text(_) | AttributeValue::Switch(_)) => Err(wrong(&value, "a list of integers")),
    };
    match key {
        "_super_kernel_scope" => node.scope = text()?.into(),
        "_super_kernel_options" => node.options = text()?.into(),
        STREAM_LABEL => node.stream_label = text()?.into(),
        SUPPORT => node.support = integer()?,
        "local_memory_size" => node.local_memory_size = integer()?,
        "_tiling_sink_op" => node.tiling_sink = switch()?,
        "_op_ensure_reuse_binary" => node.reuse_binary = switch()?,
        "_hccl" => node.hccl = switch()?,
        "_op_aicore_num" => node.aicore_num = cores()?,
        "_op_vectorcore_num" => node.vectorcore_num = cores()?,
        "superkernel_kernelname" => node.kernel_name = text()?.into(),
        "bin_file_path" => node.bin_path = text()?.into(),
        "json_file_path" => node.json_path = text()?.into(),
        "SPK_task_type" => {
            let name = text()?;
            let unknown = || wrong(&AttributeValue::Text(name.clone()), "`normal` or `dynamic`");
            node.task_type = TaskType::from_name(&name).ok_or_else(unknown)?;
        }
        "_no_task" => node.no_task = switch()?,
        "sk_parent_node_name" => node.part_of().kernel = text()?,
        "_sk_send_event_ids" => node.part_of().sends = integers()?,
        "_sk_rcv_event_ids" => node.part_of().receives = integers()?,
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
            apply(&mut node, key, || Ok(value.clone())).unwrap();
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
        apply(&mut node, "event_id", || Ok(AttributeValue::Integer(4))).unwrap();
        assert_eq!(node.event_id, None);
        apply(&mut node, "notify_id", || Ok(AttributeValue::Integer(5))).unwrap();
        assert_eq!(node.event_id, Some(5));
    }

    #[test]
    fn numbers_and_truth_values_may_be_text() {
        let mut node = Node::new("a", "Add", 1, 0);
        for (key, value) in [
            ("supportSuperKernel", text("1")),
            ("_hccl", text("True")),
            ("_no_task", text("0")),
            ("_op_aicore_num", AttributeValue::Integer(8)),
            ("_super_kernel_scope", AttributeValue::Integer(7)),
        ] {
            apply(&mut node, key, || Ok(value.clone())).unwrap();
        }
        assert_eq!((node.support, node.hccl, node.no_task), (1, true, false));
        assert_eq!((node.aicore_num, node.scope.as_str()), (Some(8), "7"));
    }

    #[test]
    fn a_wrong_kind_of_value_is_named() {
        let mut node = Node::new("a", "Add", 1, 0);
        let mut refused = |key: &str, value: AttributeValue| apply(&mut node, key, || Ok(value.clone())).unwrap_err();
        assert_eq!(
            refused("supportSuperKernel", text("yes")).to_string(),
            "node `a`: attribute `supportSuperKernel` is the string `yes`; expected an integer"
        );
        refused("_op_aicore_num", text("+4"));
        refused("SPK_task_type", text("static"));
        refused("_super_kernel_scope", AttributeValue::Switch(true));
        refused("_hccl", text("maybe"));
    }
}
