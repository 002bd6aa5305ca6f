//! Does every consumer on another stream wait for its data? Stream order and events must say so; else it is a race.

use std::collections::HashMap;

use super::error::ScopeError;
use super::events::{Event, Party};
use super::graph::{NodeIndex, Role};
use super::membership::Context;
use super::tasks;

/// Per stream, how many tasks of it have certainly ended.
type Clock = Vec<usize>;

/// Refuses a data edge from a later node to an earlier one, and one between streams that no chain of stream order and
/// events covers. Every node gets to know what the node before it on its stream knew, and what the producers of the events
/// it waits for knew.
pub(crate) fn check(context: &Context<'_>, events: &[Event]) -> Result<(), ScopeError> {
    let graph = context.graph;
    let number_of: HashMap<i64, usize> = context
        .queues
        .keys()
        .filter(|stream| **stream >= 0)
        .enumerate()
        .map(|(number, stream)| (*stream, number))
        .collect();
    let is_source = |index: NodeIndex| graph.node(index).role() != Role::Ordinary;
    if let Some(edge) = graph.data.iter().find(|edge| edge.from >= edge.to && !is_source(edge.from)) {
        let name = |index: NodeIndex| graph.node(index).name.to_string();
        return Err(ScopeError::BackwardData { producer: name(edge.from), consumer: name(edge.to) });
    }
    if number_of.len() < 2 {
        return Ok(());
    }
    let producers = tasks::producers(graph, |index| !context.is_transparent(index), is_source, &[]);
    let mut waits: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
    let mut known_at: HashMap<NodeIndex, Clock> = HashMap::new();
    for event in events {
        if let (Party::Node(producer), Party::Node(consumer)) = (event.producer, event.consumer) {
            waits.entry(consumer).or_default().push(producer);
            known_at.insert(producer, Clock::new());
        }
    }
    let mut now: Vec<Clock> = vec![vec![0; number_of.len()]; number_of.len()];
    let mut ended = vec![0; graph.nodes.len()];
    for (index, node) in graph.indexed() {
        let Some(&own) = number_of.get(&node.stream).filter(|_| !context.is_transparent(index)) else { continue };
        for producer in waits.get(&index).into_iter().flatten() {
            for (known, told) in now[own].iter_mut().zip(&known_at[producer]) {
                *known = (*known).max(*told);
            }
        }
        for producer in &producers[index.0] {
            let Some(&other) = number_of.get(&graph.node(*producer).stream) else { continue };
            if other != own && now[own][other] < ended[producer.0] {
                return Err(ScopeError::UncoveredData {
                    producer: graph.node(*producer).name.clone().into(),
                    producer_stream: graph.node(*producer).stream,
                    consumer: node.name.clone().into(),
                    consumer_stream: node.stream,
                });
            }
        }
        now[own][own] += 1;
        ended[index.0] = now[own][own];
        if let Some(clock) = known_at.get_mut(&index) {
            clock.clone_from(&now[own]);
        }
    }
    Ok(())
}
