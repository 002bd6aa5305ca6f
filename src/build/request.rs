//! What a caller asks for.

use std::sync::Arc;

use serde_json::Value;

use super::files::KernelFiles;
use super::fingerprint::Fingerprint;
use super::manifest::{Call, Standing, standing};
use super::result_json::ResultJson;
use super::shared::Shared;
use crate::diagnostic::Diagnostic;
use crate::environment::{Environment, Intermediates};
use crate::fs::absolute;
use crate::model::{self, SuperKernel};
use crate::store::cache::{Cache, CachedKernel};
use crate::store::digest::ContentDigest;
use crate::toolchain::ToolchainKind;

/// May an earlier result be used?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// Yes, if a build would give the same.
    Allowed,
    /// No: build in any case.
    Never,
}

/// One build that is wanted.
#[derive(Debug, Clone)]
pub struct Request {
    /// The op list and the options.
    pub kernel_infos: Value,
    /// The kernel's name.
    pub name: String,
    /// The world around it.
    pub environment: Environment,
    /// Keep the generated source and the super kernel's own objects, whatever the debug configuration says.
    pub keep: Intermediates,
    /// May an earlier result be used?
    pub reuse: Reuse,
    /// What it shares with other builds.
    pub shared: Arc<Shared>,
}

impl Request {
    /// What becomes of source and objects.
    pub(super) fn intermediates(&self) -> Intermediates {
        let settings = &self.environment.settings;
        match (self.keep, settings.op_debug_config.intermediates) {
            (Intermediates::Remove, Intermediates::Remove) if !settings.keep => Intermediates::Remove,
            (Intermediates::Remove | Intermediates::Keep, _) => Intermediates::Keep,
        }
    }

    /// The generated source's file name. A compiler cache must see the same name in every process.
    pub(super) fn source_name(&self) -> String {
        if self.environment.has_compiler_cache() {
            format!("{}_kernel.cpp", self.name)
        } else {
            format!("{}_{}_kernel.cpp", self.name, std::process::id())
        }
    }

    /// Can the kernel on disk stay?
    pub(super) fn standing(&self, files: &KernelFiles, fingerprint: &Fingerprint) -> Standing {
        match self.reuse {
            Reuse::Never => return Standing::Outdated(vec!["a rebuild was asked for".to_owned()]),
            Reuse::Allowed => {}
        }
        match standing(files, fingerprint) {
            Standing::UpToDate if !self.has_what_it_keeps(files) => {
                Standing::Outdated(vec!["intermediate files were asked for, and there are none".to_owned()])
            }
            found @ (Standing::UpToDate | Standing::Absent | Standing::Outdated(_)) => found,
        }
    }

    /// Are the intermediate files there, if any were asked for?
    pub(super) fn has_what_it_keeps(&self, files: &KernelFiles) -> bool {
        match self.intermediates() {
            Intermediates::Remove => true,
            Intermediates::Keep => files.repro().exists(),
        }
    }

    /// The cache, if there is one that this user may trust.
    pub(super) fn cache(&self) -> Option<Cache> {
        let cache = Cache::new(&self.environment.cache()?);
        match cache.check_owner() {
            Ok(()) => Some(cache),
            Err(error) => {
                log::warn!(target: "superkernel.cache", "{error}; {}", error.solution());
                None
            }
        }
    }

    /// The kernel in the cache, if the cache may answer: it has no intermediate files to offer.
    pub(super) fn cached_kernel(&self, cache: Option<&Cache>, key: ContentDigest) -> Option<CachedKernel> {
        match (self.reuse, self.intermediates()) {
            (Reuse::Allowed, Intermediates::Remove) => cache?.get(key),
            (Reuse::Never, _) | (_, Intermediates::Keep) => None,
        }
    }

    /// The description of a finished object under some name, as bytes of its file.
    pub(super) fn description(
        &self,
        kernel: &SuperKernel,
        name: &str,
        object: ContentDigest,
        toolchain: ToolchainKind,
    ) -> Vec<u8> {
        let described = ResultJson::new(
            kernel,
            object,
            (toolchain, self.environment.settings.linker),
            &self.environment.platform_info,
        );
        let value = ResultJson { name: name.to_owned(), object_file: format!("{name}.o"), ..described }.to_json();
        let mut bytes = serde_json::to_vec_pretty(&value).expect("a JSON value can be written");
        bytes.push(b'\n');
        bytes
    }

    /// The call in a form that can be repeated later and from elsewhere.
    pub(super) fn call(&self) -> Call {
        let kernel_infos =
            model::with_paths(&self.kernel_infos, |path| absolute(path.as_ref()).to_string_lossy().into_owned());
        Call { kernel_infos, settings: self.environment.settings.recorded() }
    }
}
