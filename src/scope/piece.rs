//! Finishes one piece: its op list, its name, its connections, and what the compiler would refuse about it.

use std::collections::{HashMap, HashSet};

use smol_str::SmolStr;

use super::cut::Draft;
use super::error::ScopeError;
use super::graph::{Node, NodeIndex};
use super::membership::{Context, Scope};
use super::naming::{self, CanonicalOptions, FileDigests, NamedOp};
use super::outcome::{Op, Piece, Problem};
use super::rewrite::{EventLists, Placed};
use super::settings::{Mode, Target};
use crate::model::{self, EventId, Link, OpIndex, OpName, Platform, StreamId, SubKernels};

/// Everything about one finished piece.
pub(crate) fn finish(
    context: &Context<'_>,
    placed: &Placed,
    draft: &Draft,
    scope: &Scope,
    lists: &HashMap<NodeIndex, EventLists>,
    files: &mut FileDigests,
) -> Result<Piece, ScopeError> {
    let none = EventLists::default();
    let written: Vec<NodeIndex> = draft.members.iter().copied().filter(|index| is_written(context, *index)).collect();
    let named: Vec<NamedOp<'_>> = written
        .iter()
        .map(|index| {
            let lists = lists.get(index).unwrap_or(&none);
            NamedOp::new(context.node(*index), &lists.recv, &lists.send)
        })
        .collect();
    // What is not AI-core work has no say in how the kernel is compiled.
    let options = written.first().map_or_else(SmolStr::default, |first| context.node(*first).options.clone());
    let limits = core_limits(context, &written);
    let mut problems = Vec::new();
    let (document, stream_fusion) = match context.mode() {
        Mode::Compat => (naming::compat_document(&named), None),
        Mode::Default => {
            let (canonical, conflict) = agreed_options(context, draft, &written)?;
            problems.extend(conflict.as_ref().map(Problem::refused));
            let mut target: Target = context.settings.target.clone();
            if let Some((aic, aiv)) = limits {
                (target.aic_num, target.aiv_num) = (aic, aiv);
            }
            (naming::document(&named, &canonical, &target, files), Some(canonical.stream_fusion()))
        }
    };
    let ops: Vec<Op> = written
        .iter()
        .enumerate()
        .map(|(position, index)| {
            let lists = lists.get(index).unwrap_or(&none);
            Op::new(context.node(*index), position, written.len(), lists)
        })
        .collect();
    // Nothing can be named by what is not compiled yet.
    let prediction = context.graph.is_prediction();
    let document = if prediction { String::new() } else { document };
    if !prediction {
        problems.extend(missing_paths(&ops));
    }
    problems.extend(refused(&ops, stream_fusion));
    let name = |index: NodeIndex| context.node(index).name.clone();
    let (first, last) = (draft.members[0], draft.members[draft.members.len() - 1]);
    Ok(Piece {
        name: draft.name.clone().into(),
        scope: scope.name.clone(),
        branch: context.graph.branch_name(scope.branch).to_owned(),
        node_name: format!("sk_{}_start_{}_end_{}", draft.name, name(first), name(last)).into(),
        kernel_name: if prediction { String::new() } else { naming::kernel_name(&document) },
        document,
        main_stream: placed.main_stream,
        options,
        core_limits: limits,
        members: draft.members.iter().map(|index| name(*index)).collect(),
        inputs: outer_inputs(context, &draft.members),
        outputs: outer_outputs(context, &draft.members),
        ops,
        problems,
        warnings: limit_warning(context, &written, limits).into_iter().collect(),
    })
}

/// What the compiler would warn about, if the files of all members are there already.
pub(crate) fn warnings_of_model(context: &Context<'_>, piece: &Piece, known: &SubKernels) -> Vec<String> {
    let target = &context.settings.target;
    let (aic, aiv) = piece.core_limits.unwrap_or((target.aic_num, target.aiv_num));
    match context.mode() {
        // The reference reads no files for its plans.
        Mode::Compat => Vec::new(),
        Mode::Default if context.graph.is_prediction() => Vec::new(),
        Mode::Default => Platform::new(&target.soc, Some(aic), Some(aiv))
            .and_then(|platform| model::load_with(&piece.kernel_infos(), &piece.kernel_name, &platform, known))
            .map_or_else(|_| Vec::new(), |kernel| kernel.warnings),
    }
}

