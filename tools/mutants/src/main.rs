//! Puts the mistakes that `cargo mutants --list` names into Rust sources, all of them at once, each behind a switch.
//!
//! With cargo-mutants every mistake is a build of its own; here one build has them all, and `crate::mutant(N)` says which
//! one is made (`scripts/mutants`). `mutants FOLDER` reads a line per mistake from its input (number, file, line, column
//! and the same of the end, replacement; tabs between), writes the files with the switches to FOLDER, and prints the
//! numbers of the mistakes that have one. What the compiler evaluates itself (constants, `const fn`), and what decides
//! about a type (`-> impl Iterator`), cannot have one.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Where a mistake is: line and column of start and end.
type Place = [usize; 4];

/// What stands there instead.
struct Mistake {
    number: usize,
    replacement: String,
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder to write to");
    let mut listed = String::new();
    std::io::stdin().read_to_string(&mut listed).expect("a list of mistakes");
    let mut files: BTreeMap<&str, HashMap<Place, Vec<Mistake>>> = BTreeMap::new();
    for line in listed.lines() {
        let fields: Vec<&str> = line.splitn(7, '\t').collect();
        let [number, file, places @ .., replacement] = &fields[..] else { panic!("no mistake: {line}") };
        let places: Vec<usize> = places.iter().map(|number| number.parse().expect("a place")).collect();
        let mistake = Mistake { number: number.parse().expect("a number"), replacement: (*replacement).to_owned() };
        let place = places.try_into().expect("start and end");
        files.entry(*file).or_default().entry(place).or_default().push(mistake);
    }
    for (file, wanted) in files {
        let text = std::fs::read_to_string(file).expect("a source");
        let mut finder = Finder { text: &text, wanted, edits: Vec::new() };
        finder.visit_file(&syn::parse_file(&text).expect("Rust"));
        let (path, changed) = (Path::new(&folder).join(file), apply(&text, finder.edits));
        // What has not changed keeps its time, and need not be compiled again.
        if std::fs::read_to_string(&path).is_ok_and(|old| old == changed) {
            continue;
        }
        std::fs::write(path, changed).expect("a place for it");
    }
}

/// Text to put around a piece. Pieces may lie inside each other.
struct Edit {
    range: Range<usize>,
    before: String,
    after: String,
}

/// Every edit puts something around its range, so edits inside each other need no care but their order.
fn apply(text: &str, edits: Vec<Edit>) -> String {
    let mut inserts: Vec<([usize; 4], String)> = Vec::new();
    for (number, edit) in edits.into_iter().enumerate() {
        let (length, most) = (edit.range.len(), usize::MAX);
        // At one place: what ends there first (inner before outer), then what begins there (outer before inner). Of
        // two with the same range the one found first is the outer one.
        inserts.push(([edit.range.start, 1, most - length, number], edit.before));
        inserts.push(([edit.range.end, 0, length, most - number], edit.after));
    }
    inserts.sort();
    let mut out = String::with_capacity(2 * text.len());
    let mut done = 0;
    for ([place, ..], piece) in inserts {
        out.push_str(&text[done..place]);
        out.push_str(&piece);
        done = place;
    }
    out + &text[done..]
}

struct Finder<'t> {
    text: &'t str,
    wanted: HashMap<Place, Vec<Mistake>>,
    edits: Vec<Edit>,
}

