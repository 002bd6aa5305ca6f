//! Durations from where users have them: tables of the profiler, decoded profiling buffers.

mod buffer;
mod csv;
mod sample;

use std::path::{Path, PathBuf};

pub(crate) use buffer::{BufferFormat, BufferKind, BufferOp, BufferProfile, BufferSource, CoreTime, TimeUnit};
use csv::Table;
pub(crate) use sample::Sample;

use super::CostError;

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Where it was read from.
    pub path: PathBuf,
    /// What it says.
    pub content: Content,
}

/// The kinds of file there are.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `op_summary*.csv` or `kernel_details.csv`: a row per task.
    Tasks(Vec<Task>),
    /// `op_statistic.csv`: a row per op type.
    Types(Vec<TypeTotal>),
    /// The JSON form of a profiling buffer.
    Buffer(BufferProfile),
}

/// One task as the profiler saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The op's name in the graph.
    pub name: String,
    /// Its type.
    pub op_type: String,
    /// `AI_CORE`, `AI_VECTOR_CORE`, `MIX_AIC`, `MIX_AIV`, or something that runs elsewhere.
    pub task_type: String,
    /// Blocks.
    pub block_dim: Option<u32>,
    /// Blocks of the other kind of a MIX task.
    pub mix_block_dim: Option<u32>,
    /// From its start to its end.
    pub duration: f64,
    /// From the end of the task before it to its start.
    pub wait: Option<f64>,
    /// Time its cube cores ran.
    pub aic_time: Option<f64>,
    /// Time its vector cores ran.
    pub aiv_time: Option<f64>,
}

/// All tasks of one op type on one core type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeTotal {
    /// The type.
    pub op_type: String,
    /// `AI_CORE`, `AI_VECTOR_CORE`, …
    pub core_type: String,
    /// How many tasks.
    pub count: Option<f64>,
    /// Their time.
    pub total: f64,
    /// The shortest.
    pub least: Option<f64>,
    /// The longest.
    pub most: Option<f64>,
}

/// What the profiler calls a super kernel.
pub(crate) const SUPER_KERNEL: &str = "SuperKernel";

impl Profile {
    /// Reads a file; its content tells what it is.
    pub(crate) fn read(path: &Path) -> Result<Self, CostError> {
        let bytes = crate::fs::read(path)?;
        Self::parse(path, &bytes)
    }

    /// The same from bytes.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, CostError> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let content = if first == Some(&b'{') {
            Content::Buffer(BufferProfile::read(path, bytes)?)
        } else {
            let table = Table::read(path, bytes)?;
            if table.column(&["totaltime(us)"]).is_some() {
                Content::Types(types(&table)?)
            } else {
                Content::Tasks(tasks(&table)?)
            }
        };
        Ok(Self { path: path.to_path_buf(), content })
    }

    /// The decoded buffer that it is, if it is one.
    pub(crate) fn buffer(&self) -> Option<&BufferProfile> {
        match &self.content {
            Content::Buffer(buffer) => Some(buffer),
            Content::Tasks(_) | Content::Types(_) => None,
        }
    }

    /// Its tasks, if it has a row for each.
    pub(crate) fn tasks(&self) -> &[Task] {
        match &self.content {
            Content::Tasks(tasks) => tasks,
            Content::Types(_) | Content::Buffer(_) => &[],
        }
    }
}

