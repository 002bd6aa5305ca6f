//! The phases from op list to source, put together once: whoever plans, generates or builds goes through here.

use serde_json::{Value, json};

use crate::diagnostic::{Advice, Diagnostic};
use crate::emit::EmitError;
use crate::model::{self, KnownKernels, ModelError, Platform, SubKernels, SuperKernel};
use crate::objects::{BinFiles, BlockLocalUse, ObjectError, Objects, Suitability, TextSizes};
use crate::options::{Influence, OptionName};
use crate::plan::PlanError;
use crate::program::Program;
use crate::report::{LargePart, StepPrice};
use crate::stage::{Stage, Timings};
use crate::{emit, objects, plan, report};

/// Why there is no source.
#[derive(Debug, thiserror::Error)]
pub enum PhaseError {
    /// `kernel_infos`, or a file it names, is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A sub-kernel's object file is wrong.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// No device program can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A device program cannot be printed.
    #[error(transparent)]
    Emit(#[from] EmitError),
}

impl PhaseError {
    fn diagnostic(&self) -> &dyn Diagnostic {
        match self {
            Self::Model(error) => error,
            Self::Objects(error) => error,
            Self::Plan(error) => error,
            Self::Emit(error) => error,
        }
    }
}

impl Diagnostic for PhaseError {
    fn advice(&self) -> Advice {
        self.diagnostic().advice()
    }
}

/// What becomes of a call whose objects cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableObjects {
    /// It fails.
    Fail,
    /// It goes on without code sizes: a plan is useful without them.
    Warn,
}

/// What becomes of a call with an object that is not the one its JSON states.
///
/// What a vendor's `sha256` covers is not known for certain, so the usual answer is a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherObjects {
    /// It fails.
    Fail,
    /// It goes on.
    Warn,
}

impl OtherObjects {
    /// As the setting `strict` says.
    pub(crate) fn with_strict(strict: bool) -> Self {
        if strict { Self::Fail } else { Self::Warn }
    }
}

/// Files of sub-kernels that have been read, for all who need them again while they look the same.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    kernels: SubKernels,
    files: BinFiles,
}

impl From<&KnownKernels> for Inputs {
    fn from(kernels: &KnownKernels) -> Self {
        Self { kernels: kernels.into(), files: BinFiles::default() }
    }
}

/// A super kernel with everything read that its program depends on.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The checked model.
    pub kernel: SuperKernel,
    /// The sub-kernels' files.
    pub objects: Objects,
    /// Their code sizes.
    pub sizes: TextSizes,
}

impl Prepared {
    /// Loads the model and reads the objects. What the user should hear about, though it is no error, is logged here
    /// and stays in the model.
    pub(crate) fn load(
        kernel_infos: &Value,
        name: &str,
        platform: &Platform,
        inputs: &Inputs,
        unreadable: UnreadableObjects,
        other: OtherObjects,
        timings: &mut Timings<'_>,
    ) -> Result<Self, PhaseError> {
        let mut kernel =
            timings.measure(Stage::Load, || model::load_with(kernel_infos, name, platform, &inputs.kernels))?;
        let read = timings.measure(Stage::Read, || Objects::read_and_measure(&kernel, &inputs.files));
        let (objects, sizes) = match (read, unreadable) {
            (Ok(read), UnreadableObjects::Fail | UnreadableObjects::Warn) => read,
            (Err(error), UnreadableObjects::Fail) => return Err(error.into()),
            (Err(_), UnreadableObjects::Warn) => {
                let problems = objects::problems(&kernel);
                kernel.warnings.extend(would_fail(&problems));
                kernel.warnings.push("there are no code sizes, so the plan has no preload counts".to_owned());
                Default::default()
            }
        };
        let Suitability { problems, warnings } = Suitability::of(&kernel, &objects);
        match (unreadable, problems) {
            (UnreadableObjects::Fail, problems) => {
                if let Some(problem) = problems.into_iter().next() {
                    return Err(problem.into());
                }
            }
            (UnreadableObjects::Warn, problems) => kernel.warnings.extend(would_fail(&problems)),
        }
        kernel.warnings.extend(warnings);
        for mismatch in objects.other_than_stated(&kernel) {
            match other {
                OtherObjects::Fail => return Err(mismatch.into()),
                OtherObjects::Warn => kernel.warnings.push(mismatch.to_string()),
            }
        }
        for warning in &kernel.warnings {
            log::warn!(target: "superkernel.compile", "{}: {warning}", kernel.name);
        }
        Ok(Self { kernel, objects, sizes })
    }

