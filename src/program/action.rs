//! What a core does in one step: the one table of actions. Names, fields, the text form both ways and what kind of step
//! each is follow from it.

use std::collections::HashSet;

use super::fields::{FieldValue, Names, Written};
use super::words::{Line, Read};
use super::{
    Barrier, Direction, EarlyStartConfig, Entering, FunctionId, Pair, Program, RecordEdge, RecordSubject, Round,
    SyncAllRecords, TableId,
};
use crate::model::{CoreKind, EventId, SlotNumber};

/// What kind of step an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    /// It orders cores against each other, or against the world outside, and so has a reason.
    Synchronises,
    /// The model must ask for it. Other steps are harmless wherever they are, or a matter of state or of flags.
    Duty,
    /// A second time changes nothing. (For duties.)
    Repeatable,
    /// It sets or waits for flags, or may.
    Flags,
    /// It waits for the world outside.
    Outside,
    /// It names no value of its op, so that others may be written the same.
    Common,
    /// It has a meaning only where there are cores of both kinds.
    BothKinds,
}

/// One row per action:
///
/// ```text
/// /// What it does.
/// Variant "name" { /// What the field is. field: Type = "name of the field", } => Property Property;
/// ```
macro_rules! actions {
    ($(
        $(#[doc = $documentation:literal])+
        $variant:ident $name:literal
        $({ $($(#[doc = $field_documentation:literal])+ $field:ident: $type:ty = $field_name:literal,)+ })?
        $(($only:ident: $only_type:ty = $only_name:literal))?
        $(=> $($property:ident)+)?;
    )+) => {
        /// What a core does in one step.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Action {
            $(
                $(#[doc = $documentation])+
                $variant $({ $($(#[doc = $field_documentation])+ $field: $type,)+ })? $(($only_type))?,
            )+
        }

        impl Action {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)+ }
            }

            /// Name and meaning of every action, as the documents list them.
            pub(crate) const DOCUMENTED: &'static [(&'static str, &'static str)] =
                &[$(($name, concat!($($documentation),+).trim_ascii()),)+];

            /// Is it such a step?
            pub(crate) fn is(&self, property: Property) -> bool {
                match self { $(Self::$variant { .. } => [$($(Property::$property),+)?].contains(&property),)+ }
            }

            /// Does it read the parameter block?
            pub(crate) fn uses_slots(&self) -> bool {
                match self { $(
                    Self::$variant { .. } => false $($(|| <$type as FieldValue>::IS_SLOT)+)?
                        $(|| <$only_type as FieldValue>::IS_SLOT)?,
                )+ }
            }

            /// Its fields, in a fixed order.
            pub fn fields(&self, program: &Program) -> Written {
                let mut written = Vec::new();
                match self { $(
                    Self::$variant $({ $($field),+ })? $({ 0: $only })? => {
                        $($($field.write($field_name, program, &mut written);)+)?
                        $($only.write($only_name, program, &mut written);)?
                    }
                )+ }
                written
            }

            /// The action with this name and the fields of the line: the inverse of [`Action::fields`].
            pub(super) fn read(name: &str, names: &Names, line: &mut Line) -> Read<Self> {
                match name {
                    $($name => Ok(Self::$variant
                        $({ $($field: FieldValue::read($field_name, names, line)?,)+ })?
                        $({ 0: <$only_type>::read($only_name, names, line)? })?
                    ),)+
                    other => Err(format!("no step is called `{other}`")),
                }
            }
        }
    };
}

actions! {
    /// Takes the address of the parameter block.
    LoadParameters "load-parameters" => Duty Repeatable;
    /// Takes the workspace's address.
    LoadWorkspace "load-workspace" {
        /// Its slot.
        slot: SlotNumber = "slot",
    } => Duty Repeatable;
    /// Tells `SyncAll` where the feed-sync-all records are: at the workspace.
    SetSyncAllBase "set-sync-all-base" => Duty Repeatable;
    /// Opens the debug output buffer, `offset` bytes into the workspace.
    InitDump "init-dump" {
        /// Bytes in front of it.
        offset: u64 = "offset",
    } => Duty;
    /// Finds this core's profiling area and writes its first record.
    InitProfiling "init-profiling" {
        /// Slot with the buffer's address.
        buffer: SlotNumber = "slot",
        /// Slot with the task id.
        task_id: SlotNumber = "task_id_slot",
    } => Duty;
    /// Tells the core where the cross-core scheduler is, if the slot is not null.
    SetFftsBase "set-ffts-base" {
        /// The slot.
        slot: SlotNumber = "slot",
    } => Duty Repeatable;
    /// Zeroes this core's share of the workspace and waits for its own pipes.
    ClearWorkspace "clear-workspace" {
        /// Bytes per core, a multiple of 512.
        bytes: u64 = "bytes",
    } => Duty;
    /// Preloads code from here on.
    PreloadHere "preload-here" {
        /// Units of 2 KiB.
        units: u32 = "units",
    };
    /// Preloads this core's copy of a function.
    Preload "preload" {
        /// The function.
        function: FunctionId = "function",
        /// Units of 2 KiB; unknown if the object was not read.
        units: Option<u32> = "units",
    };
    /// Preloads this core's copy of the function that the last switch picked.
    PreloadPicked "preload-picked" {
        /// Units of 2 KiB.
        units: u32 = "units",
    };
    /// Writes a profiling record.
    Record "record" {
        /// Of what.
        subject: RecordSubject = "subject",
        /// Its start or its end.
        edge: RecordEdge = "edge",
    };
    /// Orders this core's own pipes.
    PipeBarrier "pipe-barrier" => Synchronises Common;
    /// Meets other cores.
    Barrier "barrier" (over: Barrier = "over") => Synchronises Flags Common;
    /// Raises a flag of the other kind's cores in the same block.
    SetFlag "set-flag" {
        /// The direction, which fixes the flag.
        direction: Direction = "direction",
        /// The wait it is meant for.
        pair: Pair = "sender",
    } => Synchronises Flags Common BothKinds;
    /// Waits for a flag of the other kind's cores in the same block.
    WaitFlag "wait-flag" {
        /// The direction, which fixes the flag.
        direction: Direction = "direction",
        /// The set it waits for.
        pair: Pair = "sender",
    } => Synchronises Flags Common BothKinds;
    /// Lets the next op start early (`SetNextTaskStart`).
    EarlyStartSet "early-start-set" {
        /// The hand-over it belongs to.
        round: Round = "round",
    } => Synchronises Flags Common;
    /// Stores the classes of the two ops for waits inside sub-kernels.
    EarlyStartConfig "early-start-config" {
        /// `previous << 2 | current`.
        config: EarlyStartConfig = "config",
    } => Synchronises Common;
    /// Waits until the op before lets this one start (`WaitPreTaskEndImpl`).
    EarlyStartWait "early-start-wait" {
        /// `previous << 2 | current`.
        config: EarlyStartConfig = "config",
        /// The hand-over it belongs to.
        round: Round = "round",
    } => Synchronises Flags Common;
    /// Writes 1 to the lock word of an outer event.
    Notify "notify" {
        /// The event.
        event: EventId = "event",
        /// Slot with the word's address.
        slot: SlotNumber = "slot",
    } => Synchronises Duty;
    /// Spins until the lock word of an outer event is 1.
    WaitEvent "wait-event" {
        /// The event.
        event: EventId = "event",
        /// Slot with the word's address.
        slot: SlotNumber = "slot",
    } => Synchronises Duty Outside;
    /// Writes 0 to the lock word of an outer event that was waited for.
    ClearEvent "clear-event" {
        /// The event.
        event: EventId = "event",
        /// Slot with the word's address.
        slot: SlotNumber = "slot",
    } => Duty;
    /// Idle cores will follow this op's `SyncAll` calls.
    EnableSyncAll "enable-sync-all" {
        /// Where their records are. Few steps are this one, and with the offsets in it all would be longer by a third.
        records: Box<SyncAllRecords> = "aic_offset",
    };
    /// Idle cores will not follow `SyncAll` calls, or no longer.
    DisableSyncAll "disable-sync-all" => Common;
    /// Announces the end of the op to the idle cores.
    EndSyncAll "end-sync-all" => Duty Common;
    /// Follows the op's `SyncAll` calls until its end.
    ComplementSyncAll "complement-sync-all" => Duty Flags Common;
    /// Writes back and drops the whole data cache.
    Flush "flush" => Common;
    /// Calls this core's copy of a function.
    Call "call" {
        /// The function.
        function: FunctionId = "function",
        /// Its argument: the op's first slot.
        offset: SlotNumber = "offset",
    } => Duty Flags;
    /// Waits for a dynamic op's tiling, and picks its functions.
    Switch "switch" {
        /// The functions by key.
        table: TableId = "table",
        /// Slot with the address of the tiling key; block count and lock follow.
        key_slot: SlotNumber = "key_slot",
    } => Synchronises Duty Outside;
    /// Calls what the switch picked, on the kinds of the picked type.
    CallPicked "call-picked" {
        /// The functions by key.
        table: TableId = "table",
        /// Their argument: the op's first slot.
        offset: SlotNumber = "offset",
        /// The cores that enter.
        entering: Entering = "cores",
    } => Duty Flags;
    /// Writes 0 to a dynamic op's lock.
    ReleaseLock "release-lock" {
        /// Slot with the lock's address.
        slot: SlotNumber = "slot",
    } => Duty;
}

impl Action {
    /// Does it order cores against each other, or against the world outside?
    pub(crate) fn synchronises(&self) -> bool {
        self.is(Property::Synchronises)
    }

    /// Does it have a meaning only where there are cores of this kind?
    pub(crate) fn needs(&self, kind: CoreKind) -> bool {
        if let Self::Barrier(over) = self { over.needs(kind) } else { self.is(Property::BothKinds) }
    }

    /// The kind whose cores cannot take it, if there is one. (Flags are judged by who can receive them.) `calls`: what
    /// cores of which kind call; ops of both kinds may use one function.
    pub(crate) fn not_for(&self, calls: &HashSet<(FunctionId, CoreKind)>) -> Option<CoreKind> {
        if let Self::Call { function, .. } | Self::Preload { function, .. } = self {
            return CoreKind::BOTH.into_iter().find(|kind| !calls.contains(&(*function, *kind)));
        }
        let Self::Barrier(over) = self else { return None };
        CoreKind::BOTH.into_iter().find(|kind| !over.needs(*kind))
    }
}
