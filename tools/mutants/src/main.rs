//! Puts small mistakes into Rust sources, all of them at once, each behind a switch: `mutants FILE...` rewrites the
//! files and prints a line per mistake (number, place, what is changed).
//!
//! The kinds of mistake are those of cargo-mutants: a function that returns at once with some value, another operator,
//! no negation, a guard that always or never holds, an arm that is never taken. With cargo-mutants every mistake is a
//! build of its own; here one build has them all, and `crate::mutant(N)` says which one is made (`scripts/mutants`).

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

fn main() {
    let mut number = 0;
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a source");
        let parsed = syn::parse_file(&text).expect("Rust");
        let mut finder = Finder { text: &text, edits: Vec::new(), number, found: Vec::new(), function: String::new() };
        finder.visit_file(&parsed);
        number = finder.number;
        for (mistake, offset, what) in &finder.found {
            let before = &text[..*offset];
            let line = 1 + before.matches('\n').count();
            let column = 1 + before.chars().rev().take_while(|character| *character != '\n').count();
            println!("{mistake}\t{path}:{line}:{column}\t{what}");
        }
        std::fs::write(&path, apply(&text, finder.edits)).expect("a place for it");
    }
}

/// A piece of text to be replaced. Pieces may lie inside each other: then the outer one says where the inner text goes.
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
    edits: Vec<Edit>,
    number: usize,
    found: Vec<(usize, usize, String)>,
    function: String,
}

impl Finder<'_> {
    fn text(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn mistake(&mut self, at: usize, what: String) -> usize {
        self.number += 1;
        self.found.push((self.number, at, format!("{what} in {}", self.function)));
        self.number
    }

    /// `expression` becomes one of the others when their switch is on; `at` is where to look for it.
    fn alternatives(&mut self, expression: &impl Spanned, at: usize, others: Vec<(String, String)>) {
        let range = expression.span().byte_range();
        let mut before = "(".to_owned();
        for (other, what) in others {
            let number = self.mistake(at, what);
            before += &format!("if crate::mutant({number}) {{ {other} }} else ");
        }
        self.edits.push(Edit { range, before: before + "{ ", after: " })".to_owned() });
    }

    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        let output = match &signature.output {
            syn::ReturnType::Default => "()".to_owned(),
            syn::ReturnType::Type(_, output) => self.text(output.as_ref()).to_owned(),
        };
        let start = block.brace_token.span.open().byte_range().end;
        for value in values(&output) {
            let number = self.mistake(start, format!("return {value}"));
            let before = format!(" if crate::mutant({number}) {{ return {value}; }}");
            self.edits.push(Edit { range: start..start, before, after: String::new() });
        }
    }
}

/// Values that a function can return whatever it is about.
fn values(output: &str) -> Vec<String> {
    let of = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match output {
        "()" => of(&["()"]),
        "bool" => of(&["true", "false"]),
        "usize" | "u32" | "u64" | "i64" | "u8" => of(&["0", "1"]),
        "String" => of(&["String::new()", "\"xyzzy\".to_owned()"]),
        "&'static str" => of(&["\"\"", "\"xyzzy\""]),
        _ if output.starts_with("Option<bool") => of(&["None", "Some(true)", "Some(false)"]),
        _ if output.starts_with("Option<&'static str") => of(&["None", "Some(\"\")", "Some(\"xyzzy\")"]),
        _ if output.starts_with("Option<") => of(&["None"]),
        _ if output.starts_with("Vec<") => of(&["Vec::new()"]),
        _ if output.starts_with("HashSet<") => of(&["HashSet::new()"]),
        _ if output.starts_with("Result<()") => of(&["Ok(())"]),
        _ if output.starts_with("Result<usize") => of(&["Ok(0)", "Ok(1)"]),
        _ if output.starts_with("Result<Vec") => of(&["Ok(Vec::new())"]),
        _ => Vec::new(),
    }
}

