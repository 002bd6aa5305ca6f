//! Everything a result depends on, part by part: equal fingerprints, equal results.

use serde_json::{Map, Value};

use crate::environment::Environment;
use crate::model::{EventUse, Op, SuperKernel};
use crate::store::digest::ContentDigest;

/// Changes whenever this package would make something else of the same inputs.
pub(super) const CONTRACT_VERSION: &str = concat!("3/", env!("CARGO_PKG_VERSION"));
/// The part with the kernel's name.
const KERNEL: &str = "kernel";
/// Differences told one by one.
const TOLD: usize = 8;

/// The parts, each a few named facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fingerprint {
    parts: Map<String, Value>,
    digest: ContentDigest,
}

impl Fingerprint {
    /// The fingerprint of a build. `tools` are the programs and headers that take part; `objects` the digest of
    /// every op's object file, in op order.
    pub(crate) fn of(
        kernel: &SuperKernel,
        environment: &Environment,
        objects: &[ContentDigest],
        tools: Vec<(String, String)>,
    ) -> Self {
        let mut parts = Map::new();
        let mut part = |name: String, facts: Vec<(String, String)>| {
            parts.insert(name, facts.into_iter().map(|(fact, value)| (fact, Value::String(value))).collect());
        };
        part("contract".to_owned(), named([("version", CONTRACT_VERSION.to_owned())]));
        part(KERNEL.to_owned(), named([("name", kernel.name.clone())]));
        part("options".to_owned(), kernel.options.texts().map(|(name, text)| (name.to_string(), text)).collect());
        part(
            "platform".to_owned(),
            named([
                ("SoC", kernel.platform.soc.to_string()),
                ("number of cube cores", kernel.platform.cores.aic.to_string()),
                ("number of vector cores", kernel.platform.cores.aiv.to_string()),
            ]),
        );
        part("debug config".to_owned(), environment.debug_config().facts());
        let info = environment.platform_info.iter();
        part("description".to_owned(), info.map(|(key, value)| (key.clone(), value.to_string())).collect());
        part("toolchain".to_owned(), tools);
        part("op list".to_owned(), named([("number of ops", kernel.ops.len().to_string())]));
        for (op, object) in kernel.ops.iter().zip(objects) {
            part(op.name().to_string(), op_facts(op, object));
        }
        Self::new(parts)
    }

