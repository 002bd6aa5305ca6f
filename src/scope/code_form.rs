//! TorchAir's form `py`: calls that rebuild the graph, with comments that tell where each of them comes from.
//!
//! ```text
//! # File "model.py", line 7, in forward    q = torch.mm(x, w)    once per line of Python
//! ## FX Code: mm: torch.float32[8, 8]cpu = torch.ops.aten.mm.default(x, w)
//! MatMul_0 = ge.MatMul(x_0, w_0, None, transpose_x1=False, node_name="MatMul")
//! [A_0, A_1] = ge.A(MatMul_0, ge.Const(0, dtype=3), dependencies=[B_0])
//! ```
//! A call belongs to the traced operator above it. Marks stand only in the traced operators `scope_enter(keys, values)` and
//! `scope_exit()`, which keep a stack. Positional arguments are inputs, `None` is one that is not fed; the variable
//! `MatMul_0` is output 0 of node `MatMul`.

mod call;
mod frames;
mod types;
mod waits;

use std::collections::{HashMap, HashSet};

use self::call::{Argument, Call};
use self::frames::Frames;
use self::types::ElementType;
use self::waits::Waits;
use super::dump::{self, DumpGraph, DumpOp, Input, wrong};
use super::error::{DumpPlace, ScopeError};
use super::graph::{Graph, Node, Origin};

/// What begins every such file, behind the comment with its encoding.
const IMPORT: &str = "from torchair._ge_concrete_graph import ge_apis";
const TRACED: &str = "## FX Code: ";
const LINE: &str = "# File ";

/// Is this Python?
pub(crate) fn is_python(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with("import ") || line.starts_with("from "))
}

/// Reads a graph in this form.
pub(crate) fn read(text: &str) -> Result<Graph, ScopeError> {
    let start = DumpPlace::Line(1);
    if !text.contains(IMPORT) {
        return Err(wrong(start, "this Python does not rebuild a graph: it does not import TorchAir's `ge_apis`"));
    }
    if !text.contains(TRACED) {
        return Err(wrong(
            start,
            "this graph has no `## FX Code:` comments, and marks are nowhere else in this form; dump it as text: \
             config.debug.graph_dump.type = \"txt\"",
        ));
    }
    let mut reader = Reader::default();
    let mut number = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        number += 1;
        let first = number;
        if let Some(traced) = line.strip_prefix(TRACED) {
            reader.traced(traced, number)?;
        } else if let Some(place) = line.strip_prefix(LINE) {
            reader.line = source_line(place);
        } else if !line.starts_with('#') && !line.trim().is_empty() && line.contains(" = ge.") {
            // Arrays are written over several lines.
            let mut statement = line.to_owned();
            while !call::is_complete(&statement) {
                let Some(more) = lines.next() else {
                    return Err(wrong(DumpPlace::Line(first), "this call does not end"));
                };
                number += 1;
                statement.push('\n');
                statement.push_str(more);
            }
            reader.call(&statement, first)?;
        }
    }
    dump::assemble(vec![reader.graph], start)
}

/// `mm` of `mm: torch.float32[8, 16]cpu`.
fn name_of_argument(argument: &str) -> String {
    argument.split(':').next().unwrap_or_default().trim().to_owned()
}

/// `"model.py", line 7, in forward    q = ...`: the place, and the code for telling operators apart.
fn source_line(text: &str) -> Option<SourceLine> {
    let (path, rest) = text.strip_prefix('"')?.split_once("\", line ")?;
    let (number, rest) = rest.split_once(',')?;
    Some(SourceLine { place: format!("{path}:{number}"), code: rest.to_owned(), is_fresh: true })
}

#[derive(Debug)]
struct SourceLine {
    place: String,
    code: String,
    /// Nothing traced has come since.
    is_fresh: bool,
}

#[derive(Debug, Default)]
struct Reader {
    graph: DumpGraph,
    frames: Frames,
    line: Option<SourceLine>,
    origin: Option<Origin>,
    /// Node and output of each variable.
    variables: HashMap<String, String>,
    /// What is known of the type of each variable.
    types: HashMap<String, ElementType>,
    /// The variable that holds the result of each traced operator.
    results: HashMap<String, String>,
    traced: Traced,
    waits: Waits,
    /// `source:output` of what the graph ends with beside its results: what is written to the model's inputs, prefetches.
    ends: Vec<String>,
    names: HashSet<String>,
}