    /// What every core does.
    pub(crate) fn program(&self, timings: &mut Timings<'_>) -> Result<Program, PhaseError> {
        Ok(timings.measure(Stage::Plan, || plan::plan(&self.kernel, &self.sizes))?)
    }

    /// What the sub-kernels take of block-local memory, as far as their objects can be told.
    pub(crate) fn block_local(&self) -> Option<BlockLocalUse> {
        objects::used(&self.kernel, &self.objects).ok().map(|used| BlockLocalUse::of(&used))
    }

    /// The same, printed as C++.
    pub(crate) fn source(&self, timings: &mut Timings<'_>) -> Result<String, PhaseError> {
        Ok(self.program_and_source(timings)?.1)
    }

    /// Both.
    pub(crate) fn program_and_source(&self, timings: &mut Timings<'_>) -> Result<(Program, String), PhaseError> {
        let program = self.program(timings)?;
        let source = timings.measure(Stage::Emit, || emit::emit(&program))?;
        Ok((program, source))
    }
}

/// What a plan says about objects that a compile would refuse; the first few tell enough.
fn would_fail(problems: &[ObjectError]) -> Vec<String> {
    const SHOWN: usize = 5;
    let mut told: Vec<String> =
        problems.iter().take(SHOWN).map(|problem| format!("compile would fail: {problem}")).collect();
    if problems.len() > SHOWN {
        told.push(format!("compile would fail: {} more such problems", problems.len() - SHOWN));
    }
    told
}

/// Is all that an option does seen in the program?
fn decides_about_the_program(option: OptionName) -> bool {
    match option.influence() {
        // The compiler sees these, not the program.
        Influence::Code => option != OptionName::CompileOptions,
        Influence::Scopes => false,
    }
}

/// A super kernel and its device program.
#[derive(Debug)]
pub struct Plan {
    /// The checked model.
    pub kernel: SuperKernel,
    /// Code sizes of its sub-kernels, as far as their objects could be read.
    pub sizes: TextSizes,
    /// What every core does.
    pub program: Program,
    /// What the sub-kernels take of block-local memory, for those who asked.
    pub(crate) block_local: Option<BlockLocalUse>,
}

impl Plan {
    /// As data, for people and for other programs; without the parts that grow with the number of ops.
    pub(crate) fn head(&self) -> Value {
        report::plan_head(&self.kernel)
    }

    /// One of those parts.
    pub(crate) fn part(&self, part: LargePart) -> Value {
        report::plan_part(&self.kernel, &self.sizes, &self.program, part)
    }

    /// As data for a picture.
    pub(crate) fn to_picture(&self, price: StepPrice<'_>) -> Value {
        report::picture_json(&self.kernel, &self.sizes, &self.program, price)
    }

    /// What it became and why; `kernel_infos` are those it was planned from.
    pub(crate) fn to_explanation(&self, kernel_infos: &Value, price: StepPrice<'_>) -> Value {
        let idle = self.idle_options(kernel_infos);
        let block_local = self.block_local.as_ref();
        json!(report::explain(&self.kernel, &self.sizes, &self.program, &idle, block_local, price))
    }

    /// The options that were given and change nothing: without them, or whatever their value, the program is the same.
    fn idle_options(&self, kernel_infos: &Value) -> Vec<OptionName> {
        let text = kernel_infos.get("super_kernel_options").and_then(Value::as_str).unwrap_or_default();
        let given = self.kernel.options.given.iter().filter(|option| decides_about_the_program(option.name));
        given
            .filter(|option| {
                let same_with = |value: &str| {
                    let mut other = text.to_owned();
                    let part = if value.is_empty() { String::new() } else { format!("{}={value}", option.name) };
                    other.replace_range(option.span.clone(), &part);
                    self.is_same_with(kernel_infos, &other)
                };
                let stands_at_default = self.kernel.options.text(option.name) == option.name.default_text();
                let mut samples = option.name.samples().iter();
                same_with("") && (!stands_at_default || samples.all(|sample| same_with(sample)))
            })
            .map(|option| option.name)
            .collect()
    }

    /// Does another option string lead to the same program?
    fn is_same_with(&self, kernel_infos: &Value, options: &str) -> bool {
        let mut infos = kernel_infos.clone();
        infos["super_kernel_options"] = options.into();
        let Ok(kernel) = model::load(&infos, &self.kernel.name, &self.kernel.platform) else { return false };
        let program = plan::draft(&kernel, &self.sizes);
        kernel.defines() == self.kernel.defines() && program.is_ok_and(|program| program == self.program)
    }
}