/// AI-core ops and collectives are written to the op list; nothing else is.
fn is_written(context: &Context<'_>, index: NodeIndex) -> bool {
    let node = context.node(index);
    node.ai_core || node.hccl || node.op_type.starts_with("Hcom")
}

/// The options of the first op of the list, and the first op that has others.
fn agreed_options(
    context: &Context<'_>,
    draft: &Draft,
    written: &[NodeIndex],
) -> Result<(CanonicalOptions, Option<ScopeError>), ScopeError> {
    let Some((first, rest)) = written.split_first() else {
        return Ok((CanonicalOptions::default(), None));
    };
    let first = context.node(*first);
    let canonical = CanonicalOptions::of(first)?;
    for member in rest {
        let node = context.node(*member);
        if node.options != first.options && CanonicalOptions::of(node)? != canonical {
            let conflict = ScopeError::OptionConflict {
                piece: draft.name.clone(),
                first: first.name.clone().into(),
                first_options: first.options.clone().into(),
                node: node.name.clone().into(),
                options: node.options.clone().into(),
            };
            return Ok((canonical, Some(conflict)));
        }
    }
    Ok((canonical, None))
}

/// User limits over all members of the op list that are not collectives, if there are both.
fn core_limits(context: &Context<'_>, members: &[NodeIndex]) -> Option<(u32, u32)> {
    let own = || members.iter().map(|index| context.node(*index)).filter(|node| !node.hccl);
    let aic = own().filter_map(|node| node.aicore_num).max().filter(|count| *count > 0)?;
    let aiv = own().filter_map(|node| node.vectorcore_num).max().filter(|count| *count > 0)?;
    Some((aic, aiv))
}

/// A kernel has the limits of the op with the largest ones; ops without limits count for nothing.
fn limit_warning(context: &Context<'_>, written: &[NodeIndex], limits: Option<(u32, u32)>) -> Option<String> {
    let (aic, aiv) = limits?;
    let own = written.iter().map(|index| context.node(*index)).filter(|node| !node.hccl);
    let (limited, free): (Vec<&Node>, Vec<&Node>) =
        own.partition(|node| node.aicore_num.is_some() || node.vectorcore_num.is_some());
    let first = limited.first()?;
    let limit = match limited.len() - 1 {
        0 => " limits".to_owned(),
        more => format!(" and {more} more limit"),
    };
    (!free.is_empty()).then(|| {
        format!(
            "`{}`{limit} the whole kernel of {} ops to {aic} cube and {aiv} vector cores; take it out of the \
             scope, or put the limit around all of it",
            first.name,
            written.len()
        )
    })
}

/// Ops that are not compiled as sub-kernels.
fn missing_paths(ops: &[Op]) -> Option<Problem> {
    let without = ops.iter().filter(|op| op.bin_path.is_empty() || op.json_path.is_empty());
    let without: Vec<SmolStr> = without.map(|op| op.name.clone()).collect();
    (!without.is_empty()).then(|| Problem::missing_path(without))
}

/// What the compiler would refuse about the op list. `stream_fusion` is `None` where the options are not looked at.
fn refused(ops: &[Op], stream_fusion: Option<bool>) -> Option<Problem> {
    let links = ops.iter().enumerate().map(|(position, op)| Link {
        name: OpName { index: OpIndex(position), kernel_name: op.name.as_str().into() },
        stream: StreamId(op.stream),
        sends: op.send_event_list.iter().copied().map(EventId).collect(),
        receives: op.recv_event_list.iter().copied().map(EventId).collect(),
    });
    model::form_of_links(links.collect(), stream_fusion.unwrap_or(true)).err().as_ref().map(Problem::refused)
}

/// Members in the order their connections are listed.
fn connection_order(context: &Context<'_>, members: &[NodeIndex]) -> Vec<NodeIndex> {
    let mut order = members.to_vec();
    if context.mode() == Mode::Compat {
        order.sort_by_key(|member| &context.node(*member).name);
    }
    order
}

