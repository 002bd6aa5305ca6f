//! Which marked nodes stay in their scope and which are dropped before anything is cut.

use std::collections::{BTreeMap, HashMap, HashSet};

use smol_str::SmolStr;

use super::eligibility::{Eligibility, Predicate, queue_positions};
use super::error::ScopeError;
use super::graph::{BranchIndex, Graph, Node, NodeIndex};
use super::mistakes::{self, Mistake};
use super::reason::Reason;
use super::settings::{Mode, Settings};
use super::strict::Strict;

/// A marked node that lost its mark because it cannot be fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The node.
    pub node: NodeIndex,
    /// Why.
    pub reason: Reason,
}

/// A scope of the graph, in the order of their first marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeIndex(pub usize);

/// All operators of one graph that carry one scope name. No kernel can span two graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Its place among the scopes.
    pub index: ScopeIndex,
    /// The name.
    pub name: SmolStr,
    /// The graph its operators are in.
    pub branch: BranchIndex,
    /// What it wants when not all of it can be fused.
    pub strict: Option<Strict>,
    /// Nodes that are still marked, in list order.
    pub kept: Vec<NodeIndex>,
    /// Nodes that lost their mark, in list order.
    pub dropped: Vec<Dropped>,
}

/// The graph with what every later step asks about it.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// How to plan.
    pub settings: &'a Settings,
    /// Who can be fused.
    pub rules: Eligibility<'a>,
    /// Nodes per stream, in list order.
    pub queues: BTreeMap<i64, Vec<NodeIndex>>,
    /// Position of each node in its stream's queue.
    pub queue_position: Vec<usize>,
    /// Nodes that neither belong to a scope nor interrupt one.
    pub transparent: Vec<bool>,
    /// Data edges into each node, as positions in the graph's list.
    pub inputs: Vec<Vec<usize>>,
    /// Data edges out of each node.
    pub outputs: Vec<Vec<usize>>,
}

impl<'a> Context<'a> {
    /// Looks at the graph once.
    pub(crate) fn new(graph: &'a Graph, settings: &'a Settings) -> Self {
        let rules = Eligibility::new(settings);
        let mut queues: BTreeMap<i64, Vec<NodeIndex>> = BTreeMap::new();
        for (index, node) in graph.indexed() {
            queues.entry(node.stream).or_default().push(index);
        }
        let with_events = nodes_with_events(graph);
        let transparent = graph
            .indexed()
            .map(|(index, node)| {
                // A node without a task still orders its stream when events hang on it.
                rules.is_transparent(node) && !(node.no_task && with_events.contains(&index))
            })
            .collect();
        let mut inputs = vec![Vec::new(); graph.nodes.len()];
        let mut outputs = vec![Vec::new(); graph.nodes.len()];
        for (number, edge) in graph.data.iter().enumerate() {
            inputs[edge.to.0].push(number);
            outputs[edge.from.0].push(number);
        }
        let queue_position = queue_positions(graph);
        Self { graph, settings, rules, queues, queue_position, transparent, inputs, outputs }
    }

    /// Whose rules count.
    pub(crate) fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// The node at `index`.
    pub(crate) fn node(&self, index: NodeIndex) -> &'a Node {
        self.graph.node(index)
    }

    /// Is the node skipped wherever scopes and queues are looked at?
    pub(crate) fn is_transparent(&self, index: NodeIndex) -> bool {
        self.transparent[index.0]
    }

    /// The sentence users search their logs for.
    pub(crate) fn record_text(&self, index: NodeIndex, scope: &str, reason: Reason) -> String {
        let node = self.node(index);
        format!(
            "super_kernel_scope: node `{}` (type `{}`) interrupts scope `{scope}`: {} [{}]; local_memory_size {}, \
             stream {}, position {} in the stream, topological id {}",
            node.name,
            node.op_type,
            reason.explain(),
            reason.code(),
            node.local_memory_size,
            node.stream,
            self.queue_position[index.0],
            node.id,
        )
    }
}

fn nodes_with_events(graph: &Graph) -> HashSet<NodeIndex> {
    let mut found = HashSet::new();
    for edge in &graph.control {
        match (graph.node(edge.from).is_event(), graph.node(edge.to).is_event()) {
            (false, true) => found.insert(edge.from),
            (true, false) => found.insert(edge.to),
            (false, false) | (true, true) => false,
        };
    }
    found
}

/// The scopes of a graph, in the order of their first mark, and what is wrong with their options.
pub(crate) fn scopes(context: &Context<'_>) -> Result<(Vec<Scope>, Vec<Mistake>), ScopeError> {
    let marked: Vec<NodeIndex> = context
        .graph
        .indexed()
        .filter(|(index, node)| node.is_marked() && !context.is_transparent(*index))
        .map(|(index, _)| index)
        .collect();
    let mut scopes: Vec<Scope> = Vec::new();
    let mut by_name: BTreeMap<(BranchIndex, &str), usize> = BTreeMap::new();
    let mut said_by: BTreeMap<usize, NodeIndex> = BTreeMap::new();
    let mut checked: HashMap<(usize, &str), Option<Strict>> = HashMap::new();
    let mut mistakes = Vec::new();
    let mut mistaken: HashSet<usize> = HashSet::new();
    let mut own = Vec::with_capacity(marked.len());
    for &index in &marked {
        let node = context.node(index);
        let number = *by_name.entry((node.branch, &node.scope)).or_insert_with(|| {
            scopes.push(Scope {
                index: ScopeIndex(scopes.len()),
                name: node.scope.clone(),
                branch: node.branch,
                strict: None,
                kept: Vec::new(),
                dropped: Vec::new(),
            });
            scopes.len() - 1
        });
        let mut errors = Vec::new();
        let value = *checked.entry((number, &node.options)).or_insert_with(|| {
            let (value, found) = mistakes::check(node, context.mode());
            errors = found;
            value
        });
        own.push((number, value));
        let before = scopes[number].strict;
        if let (Mode::Default, Some(value), Some(before)) = (context.mode(), value, before)
            && value != before
            && mistaken.insert(number)
        {
            let first = said_by.get(&number).map_or_else(String::new, |first| context.node(*first).name.to_string());
            errors.push(ScopeError::StrictConflict {
                scope: node.scope.to_string(),
                first,
                first_value: before.as_str(),
                node: node.name.to_string(),
                value: value.as_str(),
            });
        }
        for error in errors {
            // The reference fails as a whole.
            if context.mode() == Mode::Compat {
                return Err(error);
            }
            mistaken.insert(number);
            mistakes.push(Mistake::new(node, context.graph.branch_name(node.branch), &error));
        }
        if value.is_some() {
            said_by.entry(number).or_insert(index);
            // The last one in list order wins; without conflicts that is the only one.
            scopes[number].strict = value;
        }
    }
    for (&index, (number, own_value)) in marked.iter().zip(own) {
        let scope = &mut scopes[number];
        if mistaken.contains(&number) {
            scope.dropped.push(Dropped { node: index, reason: Reason::OptionMistake });
            continue;
        }
        // The reference asks the node itself; we ask its scope.
        let strict = match context.mode() {
            Mode::Default => scope.strict,
            Mode::Compat => own_value,
        };
        match context.rules.unfusable(context.node(index), Predicate::Full) {
            Some(reason) if strict.is_none() => scope.dropped.push(Dropped { node: index, reason }),
            Some(_) | None => scope.kept.push(index),
        }
    }
    Ok((scopes, mistakes))
}
