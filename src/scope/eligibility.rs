//! Which operators may become sub-kernels, and why the others may not.

use std::collections::HashSet;

use super::graph::{Graph, Node};
use super::reason::Reason;
use super::settings::{Mode, Settings};

/// How much of the predicate is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Predicate {
    /// All of it.
    Full,
    /// Without the tiling rule: what the reference recomputes when it walks a span.
    WithoutTiling,
}

/// Answers "can this node be fused?" under one set of rules.
#[derive(Debug)]
pub(crate) struct Eligibility<'a> {
    mode: Mode,
    tiling_types: HashSet<&'a str>,
    excluded: HashSet<&'a str>,
    not_fusable: HashSet<&'a str>,
}

impl<'a> Eligibility<'a> {
    /// The rules of `settings`.
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self {
            mode: settings.mode,
            tiling_types: settings.tiling_on_aicpu.iter().map(String::as_str).collect(),
            excluded: settings.exclude.iter().map(String::as_str).collect(),
            not_fusable: settings.not_fusable.iter().map(String::as_str).collect(),
        }
    }

    /// May the node's type be tiled on the AICPU?
    pub(crate) fn tiles_on_aicpu(&self, node: &Node) -> bool {
        node.tiling_on_aicpu || self.tiling_types.contains(node.op_type.as_str())
    }

    /// Why the node itself cannot be fused; `None`: it can.
    pub(crate) fn unfusable(&self, node: &Node, predicate: Predicate) -> Option<Reason> {
        if self.excluded.contains(node.name.as_str()) {
            return Some(Reason::Excluded);
        }
        if self.not_fusable.contains(node.op_type.as_str()) {
            return Some(Reason::NotFusableType);
        }
        if self.mode == Mode::Default && node.stream < 0 {
            return Some(Reason::UnassignedStream);
        }
        if node.hccl {
            return None;
        }
        let on_ai_core = match self.mode {
            Mode::Default => node.ai_core,
            Mode::Compat => true,
        };
        let tiling_blocked = match predicate {
            Predicate::Full => self.tiles_on_aicpu(node) && !node.tiling_sink && node.reuse_binary,
            Predicate::WithoutTiling => false,
        };
        if !on_ai_core {
            Some(Reason::NoAiCore)
        } else if node.support != 1 {
            Some(Reason::NoSupportFlag)
        } else if node.local_memory_size > 0 {
            Some(Reason::Simt)
        } else if tiling_blocked {
            Some(Reason::TilingReusesBinary)
        } else {
            None
        }
    }

    /// Why a node within the span of `scope` interrupts it; `None`: it does not.
    pub(crate) fn interrupts(&self, node: &Node, kept_in: &str, scope: &str, predicate: Predicate) -> Option<Reason> {
        // The op itself comes first: marking an op that cannot be fused would not help.
        self.unfusable(node, predicate).or_else(|| {
            if kept_in == scope {
                None
            } else if node.scope == scope {
                // Dropped earlier: out of the scope even where the short predicate would take it.
                self.unfusable(node, Predicate::Full).or(Some(Reason::Unmarked))
            } else if node.is_marked() {
                Some(Reason::OtherScope)
            } else {
                Some(Reason::Unmarked)
            }
        })
    }

    /// Does the node neither belong to a scope nor interrupt one?
    pub(crate) fn is_transparent(&self, node: &Node) -> bool {
        match node.role() {
            super::graph::Role::Ordinary => self.mode == Mode::Default && node.no_task,
            super::graph::Role::Source | super::graph::Role::Event(..) => true,
        }
    }
}

/// Position of every node in its stream's queue, for messages.
pub(crate) fn queue_positions(graph: &Graph) -> Vec<usize> {
    let mut lengths = std::collections::HashMap::new();
    graph
        .nodes
        .iter()
        .map(|node| {
            let length = lengths.entry(node.stream).or_insert(0_usize);
            *length += 1;
            *length - 1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(support: i64, memory: i64, tiling: [bool; 3], hccl: bool) -> Node {
        let mut node = Node::new("n", "Op", 1, 0);
        node.support = support;
        node.local_memory_size = memory;
        [node.tiling_on_aicpu, node.tiling_sink, node.reuse_binary] = tiling;
        node.hccl = hccl;
        node
    }

    #[test]
    fn truth_table_of_the_predicate() {
        let settings = Settings::default();
        let rules = Eligibility::new(&settings);
        let switches = [false, true];
        for support in [-1, 0, 1, 2] {
            for memory in [0, 1] {
                for on_aicpu in switches {
                    for sink in switches {
                        for reuse in switches {
                            let tiling = [on_aicpu, sink, reuse];
                            let expected = if support != 1 {
                                Some(Reason::NoSupportFlag)
                            } else if memory > 0 {
                                Some(Reason::Simt)
                            } else if on_aicpu && !sink && reuse {
                                Some(Reason::TilingReusesBinary)
                            } else {
                                None
                            };
                            let found = |hccl| rules.unfusable(&node(support, memory, tiling, hccl), Predicate::Full);
                            assert_eq!(found(false), expected, "{support} {memory} {tiling:?}");
                            assert_eq!(found(true), None, "hccl overrides everything");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_short_predicate_misses_the_tiling_rule_only() {
        let settings = Settings::new(Mode::Compat);
        let rules = Eligibility::new(&settings);
        let blocked = node(1, 0, [true, false, true], false);
        assert_eq!(rules.unfusable(&blocked, Predicate::Full), Some(Reason::TilingReusesBinary));
        assert_eq!(rules.unfusable(&blocked, Predicate::WithoutTiling), None);
        assert_eq!(
            rules.unfusable(&node(0, 0, [false; 3], false), Predicate::WithoutTiling),
            Some(Reason::NoSupportFlag)
        );
    }

    #[test]
    fn op_types_of_the_registry_count_like_the_flag() {
        let settings = Settings { tiling_on_aicpu: vec!["Op".to_owned()], ..Settings::default() };
        let rules = Eligibility::new(&settings);
        assert_eq!(
            rules.unfusable(&node(1, 0, [false, false, true], false), Predicate::Full),
            Some(Reason::TilingReusesBinary)
        );
    }

    #[test]
    fn codes_are_distinct() {
        let codes: HashSet<&str> = Reason::ALL.into_iter().map(Reason::code).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
    }

    #[test]
    fn the_op_itself_is_blamed_before_its_mark() {
        let settings = Settings::default();
        let rules = Eligibility::new(&settings);
        let reason = |support, scope: &str| {
            let mut node = node(support, 0, [false; 3], false);
            node.scope = scope.to_owned().into();
            rules.interrupts(&node, scope, "s", Predicate::Full)
        };
        assert_eq!(reason(0, "s"), Some(Reason::NoSupportFlag));
        assert_eq!(reason(0, "t"), Some(Reason::NoSupportFlag));
        assert_eq!(reason(0, ""), Some(Reason::NoSupportFlag));
        assert_eq!(reason(1, "t"), Some(Reason::OtherScope));
        assert_eq!(reason(1, ""), Some(Reason::Unmarked));
        assert_eq!(reason(1, "s"), None);
    }
}
