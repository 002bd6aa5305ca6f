//! A core on its own, for trying instructions one by one.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::aicore::workbench::Workbench;
use crate::aicore::{ElementType, Issued, Memory, OpCode, Pipe, Register};
use crate::model::Chip;
use crate::sim::machine::core_state::memory_sizes;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(instruction_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(memories, module)?)?;
    module.add_class::<AiCore>()
}

/// The numbers that kernel code and the core agree on, by what they are of: (name, number).
#[pyfunction]
fn instruction_numbers() -> Vec<(&'static str, Vec<(&'static str, u32)>)> {
    vec![
        ("op", OpCode::ALL.iter().map(|op| (op.name(), *op as u32)).collect()),
        ("type", ElementType::ALL.iter().map(|kind| (kind.name(), *kind as u32)).collect()),
        ("register", Register::ALL.iter().map(|register| (register.name(), *register as u32)).collect()),
    ]
}

/// Every memory of the chip: its name and size, and the bytes per cycle that pass in and out of it.
#[pyfunction]
fn memories() -> Vec<(&'static str, u64, u64)> {
    let row = |(memory, size): (Memory, u64)| (memory.name(), size, Pipe::V.price().1);
    let mut rows: Vec<_> = Memory::LOCAL.into_iter().zip(memory_sizes(Chip::C220)).map(row).collect();
    // As much as a kernel may ask for.
    rows.push((Memory::Gm.name(), 1 << 40, Pipe::Mte2.price().1));
    rows
}

/// One core with all memories: it is one of both kinds.
#[pyclass(module = "superkernel._core")]
struct AiCore {
    bench: Workbench,
}

fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("there is no {what} `{name}`"))
}

fn memory(name: &str) -> PyResult<Memory> {
    let all = Memory::LOCAL.into_iter().chain([Memory::Gm]);
    all.into_iter().find(|memory| memory.name() == name).ok_or_else(|| unknown("memory", name))
}

fn register_named(name: &str) -> PyResult<Register> {
    Register::ALL.iter().copied().find(|it| it.name() == name).ok_or_else(|| unknown("register", name))
}

#[pymethods]
impl AiCore {
    #[new]
    #[pyo3(signature = (global_bytes = 0))]
    fn new(global_bytes: u64) -> Self {
        Self { bench: Workbench::new(memory_sizes(Chip::C220), global_bytes) }
    }

    /// The address of the first byte of a memory.
    fn address(&mut self, name: &str) -> PyResult<u64> {
        Ok(self.bench.bytes(memory(name)?).as_ptr() as u64)
    }

    /// Bytes of a memory.
    fn read<'py>(&mut self, py: Python<'py>, name: &str, offset: usize, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.bench.bytes(memory(name)?);
        let end = offset.checked_add(count).filter(|end| *end <= bytes.len());
        let end = end.ok_or_else(|| PyValueError::new_err(format!("{name} has {} bytes", bytes.len())))?;
        Ok(PyBytes::new(py, &bytes[offset..end]))
    }

    /// Changes bytes of a memory.
    fn write(&mut self, name: &str, offset: usize, data: &[u8]) -> PyResult<()> {
        let bytes = self.bench.bytes(memory(name)?);
        let end = offset.checked_add(data.len()).filter(|end| *end <= bytes.len());
        let end = end.ok_or_else(|| PyValueError::new_err(format!("{name} has {} bytes", bytes.len())))?;
        bytes[offset..end].copy_from_slice(data);
        Ok(())
    }

    /// The value of a register; `index` counts within a group.
    #[pyo3(signature = (name, index = 0))]
    fn get_register(&mut self, name: &str, index: u32) -> PyResult<u64> {
        Ok(self.bench.core().registers.get_number(register_named(name)? as u32 + index))
    }

    /// Changes a register.
    #[pyo3(signature = (name, value, index = 0))]
    fn set_register(&mut self, name: &str, value: u64, index: u32) -> PyResult<()> {
        self.bench.core().registers.set_number(register_named(name)? as u32 + index, value);
        Ok(())
    }

    /// Executes an instruction; a broken rule is a `ValueError`.
    fn issue(&mut self, op: &str, types: Vec<String>, words: Vec<u64>) -> PyResult<()> {
        let op = OpCode::from_name(op).ok_or_else(|| unknown("instruction", op))?;
        let types = types
            .iter()
            .map(|name| {
                ElementType::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| unknown("type", name))
            })
            .collect::<PyResult<Vec<_>>>()?;
        self.bench.issue(&Issued::new(op, &types, &words)).map_err(|fault| PyValueError::new_err(fault.0))
    }

    /// What the last instruction declared to touch: (operand, memory, written, offsets of the pieces, their bytes).
    fn operands(&mut self) -> Vec<(&'static str, &'static str, bool, Vec<u64>, u64)> {
        let bases: Vec<u64> = Memory::LOCAL
            .into_iter()
            .chain([Memory::Gm])
            .map(|memory| self.bench.bytes(memory).as_ptr() as u64)
            .collect();
        let row = |operand: &crate::aicore::operand::Operand| {
            let start = operand.address.wrapping_sub(bases[operand.memory as usize]);
            let mut pieces = Vec::new();
            operand.shape.for_each(|offset| pieces.push(start + offset));
            let written = operand.access.writes();
            (operand.name, operand.memory.name(), written, pieces, operand.shape.bytes)
        };
        self.bench.operands().iter().map(row).collect()
    }
}
