//! The host compiler, for generated sources.

use std::path::Path;
use std::process::Command;

use superkernel::model::{Chip, CoreKind, SuperKernelType};

/// Compiles a generated source for one core kind with warnings as errors; gives the compiler's complaints.
pub fn compile(
    source: &Path,
    kind: CoreKind,
    chip: Chip,
    kernel_type: SuperKernelType,
    defines: &[String],
    extra: &[&str],
) -> Result<(), String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/superkernel/include");
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++"]);
    command.arg("-I").arg(include);
    command.arg(match kind {
        CoreKind::Aic => "-D__DAV_CUBE__",
        CoreKind::Aiv => "-D__DAV_VEC__",
    });
    command.arg(format!("-D__NPU_ARCH__={}", chip.npu_arch()));
    if kernel_type.is_mix() {
        command.arg("-D__MIX_CORE_MACRO__=1");
    }
    if kernel_type == SuperKernelType::Mix1_1 {
        command.arg("-D__MIX_CORE_AIC_RATION__=1");
    }
    let output =
        command.arg("-DTILING_KEY_VAR=0UL").args(defines).args(extra).arg(source).output().expect("a host compiler");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