fn tasks(table: &Table<'_>) -> Result<Vec<Task>, CostError> {
    let name = table.needed("the op's name", &["opname", "name"])?;
    let op_type = table.needed("the op's type", &["optype", "type"])?;
    let duration = table.needed("the duration", &["taskduration(us)", "duration(us)"])?;
    let task_type = table.column(&["tasktype", "acceleratorcore", "coretype"]);
    let wait = table.column(&["taskwaittime(us)", "waittime(us)"]);
    let block_dim = table.column(&["blockdim", "blocknum"]);
    let mix_block_dim = table.column(&["mixblockdim", "mixblocknum"]);
    let aic_time = table.column(&["aicoretime(us)", "aictime(us)"]);
    let aiv_time = table.column(&["aivtime(us)"]);
    let mut tasks = Vec::new();
    for row in table.rows() {
        let Some(duration) = row.number(Some(duration))? else { continue };
        let blocks = |column| Ok::<_, CostError>(row.number(column)?.map(|blocks| blocks as u32).filter(|n| *n > 0));
        let positive = |column| Ok::<_, CostError>(row.number(column)?.filter(|us| *us > 0.0));
        tasks.push(Task {
            name: row.text(Some(name)).to_owned(),
            op_type: row.text(Some(op_type)).to_owned(),
            task_type: row.text(task_type).to_owned(),
            block_dim: blocks(block_dim)?,
            mix_block_dim: blocks(mix_block_dim)?,
            duration,
            wait: row.number(wait)?,
            aic_time: positive(aic_time)?,
            aiv_time: positive(aiv_time)?,
        });
    }
    Ok(tasks)
}

fn types(table: &Table<'_>) -> Result<Vec<TypeTotal>, CostError> {
    let op_type = table.needed("the op type", &["optype"])?;
    let core_type = table.column(&["coretype"]);
    let total = table.column(&["totaltime(us)"]);
    let [count, least, most] = ["count", "mintime(us)", "maxtime(us)"].map(|name| table.column(&[name]));
    let mut types = Vec::new();
    for row in table.rows() {
        // Rows of totals, as people add them.
        if row.text(core_type) == "Total Time" {
            continue;
        }
        let Some(total) = row.number(total)? else { continue };
        types.push(TypeTotal {
            op_type: row.text(Some(op_type)).to_owned(),
            core_type: row.text(core_type).to_owned(),
            count: row.number(count)?.filter(|count| *count > 0.0),
            total,
            least: row.number(least)?,
            most: row.number(most)?,
        });
    }
    Ok(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Content, CostError> {
        Profile::parse(Path::new("p"), text.as_bytes()).map(|profile| profile.content)
    }

    #[test]
    fn the_content_tells_what_a_file_is() {
        let summary = "Device_id,Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,\
                       aicore_time(us),aiv_time(us)\n0,mm,MatMul,MIX_AIC,12.5,1.25,20,40,10.5,11\n0,x,X,AI_CPU,3,0,N/A,,0,0\n";
        let Content::Tasks(tasks) = parse(summary).unwrap() else { panic!() };
        assert_eq!((tasks[0].duration, tasks[0].wait, tasks[0].block_dim), (12.5, Some(1.25), Some(20)));
        assert_eq!((tasks[0].mix_block_dim, tasks[0].aic_time, tasks[0].aiv_time), (Some(40), Some(10.5), Some(11.0)));
        assert_eq!((tasks[1].block_dim, tasks[1].aic_time), (None, None));
        let details = "Name,Type,Accelerator Core,Duration(us),Wait Time(us),Block Dim\nadd,Add,AI_VECTOR_CORE,2,0,8\n";
        assert!(matches!(parse(details).unwrap(), Content::Tasks(tasks) if tasks[0].name == "add"));
        let statistic = "OP_Type,Core Type,Total Time(us)\nTile,AI_VECTOR_CORE,24.96\nno_sk_model,Total Time,407.54\n";
        let Content::Types(types) = parse(statistic).unwrap() else { panic!() };
        assert_eq!((types.len(), types[0].total, types[0].count), (1, 24.96, None));
    }

    #[test]
    fn buffers_are_read_in_cycles_or_microseconds() {
        let text = |unit: &str| {
            format!(
                r#"{{"format": "superkernel-profile-1", "kernel": "k", "source": "device", {unit}, "ops": [
                    {{"position": 0, "cores": [{{"kind": "aiv", "number": 1, "start": 100, "end": 300}}]}}]}}"#
            )
        };
        let Content::Buffer(buffer) = parse(&text(r#""unit": "cycles", "clock_mhz": 50"#)).unwrap() else { panic!() };
        assert_eq!(buffer.times(&buffer.ops[0], crate::model::CoreKind::Aiv), [0.0, 4.0]);
        assert!(parse(&text(r#""unit": "cycles""#)).unwrap_err().to_string().contains("clock_mhz"));
        assert!(parse(&text(r#""unit": "hours""#)).is_err());
    }
}
