//! Variables of which a kernel has one, whichever sub-kernels define them: whose definition stays, under which name, and
//! whether block-local memory has room for all.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::error::OWN_CODE;
use super::{ObjectError, UsedObject};
use crate::artifact::{BLOCK_LOCAL_ROOM, RUN_CONFIG, Setter};
use crate::elf::{Definition, SharedPart, SharedVariable, VariableMemory};
use crate::store::digest::ContentDigest;

/// What is decided about the shared variables of a kernel.
#[derive(Debug, Default)]
pub(crate) struct Sharing<'a> {
    variables: HashMap<&'a str, Known<'a>>,
}

/// A variable's definitions, in link order.
#[derive(Debug)]
struct Known<'a> {
    /// Its sizes, and who was the first with each.
    sizes: Vec<(u64, &'a UsedObject<'a>)>,
    /// The first object with a definition that no linker would merge with another.
    only: Option<ContentDigest>,
}

/// What becomes of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays as it is: the linker keeps one of all.
    Merged,
    /// It stays, and gives way to that of the super kernel.
    Yields,
    /// It stays as it is: no other is visible.
    Kept,
    /// It goes: the object refers to another's.
    Referred,
}

impl<'a> Sharing<'a> {
    /// Decides for `used`, which are in link order.
    pub(crate) fn of(used: &'a [UsedObject<'a>]) -> Result<Self, ObjectError> {
        let mut variables: HashMap<&str, Known<'_>> = HashMap::new();
        for object in used {
            for piece in object.pieces() {
                for variable in &piece.shared().variables {
                    let known = variables
                        .entry(&variable.name)
                        .or_insert_with(|| Known { sizes: vec![(variable.size, object)], only: None });
                    if variable.definition == Definition::Only {
                        known.only.get_or_insert(piece.digest);
                    }
                    if known.sizes.iter().any(|(size, _)| *size == variable.size) {
                        continue;
                    }
                    let (first_size, first) = known.sizes[0];
                    let (first, second) = (first.origin(), object.origin());
                    let name = variable.name.clone();
                    match variable.setter() {
                        Setter::SuperKernel | Setter::Loader => {
                            return Err(ObjectError::SharedSize {
                                name,
                                first,
                                first_size,
                                second,
                                size: variable.size,
                            });
                        }
                        Setter::Op => log::warn!(
                            target: "superkernel.compile",
                            "block-local variable `{name}` has {first_size} bytes in `{first}` and {} in `{second}`: \
                             the kernel gets one of each size",
                            variable.size,
                        ),
                    }
                    known.sizes.push((variable.size, object));
                }
            }
        }
        let sharing = Self { variables };
        let BlockLocalUse { bytes, users } = BlockLocalUse::of(used);
        if bytes > BLOCK_LOCAL_ROOM {
            return Err(ObjectError::BlockLocal { bytes, users });
        }
        Ok(sharing)
    }

    /// What becomes of the definition of `variable` in the object with this digest.
    pub(crate) fn fate(&self, variable: &SharedVariable, object: ContentDigest) -> Fate {
        match variable.definition {
            Definition::Weak | Definition::Unique => Fate::Merged,
            // Every super kernel has it.
            Definition::Only if variable.name == RUN_CONFIG => Fate::Referred,
            Definition::Only => match self.variables.get(variable.name.as_str()).and_then(|known| known.only) {
                Some(first) if first == object => Fate::Yields,
                Some(_) | None => Fate::Referred,
            },
        }
    }

    /// The name that `variable` has in the kernel.
    pub(crate) fn name(&self, variable: &SharedVariable) -> String {
        let known = self.variables.get(variable.name.as_str());
        match known.is_none_or(|known| known.sizes[0].0 == variable.size) {
            true => variable.name.clone(),
            false => format!("{}__of_{}_bytes", variable.name, variable.size),
        }
    }

    /// Refuses code of the super kernel that means other variables than its sub-kernels do.
    pub(crate) fn check_own(&self, own: &SharedPart) -> Result<(), ObjectError> {
        for variable in own.variables.iter().filter(|variable| variable.setter() != Setter::Op) {
            if let Some(known) = self.variables.get(variable.name.as_str())
                && known.sizes[0].0 != variable.size
            {
                let (size, object) = known.sizes[0];
                return Err(ObjectError::SharedSize {
                    name: variable.name.clone(),
                    first: object.origin(),
                    first_size: size,
                    second: OWN_CODE.to_owned(),
                    size: variable.size,
                });
            }
        }
        Ok(())
    }
}

/// What the block-local variables of all sub-kernels take of the memory there is for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct BlockLocalUse {
    /// All together.
    pub bytes: u64,
    /// Who takes how much, the largest first.
    pub users: Vec<(u64, String)>,
}

impl BlockLocalUse {
    /// Counts for `used`.
    pub(crate) fn of(used: &[UsedObject<'_>]) -> Self {
        let mut users: Vec<(u64, String)> = Vec::new();
        let mut counted = HashSet::new();
        for object in used {
            let mut own: u64 = 0;
            for piece in object.pieces() {
                own = own.saturating_add(piece.shared().own_block_local);
                for variable in &piece.shared().variables {
                    let local = variable.memory == VariableMemory::BlockLocal;
                    if local && counted.insert((variable.name.as_str(), variable.size)) {
                        users.push((variable.size, format!("`{}` of `{}`", variable.name, object.origin())));
                    }
                }
            }
            let made = object.ready.iter().filter(|ready| ready.is_none()).count() as u64;
            own = own.saturating_add(object.object.shared().own_block_local.saturating_mul(made));
            if own > 0 {
                users.push((own, format!("what `{}` and its copies have for themselves", object.origin())));
            }
        }
        let bytes = users.iter().fold(0_u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
        users.sort_by(|(first, _), (second, _)| second.cmp(first));
        Self { bytes, users }
    }
}
