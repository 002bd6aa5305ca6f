//! The sub-kernel functions, each once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{ByPosition, CoreKind, Op, OpPosition, SubKernel, SubKernelCode, SuperKernel};
use crate::program::{FunctionId, FunctionRef, TableEntry, TableId};

/// All functions and tables, and which of them each op uses.
pub(super) struct Functions {
    /// In order of first use.
    pub(super) list: Vec<FunctionRef>,
    /// Of dynamic ops, one per sub-kernel.
    pub(super) tables: Vec<Vec<TableEntry>>,
    code: ByPosition<OpCode>,
}

/// What an op calls.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpCode {
    /// A function per kind.
    Static { aic: Option<FunctionId>, aiv: Option<FunctionId> },
    /// Whatever the switch picks.
    Dynamic(TableId),
}

impl OpCode {
    /// The function a static op calls on `kind`.
    pub(super) fn function(self, kind: CoreKind) -> Option<FunctionId> {
        match (self, kind) {
            (Self::Static { aic, .. }, CoreKind::Aic) => aic,
            (Self::Static { aiv, .. }, CoreKind::Aiv) => aiv,
            (Self::Dynamic(_), _) => None,
        }
    }
}

impl Functions {
    pub(super) fn of(kernel: &SuperKernel) -> Self {
        let mut names = Names::default();
        let mut tables: Vec<Vec<TableEntry>> = Vec::new();
        let mut known: HashMap<*const SubKernel, OpCode> = HashMap::new();
        let of_op = |op: &Op| {
            *known.entry(Arc::as_ptr(&op.kernel)).or_insert_with(|| match &op.kernel.code {
                SubKernelCode::Static(functions) => {
                    let mut id =
                        |kind| functions.iter().find(|function| function.kind == kind).map(|f| names.id(&f.name, kind));
                    OpCode::Static { aic: id(CoreKind::Aic), aiv: id(CoreKind::Aiv) }
                }
                SubKernelCode::Dynamic(entries) => {
                    let table = entries.iter().map(|entry| TableEntry {
                        key: entry.key,
                        kernel_type: entry.kernel_type,
                        aic: entry.aic.as_deref().map(|name| names.id(name, CoreKind::Aic)),
                        aiv: entry.aiv.as_deref().map(|name| names.id(name, CoreKind::Aiv)),
                    });
                    tables.push(table.collect());
                    OpCode::Dynamic(TableId(tables.len() as u32 - 1))
                }
            })
        };
        let code = kernel.ops.iter().map(of_op).collect();
        Self { list: names.list, tables, code }
    }

    /// What the op at `position` calls.
    pub(super) fn code(&self, position: OpPosition) -> OpCode {
        self.code[position]
    }
}

#[derive(Default)]
struct Names {
    list: Vec<FunctionRef>,
    ids: HashMap<String, FunctionId>,
}

impl Names {
    /// By name alone: one symbol is declared once, whoever calls it.
    fn id(&mut self, name: &str, kind: CoreKind) -> FunctionId {
        *self.ids.entry(name.to_owned()).or_insert_with(|| {
            self.list.push(FunctionRef { name: name.to_owned(), kind });
            FunctionId(self.list.len() as u32 - 1)
        })
    }
}