/// Other operators.
fn other_operators(operator: &str) -> &'static [&'static str] {
    match operator {
        "==" => &["!="],
        "!=" => &["=="],
        "&&" => &["||"],
        "||" => &["&&"],
        "<" => &["==", ">", "<="],
        ">" => &["==", "<", ">="],
        "<=" => &[">"],
        ">=" => &["<"],
        "+" => &["-", "*"],
        "-" => &["+", "/"],
        "*" => &["+", "/"],
        "/" => &["%", "*"],
        "%" => &["/", "+"],
        "&" => &["|", "^"],
        "|" => &["&", "^"],
        "^" => &["|", "&"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        "+=" => &["-=", "*="],
        "-=" => &["+=", "/="],
        "*=" => &["+=", "/="],
        "|=" => &["&=", "^="],
        "&=" => &["|=", "^="],
        _ => &[],
    }
}

/// Does a condition bind names?
fn binds(expression: &syn::Expr) -> bool {
    struct Lets(bool);
    impl<'a> Visit<'a> for Lets {
        fn visit_expr_let(&mut self, _: &'a syn::ExprLet) {
            self.0 = true;
        }
    }
    let mut lets = Lets(false);
    lets.visit_expr(expression);
    lets.0
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        syn::Meta::NameValue(_) => false,
    })
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    // Evaluated by the compiler.
    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if is_test(&function.attrs) || function.sig.constness.is_some() {
            return;
        }
        self.function = function.sig.ident.to_string();
        self.body(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if function.sig.constness.is_some() {
            return;
        }
        self.function = function.sig.ident.to_string();
        self.body(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let operator = self.text(&binary.op).to_owned();
        let others = other_operators(&operator);
        if !others.is_empty() && !binds(&binary.left) && !binds(&binary.right) {
            let (left, right) =
                (self.text(binary.left.as_ref()).to_owned(), self.text(binary.right.as_ref()).to_owned());
            let described = |other: &&'static str| {
                let shown: String = self.text(binary).split_whitespace().collect::<Vec<_>>().join(" ");
                (format!("{left} {other} {right}"), format!("`{operator}` → `{other}` of `{shown}`"))
            };
            let others = others.iter().map(described).collect();
            self.alternatives(binary, binary.op.span().byte_range().start, others);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        let operator = self.text(&unary.op).to_owned();
        if operator == "!" && !binds(&unary.expr) {
            let inner = self.text(unary.expr.as_ref()).to_owned();
            let what = format!("no `!` before `{inner}`");
            self.alternatives(unary, unary.op.span().byte_range().start, vec![(inner, what)]);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, expression: &'a syn::ExprMatch) {
        let wild = expression.arms.last().is_some_and(|arm| matches!(arm.pat, syn::Pat::Wild(_)));
        for arm in &expression.arms {
            let pattern = self.text(&arm.pat).split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some((_, guard)) = &arm.guard {
                if !binds(guard) {
                    let range = guard.span().byte_range();
                    let always = self.mistake(range.start, format!("guard of `{pattern}` holds always"));
                    let never = self.mistake(range.start, format!("guard of `{pattern}` holds never"));
                    let before = format!("!crate::mutant({never}) && (crate::mutant({always}) || (");
                    self.edits.push(Edit { range, before, after: "))".to_owned() });
                }
            } else if wild && !matches!(arm.pat, syn::Pat::Wild(_)) {
                let end = arm.pat.span().byte_range().end;
                let never = self.mistake(arm.pat.span().byte_range().start, format!("no arm `{pattern}`"));
                let before = format!(" if !crate::mutant({never})");
                self.edits.push(Edit { range: end..end, before, after: String::new() });
            }
        }
        visit::visit_expr_match(self, expression);
    }

    // What a macro makes of its tokens is not known here.
    fn visit_macro(&mut self, _: &'a syn::Macro) {}
}