    /// As it was stored in a manifest.
    pub(crate) fn from_json(value: Value) -> Option<Self> {
        match value {
            Value::Object(parts) => Some(Self::new(parts)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    fn new(parts: Map<String, Value>) -> Self {
        let text = serde_json::to_vec(&parts).expect("a JSON value can be written");
        Self { digest: ContentDigest::of(&text), parts }
    }

    /// For a manifest.
    pub(crate) fn parts(&self) -> &Map<String, Value> {
        &self.parts
    }

    /// One value for all kernels that differ in their names alone.
    pub(crate) fn digest_without_name(&self) -> ContentDigest {
        let mut text = String::from("any name");
        for (part, facts) in self.parts.iter().filter(|(part, _)| *part != KERNEL) {
            text.push_str(&format!("\n{}: {facts}", Value::from(part.as_str())));
        }
        ContentDigest::of(text.as_bytes())
    }

    /// One value that stands for all of it.
    pub(crate) fn digest(&self) -> ContentDigest {
        self.digest
    }

    /// In how many facts it differs from `other`.
    pub(crate) fn distance(&self, other: &Self) -> usize {
        let facts = |part: Option<&Value>| part.and_then(Value::as_object).cloned().unwrap_or_default();
        let differing = |mine: &Map<String, Value>, theirs: &Map<String, Value>| {
            mine.iter().filter(|(name, value)| theirs.get(*name) != Some(value)).count()
                + theirs.keys().filter(|name| !mine.contains_key(*name)).count()
        };
        let here = self.parts.iter().map(|(name, part)| differing(&facts(Some(part)), &facts(other.parts.get(name))));
        let gone = other.parts.keys().filter(|name| !self.parts.contains_key(*name));
        here.sum::<usize>() + gone.map(|name| facts(other.parts.get(name)).len()).sum::<usize>()
    }

    /// What is different here from `old`, in words; empty if nothing is.
    pub(crate) fn changes_since(&self, old: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.digest == old.digest {
            return changes;
        }
        for (name, new) in &self.parts {
            match old.parts.get(name) {
                None => changes.push(format!("{name}: new")),
                Some(before) if before != new => changes.push(change(name, before, new)),
                Some(_) => {}
            }
        }
        for name in old.parts.keys().filter(|name| !self.parts.contains_key(*name)) {
            changes.push(format!("{name}: gone"));
        }
        if changes.is_empty() {
            changes.push("the order of the ops".to_owned());
        }
        shortened(changes)
    }
}

fn change(part: &str, before: &Value, after: &Value) -> String {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return format!("{part}: changed") };
    let mut facts: Vec<String> = Vec::new();
    for (fact, value) in after {
        match before.get(fact) {
            Some(old) if old == value => {}
            Some(old) => facts.push(told(fact, old, value)),
            None => facts.push(format!("{fact} is new")),
        }
    }
    facts.extend(before.keys().filter(|fact| !after.contains_key(*fact)).map(|fact| format!("{fact} is gone")));
    format!("{part}: {}", facts.join(", "))
}

/// A digest says nothing to people; everything else does.
fn told(fact: &str, before: &Value, after: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (before, after) = (text(before), text(after));
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest(&before) && is_digest(&after) {
        format!("{fact} has other content")
    } else {
        format!("{fact} was `{before}`, is `{after}`")
    }
}

fn shortened(mut changes: Vec<String>) -> Vec<String> {
    if changes.len() > TOLD {
        let more = changes.len() - TOLD;
        changes.truncate(TOLD);
        changes.push(format!("and {more} more"));
    }
    changes
}

fn named<const N: usize>(facts: [(&str, String); N]) -> Vec<(String, String)> {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn op_facts(op: &Op, object: &ContentDigest) -> Vec<(String, String)> {
    let mut facts = named([
        ("JSON", op.kernel.json_digest.to_string()),
        ("object", object.to_string()),
        ("stream", op.stream_id.to_string()),
        ("task type", op.task_type.as_str().to_owned()),
        ("send events", event_ids(&op.send_events)),
        ("receive events", event_ids(&op.recv_events)),
    ]);
    facts.extend(op.regions.iter().map(|regions| ("regions".to_owned(), regions.to_string())));
    facts
}

fn event_ids(events: &[EventUse]) -> String {
    events.iter().map(|event| event.id.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fingerprint(value: Value) -> Fingerprint {
        Fingerprint::from_json(value).unwrap()
    }

    #[test]
    fn equal_parts_mean_no_change() {
        let one = fingerprint(json!({"options": {"split-mode": "4"}}));
        assert_eq!(one.changes_since(&one), Vec::<String>::new());
        assert_eq!(one.digest(), fingerprint(json!({"options": {"split-mode": "4"}})).digest());
    }

    #[test]
    fn changes_are_told_by_part_and_fact() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        let old =
            fingerprint(json!({"options": {"split-mode": "4", "profiling": "0"}, "op 0": {"object": a}, "op 1": {}}));
        let new =
            fingerprint(json!({"options": {"split-mode": "2", "profiling": "0"}, "op 0": {"object": b}, "op 2": {}}));
        assert_eq!(
            new.changes_since(&old),
            ["options: split-mode was `4`, is `2`", "op 0: object has other content", "op 2: new", "op 1: gone"]
        );
    }

    #[test]
    fn names_alone_do_not_make_another_kernel() {
        let of = |name: &str, split: &str| {
            fingerprint(json!({"kernel": {"name": name}, "options": {"split-mode": split}})).digest_without_name()
        };
        assert_eq!(of("a", "4"), of("b", "4"));
        assert_ne!(of("a", "4"), of("a", "2"));
        let named = fingerprint(json!({"kernel": {"name": "a"}}));
        assert_ne!(named.digest(), named.digest_without_name());
    }

    #[test]
    fn distance_counts_facts() {
        let one = fingerprint(json!({"options": {"split-mode": "4", "profiling": "0"}, "op 0": {"object": "a"}}));
        assert_eq!(one.distance(&one), 0);
        let near = fingerprint(json!({"options": {"split-mode": "2", "profiling": "0"}, "op 0": {"object": "a"}}));
        let far = fingerprint(json!({"options": {"split-mode": "2"}, "op 1": {"object": "a", "JSON": "b"}}));
        assert_eq!((one.distance(&near), near.distance(&one)), (1, 1));
        assert_eq!((one.distance(&far), far.distance(&one)), (5, 5));
    }

    #[test]
    fn a_long_list_is_cut() {
        let parts = |value: &str| (0..20).map(|n| (format!("op {n}"), json!({"stream": value}))).collect::<Map<_, _>>();
        let changes = fingerprint(parts("1").into()).changes_since(&fingerprint(parts("2").into()));
        assert_eq!(changes.len(), 9);
        assert_eq!(changes[0], "op 0: stream was `2`, is `1`");
        assert_eq!(changes[8], "and 12 more");
    }

    #[test]
    fn another_order_is_a_change() {
        let old = fingerprint(json!({"a": {}, "b": {}}));
        let new = fingerprint(json!({"b": {}, "a": {}}));
        assert_eq!(new.changes_since(&old), ["the order of the ops"]);
    }
}