fn outer_inputs(context: &Context<'_>, members: &[NodeIndex]) -> Vec<(SmolStr, u32)> {
    let inside: HashSet<NodeIndex> = members.iter().copied().collect();
    let mut inputs = Vec::new();
    for member in connection_order(context, members) {
        let mut edges: Vec<_> = context.inputs[member.0].iter().map(|edge| context.graph.data[*edge]).collect();
        edges.sort_by_key(|edge| edge.input);
        let outer = edges.into_iter().filter(|edge| !inside.contains(&edge.from));
        for source in outer.map(|edge| (context.node(edge.from).name.clone(), edge.output)) {
            // The reference lists a tensor once per reader.
            if context.mode() == Mode::Compat || !inputs.contains(&source) {
                inputs.push(source);
            }
        }
    }
    inputs
}

fn outer_outputs(context: &Context<'_>, members: &[NodeIndex]) -> Vec<(SmolStr, u32)> {
    let inside: HashSet<NodeIndex> = members.iter().copied().collect();
    let mut outputs = Vec::new();
    for member in connection_order(context, members) {
        let edges = context.outputs[member.0].iter().map(|edge| context.graph.data[*edge]);
        let edges = edges.filter(|edge| !inside.contains(&edge.to));
        let mut used: Vec<u32> = edges.map(|edge| edge.output).collect();
        used.sort_unstable();
        used.dedup();
        outputs.extend(used.into_iter().map(|output| (context.node(member).name.clone(), output)));
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::graph::Node;

    fn op(name: &str, stream: i64, recv: &[i64], send: &[i64]) -> Op {
        let mut node = Node::new(name, "Add", 1, stream);
        (node.bin_path, node.json_path) = ("k.o".into(), "k.json".into());
        let lists = EventLists { recv: recv.to_vec(), send: send.to_vec() };
        Op::new(&node, 0, 1, &lists)
    }

    fn ids(ops: &[Op], stream_fusion: bool) -> Vec<&'static str> {
        missing_paths(ops).iter().chain(&refused(ops, Some(stream_fusion))).map(|problem| problem.id).collect()
    }

    #[test]
    fn every_refusal_of_the_model_is_a_problem() {
        let plain = |name: &str| op(name, 0, &[], &[]);
        assert!(ids(&[plain("a"), plain("b")], false).is_empty());
        let of = |first: (&[i64], &[i64]), middle: (&[i64], &[i64]), stream: i64, last: (&[i64], &[i64])| {
            let ops = [op("a", 0, first.0, first.1), op("b", stream, middle.0, middle.1), op("c", 0, last.0, last.1)];
            ids(&ops, true)
        };
        let none: (&[i64], &[i64]) = (&[], &[]);
        assert_eq!(of((&[1], &[]), none, 0, none), ["SK0307"]);
        assert_eq!(of(none, none, 0, (&[], &[1])), ["SK0308"]);
        assert_eq!(of(none, (&[1], &[1]), 0, none), ["SK0301"]);
        assert_eq!(of(none, (&[1, 1], &[]), 0, none), ["SK0302"]);
        assert_eq!(of((&[], &[1]), (&[], &[1]), 0, none), ["SK0303"]);
        assert_eq!(of((&[], &[1]), (&[1], &[]), 0, none), ["SK0304"]);
        assert!(of((&[], &[1]), (&[1], &[]), 1, none).is_empty());
        assert_eq!(ids(&[plain("a"), op("b", 1, &[], &[])], false), ["SK0306"]);
        assert!(ids(&[plain("a"), op("b", 1, &[], &[])], true).is_empty());
    }

    #[test]
    fn ops_without_files_are_named_beside_what_the_model_refuses() {
        let mut bare = op("b", 1, &[], &[]);
        bare.json_path = String::new().into();
        let ops = [op("a", 0, &[], &[]), bare];
        let found = [missing_paths(&ops).unwrap(), refused(&ops, Some(false)).unwrap()];
        assert_eq!(found.each_ref().map(|problem| problem.id), ["SK1020", "SK0306"]);
        assert_eq!(found[0].unfusable, ["b"]);
        assert!(found[1].explain().contains("op 1 (`b`)") && found[1].explain().contains("stream-fusion=1"));
    }
}
