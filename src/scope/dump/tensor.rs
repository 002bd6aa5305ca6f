//! What the descriptions of an op's inputs and outputs tell about it: whether shapes are static, and which torch operator
//! it was made for.

use smol_str::SmolStr;

use crate::scope::graph::{Graph, Node, Origin, Role};

/// The description of one input or output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tensor {
    /// As written; empty: not given.
    pub data_type: String,
    /// A dimension is below 0: known at run time only.
    pub has_unknown_dimension: bool,
    /// `_meta`: `Tensor(dtype=torch.float32, shape=torch.Size([s0, 64])`.
    pub meta: String,
    /// `_fx_tensor_name`: `mm-aten.mm.default.OUTPUT.0`.
    pub fx_tensor: String,
}

impl Tensor {
    /// Is its shape known at run time only?
    pub(crate) fn is_dynamic(&self) -> bool {
        let shape = self.meta.split_once("Size([").and_then(|(_, rest)| rest.split_once(']'));
        let symbolic = |shape: &str| shape.bytes().any(|byte| byte.is_ascii_alphabetic());
        self.has_unknown_dimension || shape.is_some_and(|(shape, _)| symbolic(shape))
    }
}

/// Fills in what follows from an op's inputs and outputs.
pub(super) fn describe(node: &mut Node, inputs: &[Tensor], outputs: &[Tensor]) {
    if node.op_type == "Cast"
        && let ([input], [output]) = (inputs, outputs)
    {
        node.same_type = !input.data_type.is_empty() && input.data_type == output.data_type;
    }
    if node.origin.is_none() {
        let origin = outputs.iter().find_map(|output| origin_of(&output.fx_tensor));
        node.origin = origin.map(Box::new);
    }
}

/// `mm-aten.mm.default.OUTPUT.0`: names of traced nodes are identifiers.
fn origin_of(fx_tensor: &str) -> Option<Origin> {
    let (fx_node, rest) = fx_tensor.split_once('-')?;
    let torch_op = rest.rsplit_once(".OUTPUT.").map_or(rest, |(torch_op, _)| torch_op);
    Some(Origin { torch_op: torch_op.into(), fx_node: fx_node.into(), line: SmolStr::default() })
}

/// One torch operator may become several ops, and only the last one has its name: the others take it from the first op
/// that reads them.
pub(super) fn pass_origins_on(graph: &mut Graph) {
    let mut consumer = vec![usize::MAX; graph.nodes.len()];
    for edge in &graph.data {
        consumer[edge.from.0] = consumer[edge.from.0].min(edge.to.0);
    }
    for position in (0..graph.nodes.len()).rev() {
        let node = &graph.nodes[position];
        let is_op = node.role() == Role::Ordinary && node.op_type != "NetOutput";
        if node.origin.is_none() && is_op && consumer[position] != usize::MAX {
            let origin = graph.nodes[consumer[position]].origin.clone();
            graph.nodes[position].origin = origin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_negative_numbers_make_a_shape_dynamic() {
        for (shape, dynamic) in [("[16, 64]", false), ("[]", false), ("[s0, 64]", true), ("[(2*s1), 4]", true)] {
            let meta = format!("Tensor(dtype=torch.float32, shape=torch.Size({shape})");
            assert_eq!(Tensor { meta, ..Tensor::default() }.is_dynamic(), dynamic, "{shape}");
        }
        assert!(Tensor { has_unknown_dimension: true, ..Tensor::default() }.is_dynamic());
    }

    #[test]
    fn a_tensor_name_is_a_traced_node_and_its_operator() {
        let origin = origin_of("npu_quant_matmul-npu.npu_quant_matmul.default.OUTPUT.0").unwrap();
        assert_eq!(
            (origin.fx_node.as_str(), origin.torch_op.as_str()),
            ("npu_quant_matmul", "npu.npu_quant_matmul.default")
        );
        assert_eq!(origin_of("nothing"), None);
    }
}