/// The traced operator whose calls are read.
#[derive(Debug, Default)]
struct Traced {
    name: String,
    /// Of its result, if that is one tensor.
    result_type: Option<ElementType>,
    /// The traced operator of its first argument: where there is no call for it, its result is the same.
    alias: String,
    /// The first variable of the last call.
    last: Option<String>,
}

impl Reader {
    fn traced(&mut self, code: &str, number: usize) -> Result<(), ScopeError> {
        let malformed = || wrong(DumpPlace::Line(number), "this `FX Code` is not of the form `name = operator(...)`");
        let (result, operator) = code.split_once(" = ").ok_or_else(malformed)?;
        let (operator, arguments) = operator.split_once('(').ok_or_else(malformed)?;
        let torch_op = operator.trim().trim_start_matches("torch.ops.").to_owned();
        self.end_of_traced();
        if torch_op.starts_with("air.scope_enter") {
            self.frames.enter(arguments).ok_or_else(malformed)?;
        } else if torch_op.starts_with("air.scope_exit") {
            self.frames.exit();
        } else {
            let (fx_node, result_type) = result.split_once(':').unwrap_or((result, ""));
            let fx_node = fx_node.trim().to_owned();
            let line = self.line_of(&torch_op);
            let arguments = call::items(arguments.trim_end().trim_end_matches(')'));
            let stream = self.frames.stream().to_owned();
            match torch_op.as_str() {
                "air.record.default" => self.waits.record(&fx_node, &stream),
                "air.wait.default" => self.wait(&stream, arguments.iter().flat_map(|list| call::items(list))),
                "air.wait_tensor.default" => self.wait(&stream, arguments.iter().skip(1).copied()),
                "npu.npu_prefetch.default" => self.prefetch(&arguments, DumpPlace::Line(number))?,
                _ => {}
            }
            self.traced = Traced {
                name: fx_node.clone(),
                result_type: ElementType::of_traced(result_type),
                alias: arguments.first().copied().map_or_else(String::new, name_of_argument),
                last: None,
            };
            self.origin = Some(Origin { torch_op: torch_op.into(), fx_node: fx_node.into(), line: line.into() });
        }
        if let Some(line) = &mut self.line {
            line.is_fresh = false;
        }
        Ok(())
    }