impl Finder<'_> {
    /// The mistakes at a place; from now on they have a switch.
    fn take(&mut self, start: Span, end: Span) -> Vec<Mistake> {
        let (from, to) = (start.start(), end.end());
        let found = self.wanted.remove(&[from.line, from.column + 1, to.line, to.column + 1]).unwrap_or_default();
        found.iter().for_each(|mistake| println!("{}", mistake.number));
        found
    }

    /// `whole` becomes, when a switch is on, the text in which the replacement stands instead of a part.
    fn alternatives(&mut self, whole: &impl Spanned, parts: Vec<(Range<usize>, Vec<Mistake>)>) {
        let range = whole.span().byte_range();
        let mut before = "(".to_owned();
        for (part, mistakes) in parts {
            let [front, back] = [&self.text[range.start..part.start], &self.text[part.end..range.end]];
            for Mistake { number, replacement } in mistakes {
                before += &format!("if crate::mutant({number}) {{ {front} {replacement} {back} }} else ");
            }
        }
        if before.len() > 1 {
            self.edits.push(Edit { range, before: before + "{ ", after: " })".to_owned() });
        }
    }

    fn insert(&mut self, place: usize, before: String) {
        self.edits.push(Edit { range: place..place, before, after: String::new() });
    }

    /// `false`: nothing inside it can have a switch.
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) -> bool {
        if signature.constness.is_some() {
            return false;
        }
        let decides_type = matches!(&signature.output, syn::ReturnType::Type(_, output) if matches!(**output, syn::Type::ImplTrait(_)));
        if let (Some(first), Some(last), false) = (block.stmts.first(), block.stmts.last(), decides_type) {
            for Mistake { number, replacement } in self.take(first.span(), last.span()) {
                let start = block.brace_token.span.open().byte_range().end;
                self.insert(start, format!(" if crate::mutant({number}) {{ return {replacement}; }}"));
            }
        }
        true
    }
}

/// The operators of `a + b * c`, and what stands between them. A replaced operator may bind differently, so the text is
/// changed as a whole.
fn flatten<'a>(binary: &'a syn::ExprBinary, operators: &mut Vec<&'a syn::BinOp>, operands: &mut Vec<&'a syn::Expr>) {
    operators.push(&binary.op);
    for side in [&*binary.left, &*binary.right] {
        match side {
            syn::Expr::Binary(inner) => flatten(inner, operators, operands),
            operand => operands.push(operand),
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    // Evaluated by the compiler.
    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'a syn::AngleBracketedGenericArguments) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if self.function(&function.sig, &function.block) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if self.function(&function.sig, &function.block) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if function.default.as_ref().is_some_and(|block| self.function(&function.sig, block)) {
            visit::visit_trait_item_fn(self, function);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let (mut operators, mut operands) = (Vec::new(), Vec::new());
        flatten(binary, &mut operators, &mut operands);
        if operands.iter().any(|operand| matches!(operand, syn::Expr::Let(_))) {
            // The names it binds must be seen behind it: only what stands beside it can be put into parentheses.
            self.visit_expr(&binary.left);
            self.visit_expr(&binary.right);
            return;
        }
        let parts = operators
            .iter()
            .map(|operator| (operator.span().byte_range(), self.take(operator.span(), operator.span())));
        let parts = parts.collect();
        self.alternatives(binary, parts);
        operands.into_iter().for_each(|operand| self.visit_expr(operand));
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        let operator = unary.op.span();
        let parts = vec![(operator.byte_range(), self.take(operator, operator))];
        self.alternatives(unary, parts);
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, expression: &'a syn::ExprMatch) {
        for arm in &expression.arms {
            for Mistake { number, .. } in self.take(arm.span(), arm.span()) {
                self.insert(arm.pat.span().byte_range().end, format!(" if !crate::mutant({number})"));
            }
            if let Some((_, guard)) = &arm.guard {
                let parts = vec![(guard.span().byte_range(), self.take(guard.span(), guard.span()))];
                self.alternatives(guard, parts);
            }
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_expr_struct(&mut self, literal: &'a syn::ExprStruct) {
        let mut parts = Vec::new();
        for pair in literal.fields.pairs() {
            let (start, end) = (pair.value().span(), pair.punct().map_or(pair.value().span(), |comma| comma.span()));
            parts.push((start.byte_range().start..end.byte_range().end, self.take(start, end)));
        }
        self.alternatives(literal, parts);
        visit::visit_expr_struct(self, literal);
    }

    // cargo-mutants does not look into macros either.
    fn visit_macro(&mut self, _: &'a syn::Macro) {}
}
