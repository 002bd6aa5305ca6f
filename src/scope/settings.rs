//! How a plan is made.

use crate::named::named;

named! {
    /// Whose rules count.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Mode {
        /// Ours: the reference's rules without its defects.
        #[default]
        Default = "default",
        /// The reference stack, value for value.
        Compat = "compat",
    }
}

/// What to do with a piece of one op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleOps {
    /// Leave the op alone: a super kernel around one op gains nothing.
    Leave,
    /// Build it anyway.
    Fuse,
}

/// What to do with a piece that would wait for work that itself waits for the piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hazards {
    /// Cut it in front of the op that would wait.
    Cut,
    /// Fail.
    Refuse,
}

/// How far a cut reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// A cut on one stream cuts all streams of the scope there, as in the reference.
    AllStreams,
    /// Only what depends on the interruption is cut off; independent chains on other streams stay whole.
    PerStream,
}

/// The order ops run in, where a graph is from before compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As the program has them.
    Program,
    /// As the engine sorts them if nobody tells it otherwise.
    Engine,
}

/// Which orders are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// One.
    Only(Order),
    /// The program's is planned, and what the engine's would cut besides is reported.
    Both,
}

/// The device a plan is for; part of every kernel's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Short SoC version.
    pub soc: String,
    /// Cube cores.
    pub aic_num: u32,
    /// Vector cores.
    pub aiv_num: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { soc: "Ascend910_93".to_owned(), aic_num: 24, aiv_num: 48 }
    }
}

/// Everything about a plan that is not in the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whose rules count.
    pub mode: Mode,
    /// What to do with one-op pieces.
    pub single_ops: SingleOps,
    /// What to do with pieces that could hang.
    pub hazards: Hazards,
    /// How far a cut reaches; the reference only knows one way.
    pub cuts: Cuts,
    /// The device.
    pub target: Target,
    /// Op types whose tiling may run on the AICPU, beside the nodes that say so themselves.
    pub tiling_on_aicpu: Vec<String>,
    /// Names of nodes to treat as if they could not be fused.
    pub exclude: Vec<String>,
    /// Op types that can be fused whatever the graph says.
    pub fusable: Vec<String>,
    /// Op types that cannot be fused whatever the graph says.
    pub not_fusable: Vec<String>,
    /// Of graphs from before compilation.
    pub orders: Orders,
}

impl Settings {
    /// The usual settings of a mode.
    pub(crate) fn new(mode: Mode) -> Self {
        let single_ops = match mode {
            Mode::Default => SingleOps::Leave,
            Mode::Compat => SingleOps::Fuse,
        };
        Self {
            mode,
            single_ops,
            hazards: Hazards::Cut,
            cuts: Cuts::AllStreams,
            target: Target::default(),
            tiling_on_aicpu: Vec::new(),
            exclude: Vec::new(),
            fusable: Vec::new(),
            not_fusable: Vec::new(),
            orders: Orders::Both,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(Mode::Default)
    }
}
