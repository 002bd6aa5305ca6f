//! Which cores a kernel runs on, by the words its source uses.

use crate::artifact::KernelType;

/// Words that only code for cube cores has.
const CUBE: [&str; 7] = ["Mmad", "Fixpipe", "LoadData", "LoadDataWithTranspose", "mad", "load_cbuf_to_ca", "CO1"];
/// Words that only code for vector cores has.
const VECTOR: [&str; 7] =
    ["VECIN", "VECOUT", "VECCALC", "copy_gm_to_ubuf", "__DAV_C220_VEC__", "ASCEND_IS_AIV", "vadd"];
/// Words of matmul objects: vector cores that ask cube cores.
pub(crate) const MATMUL: [&str; 3] = ["REGIST_MATMUL_OBJ", "REGIST_CUBE_OBJ", "KfcInitObj"];
/// What they become when they are registered.
pub(crate) const MATMUL_SERVERS: [&str; 2] = ["KfcServer", "KfcCommClient"];
/// Words that need flags between cores.
pub(crate) const FLAGS: [&str; 4] = ["SyncAll", "CrossCoreSetFlag", "ffts_cross_core_sync", "CrossCoreWaitFlag"];

/// What a kernel needs of its cores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    cube: bool,
    vector: bool,
    flags: bool,
    /// Its matmul objects are served by cube cores.
    asks: bool,
}

impl Uses {
    /// `uses`: is one of these words in it?
    pub(crate) fn of(uses: impl Fn(&[&str]) -> bool, asks: bool) -> Self {
        Self { cube: uses(&CUBE) || uses(&MATMUL), vector: uses(&VECTOR), flags: uses(&FLAGS), asks }
    }

    /// Takes over what another text of the same kernel uses.
    pub(crate) fn merge(&mut self, other: Self) {
        self.cube |= other.cube;
        self.vector |= other.vector;
        self.flags |= other.flags;
        self.asks |= other.asks;
    }

    /// The type of a kernel that says nothing itself.
    pub(crate) fn kernel_type(self) -> KernelType {
        match (self.cube, self.vector, self.flags) {
            _ if self.asks => KernelType::MixAic1_2,
            (true, true, _) => KernelType::MixAic1_2,
            (true, false, false) => KernelType::AicOnly,
            (true, false, true) => KernelType::MixAic1_0,
            (false, _, false) => KernelType::AivOnly,
            (false, _, true) => KernelType::MixAiv1_0,
        }
    }
}