    /// The next node on a stream waits for the results of these traced operators.
    fn wait<'a>(&mut self, stream: &str, traced: impl Iterator<Item = &'a str>) {
        let node_of = |traced: &'a str| {
            let of_result = || Some(self.result_of(traced)?.rsplit_once(':')?.0.to_owned());
            self.waits.recorded(&name_of_argument(traced)).cloned().or_else(of_result)
        };
        let nodes = traced.filter_map(node_of).collect();
        self.waits.wait(stream, nodes);
    }

    /// `node:output` of the result of a traced operator, given as an argument of another.
    fn result_of(&self, argument: &str) -> Option<&String> {
        self.variables.get(self.results.get(&name_of_argument(argument))?)
    }

    /// A prefetch has no result, so there is no call for it: `npu_prefetch(tensor, dependency, size)`. The graph waits for
    /// it in the end.
    fn prefetch(&mut self, arguments: &[&str], place: DumpPlace) -> Result<(), ScopeError> {
        let tensor = arguments.first().and_then(|tensor| self.result_of(tensor)).cloned();
        let stream = self.frames.stream().to_owned();
        self.wait(&stream, arguments.iter().skip(1).take(1).copied());
        let name = self.unique("Cmo");
        let mut node = Node::new(&name, "Cmo", 0, 0);
        self.frames.apply(&mut node)?;
        let control = self.waits.take(&stream).into_iter().map(|node| format!("{node}:-1"));
        let inputs = tensor.into_iter().chain(control).map(|text| Input { text, place }).collect();
        self.waits.made(&stream, &name);
        self.ends.push(format!("{name}:-1"));
        self.graph.push(DumpOp { node, has_id: false, inputs, subgraphs: Vec::new() }, &[], &[]);
        Ok(())
    }

    /// What its calls have made is the result of a traced operator.
    fn end_of_traced(&mut self) {
        let traced = std::mem::take(&mut self.traced);
        let variable = traced.last.clone().or_else(|| self.results.get(&traced.alias).cloned());
        if let Some(variable) = variable {
            if let (Some(_), Some(result_type)) = (traced.last, traced.result_type) {
                self.types.entry(variable.clone()).or_insert(result_type);
            }
            self.results.insert(traced.name, variable);
        }
    }

    /// Every line is written once only, so what follows it may also come from a line that was written long before: the
    /// line is right for the first operator, and for others if its code names them.
    fn line_of(&self, torch_op: &str) -> String {
        let name = torch_op.split('.').nth(1).unwrap_or(torch_op);
        match &self.line {
            Some(line) if line.is_fresh || line.code.contains(name) => line.place.clone(),
            Some(_) | None => String::new(),
        }
    }

    fn call(&mut self, statement: &str, number: usize) -> Result<(), ScopeError> {
        let place = DumpPlace::Line(number);
        let Some(call) = Call::parse(statement) else {
            return Err(wrong(place, "this is not of the form `name = ge.Type(...)`"));
        };
        let name = self.name_of(&call);
        let is_source = matches!(call.op_type, "Data" | "RefData" | "Const");
        let mut node = Node::new(&name, call.op_type, 0, 0);
        if !is_source && call.op_type != "NetOutput" {
            node.origin = self.origin.clone().map(Box::new);
        }
        self.frames.apply(&mut node)?;
        let stream = self.frames.stream().to_owned();
        let first = self.graph.ops.len();
        let mut inputs = Vec::new();
        let mut input_types = Vec::new();
        for argument in call.arguments.iter().filter(|_| !is_source) {
            match argument {
                Argument::Input(value) => {
                    input_types.extend(self.types.get(*value).cloned().or_else(|| ElementType::of_constant(value)));
                    inputs.push(Input { text: self.source(value, &name), place });
                }
                Argument::Named("dependencies", value) => {
                    let sources = call::items(value).into_iter().filter_map(|source| self.variables.get(source));
                    let control = sources.filter_map(|source| source.rsplit_once(':'));
                    inputs.extend(control.map(|(node, _)| Input { text: format!("{node}:-1"), place }));
                }
                // An input may be given by name; attributes are no variables.
                Argument::Named(_, value) => {
                    inputs.extend(self.variables.get(*value).map(|text| Input { text: text.clone(), place }));
                }
            }
        }
        if call.op_type == "Assign" && self.assigns_to_an_input(&call, &inputs) {
            return Ok(());
        }
        if call.op_type == "NetOutput" {
            inputs.extend(self.ends.drain(..).map(|text| Input { text, place }));
        } else if !matches!(call.op_type, "Data" | "RefData") {
            let waited = self.waits.take(&stream).into_iter();
            let control = waited.map(|node| Input { text: format!("{node}:-1"), place });
            // A constant among the arguments is made before the op itself.
            self.graph.ops.get_mut(first).map_or(&mut inputs, |constant| &mut constant.inputs).extend(control);
            self.waits.made(&stream, &name);
        }
        if call.op_type == "Cast" {
            let goal = ElementType::named(&call, "dst_type");
            node.same_type = goal.is_some() && input_types.first() == goal.as_ref();
        }
        let result_type = ElementType::of_result(&call, &input_types);
        if is_source {
            let mut shapes = call.arguments.iter().filter_map(|argument| match argument {
                Argument::Named("shape", shape) => Some(shape),
                Argument::Named(..) | Argument::Input(_) => None,
            });
            self.graph.unknown_shape |= shapes.any(|shape| shape.contains('-'));
        }
        for (output, variable) in call.results.iter().enumerate() {
            self.variables.insert((*variable).to_owned(), format!("{name}:{output}"));
            self.types.extend(result_type.clone().map(|known| ((*variable).to_owned(), known)));
        }
        if let Some(first) = call.results.first().map(|name| (*name).to_owned()) {
            if is_source {
                self.results.insert(name, first);
            } else {
                self.traced.last = Some(first);
            }
        }
        self.graph.push(DumpOp { node, has_id: false, inputs, subgraphs: Vec::new() }, &[], &[]);
        Ok(())
    }

    /// What is written to an input of the model is one more result of it: TorchAir takes such an op out of the graph that
    /// the engine gets.
    fn assigns_to_an_input(&mut self, call: &Call<'_>, inputs: &[Input]) -> bool {
        let [goal, value, ..] = inputs else { return false };
        let is_input = |op: &DumpOp| op.node.op_type == "Data" && goal.text == format!("{}:0", op.node.name);
        if !self.graph.ops.iter().any(is_input) {
            return false;
        }
        self.ends.push(value.text.clone());
        let variables = call.results.iter().map(|variable| ((*variable).to_owned(), value.text.clone()));
        self.variables.extend(variables);
        true
    }

    /// The name the call gives, else that of its first result without the number, else the type; made unique.
    fn name_of(&mut self, call: &Call<'_>) -> String {
        let given = call.arguments.iter().find_map(|argument| match argument {
            Argument::Named("node_name", name) => Some(name.trim_matches('"')),
            Argument::Named(..) | Argument::Input(_) => None,
        });
        let of_result = || call.results.first().and_then(|result| result.rsplit_once('_')).map(|(name, _)| name);
        let wanted = given.filter(|name| *name != "None").or_else(of_result).filter(|name| !name.is_empty());
        self.unique(wanted.unwrap_or(call.op_type))
    }

    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// `source:output` of an input; a value that is written out becomes a constant.
    fn source(&mut self, value: &str, reader: &str) -> String {
        match self.variables.get(value) {
            Some(source) => source.clone(),
            None if value.is_empty() || value == "None" => String::new(),
            None => {
                let name = self.unique(&format!("{reader}/Const"));
                let node = Node::new(&name, "Const", 0, 0);
                self.graph.push(DumpOp { node, has_id: false, inputs: Vec::new(), subgraphs: Vec::new() }, &[], &[]);
                format!("{name}:0")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# -*- coding: utf-8 -*-\nfrom torch import tensor\n\
        from torchair._ge_concrete_graph import ge_apis as ge\n\n\
        x_0 = ge.Data(index=0, dtype=0, shape=[8, 8], placement=\"NPU\", node_name=\"x\")\n";

    fn shown(body: &str) -> Vec<String> {
        let graph = read(&format!("{HEAD}{body}")).unwrap();
        let origin = |node: &Node| {
            node.origin
                .as_ref()
                .map_or_else(String::new, |origin| format!(" {} {} {}", origin.fx_node, origin.torch_op, origin.line))
        };
        graph
            .nodes
            .iter()
            .map(|node| format!("{} {} {}{}", node.name, node.op_type, node.scope, origin(node)))
            .collect()
    }

    #[test]
    fn marks_follow_the_stack_of_frames() {
        let enter = |scope: &str| {
            format!(
                "## FX Code: scope_enter = torch.ops.air.scope_enter.default(\
                 ['_super_kernel_scope', '_super_kernel_options'], [{scope}, 'a=1'])\n"
            )
        };
        let exit = "## FX Code: scope_exit = torch.ops.air.scope_exit.default()\n";
        let op = |name: &str| {
            format!(
                "## FX Code: {name}: t = torch.ops.aten.{name}.default(x)\n{name}_0 = ge.Op(x_0, node_name=\"{name}\")\n"
            )
        };
        let opened = [enter("'o\\'s'"), op("a"), enter("''"), op("b"), enter("\"in\\n\""), op("c")];
        let closed = ["d", "e", "f"].map(|name| format!("{exit}{}", op(name)));
        let body = [opened.concat(), closed.concat()].concat();
        let scopes: Vec<String> =
            shown(&body).iter().map(|line| line.split(" aten").next().unwrap_or("").to_owned()).collect();
        assert_eq!(scopes, ["x Data ", "a Op o's a", "b Op  b", "c Op in\n c", "d Op  d", "e Op o's e", "f Op  f"]);
    }

    #[test]
    fn inputs_names_and_lines() {
        let body = concat!(
            "# File \"m.py\", line 3, in forward    y = x @ w      ^^^^\n",
            "## FX Code: mm: torch.float32[8, 8]cpu = torch.ops.aten.mm.default(x: t, w: t)\n",
            "MatMul_0 = ge.MatMul(x_0, None, ge.Const([[1, 2],\n  [3, 4]], dtype=3), node_name=\"MatMul\")\n",
            "## FX Code: add: t = torch.ops.aten.add.Tensor(mm, 1)\n",
            "[Split_0, Split_1] = ge.Split([MatMul_0, x_0], 2, axis=-1)\n\n",
            "_ = ge.NetOutput([Split_0, Split_1], dependencies=[MatMul_0])\n",
        );
        assert_eq!(
            shown(body),
            [
                "x Data ",
                "MatMul/Const Const ",
                "MatMul MatMul  mm aten.mm.default m.py:3",
                "Split/Const Const ",
                "Split Split  add aten.add.Tensor ",
                "NetOutput NetOutput ",
            ]
        );
        let graph = read(&format!("{HEAD}{body}")).unwrap();
        let edges: Vec<_> = graph.data.iter().map(|edge| (edge.from.0, edge.output, edge.to.0, edge.input)).collect();
        assert_eq!(
            edges,
            [(0, 0, 2, 0), (1, 0, 2, 2), (2, 0, 4, 0), (0, 0, 4, 1), (3, 0, 4, 2), (4, 0, 5, 0), (4, 1, 5, 1)]
        );
        assert_eq!(graph.control.len(), 1);
    }

    #[test]
    fn waits_types_and_assignments_stand_in_traced_operators() {
        let body = concat!(
            "## FX Code: mul: torch.float32[8, 8]cpu = torch.ops.aten.mul.Tensor(x: torch.float32[8, 8]cpu, 2)\n",
            "Mul_0 = ge.Mul(x_0, ge.Const(2, dtype=0), node_name=\"Mul\")\n",
            "Cast_0 = ge.Cast(Mul_0, dst_type=0, node_name=\"Cast\")\n",
            "Cast_1_0 = ge.Cast(Cast_0, dst_type=1, node_name=\"Cast_1\")\n",
            "## FX Code: record: torch.float32[0]cpu = torch.ops.air.record.default()\n",
            "## FX Code: wait_tensor: t = torch.ops.air.wait_tensor.default(x: t, mul: torch.float32[8, 8]cpu)\n",
            "Identity_0 = ge.Identity(x_0, node_name=\"Identity\")\n",
            "## FX Code: wait = torch.ops.air.wait.default([record, mul: torch.float32[8, 8]cpu])\n",
            "## FX Code: add: t = torch.ops.aten.add.Tensor(x: t, wait_tensor: t)\n",
            "Add_0 = ge.Add(x_0, Identity_0, node_name=\"Add\")\n",
            "## FX Code: npu_prefetch = torch.ops.npu.npu_prefetch.default(x: t, add: t, 1024)\n",
            "## FX Code: copy_: t = torch.ops.aten.copy_.default(x: t, add: t)\n",
            "Assign_0 = ge.Assign(x_0, Add_0, node_name=\"Assign\")\n",
            "_ = ge.NetOutput([Cast_1_0], dependencies=[])\n",
        );
        let graph = read(&format!("{HEAD}{body}")).unwrap();
        let name = |index| graph.node(index).name.as_str();
        let waits: Vec<_> = graph.control.iter().map(|edge| (name(edge.from), name(edge.to))).collect();
        let of_prefetch = [("Add", "Cmo"), ("Cmo", "NetOutput")];
        assert_eq!(waits[..3], [("Cast_1", "Identity"), ("Cast_1", "Add"), ("Cast_1", "Add")]);
        assert_eq!(waits[3..], of_prefetch);
        let same: Vec<_> = graph.nodes.iter().filter(|node| node.same_type).map(|node| node.name.as_str()).collect();
        assert_eq!(same, ["Cast"]);
        assert!(graph.nodes.iter().all(|node| node.op_type != "Assign"));
        let results = graph.data.iter().filter(|edge| name(edge.to) == "NetOutput").map(|edge| name(edge.from));
        assert_eq!(results.collect::<Vec<_>>(), ["Cast_1", "Add"]);
    }

    #[test]
    fn what_cannot_be_read_says_what_to_give() {
        let fails = |text: &str| read(text).unwrap_err().to_string();
        assert!(fails("import torch\n").contains("ge_apis"));
        assert!(fails(HEAD).contains("graph_dump.type"));
        assert!(
            fails(&format!("{HEAD}## FX Code: a = b()\ny_0 = ge.A(x_0\n")).contains("line 7: this call does not end")
        );
        assert!(fails(&format!("{HEAD}## FX Code: nothing\n")).contains("line 6"));
        assert!(is_python("# c\n\nfrom torch import tensor") && !is_python("name: \"from\"") && !is_python(""));
    }
}
