//! What the device's build of an operator puts in front of its source: structs of tiling data, and macros for the data
//! types and formats it is built for.

use std::fmt::Write;

use super::error::KernelError;
use super::structs::Wanted;
use crate::artifact::{DataType, Format};

/// An input or output, as the kernel is built for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// Its name in the definition; an output that is also an input has `_ref` behind it.
    pub name: String,
    /// The type of its elements.
    pub data_type: DataType,
    /// Their arrangement.
    pub format: Format,
}

/// The text.
pub(crate) fn text(tensors: &[Tensor], structs: &Wanted) -> Result<String, KernelError> {
    let mut text = String::new();
    for data_type in DataType::ALL {
        define(&mut text, &data_type.macro_name(), data_type.code());
    }
    for format in Format::ALL {
        define(&mut text, &format.macro_name(), format.code());
    }
    for Tensor { name, data_type, format } in tensors {
        let upper = name.to_ascii_uppercase();
        let no_type = || KernelError::DataType { tensor: name.clone(), data_type: data_type.as_str() };
        let _ = writeln!(text, "#define DTYPE_{upper} {}", data_type.kernel_name().ok_or_else(no_type)?);
        let _ = writeln!(text, "#define ORIG_DTYPE_{upper} {}", data_type.macro_name());
        let _ = writeln!(text, "#define FORMAT_{upper} {}", format.macro_name());
    }
    if structs.needs_headers {
        text.push_str("#include \"kernel_tiling/kernel_tiling.h\"\n");
    }
    if !structs.text.is_empty() {
        text.push_str("#include \"sk_cpu/register/tilingdata_base.h\"\n");
        text.push_str(&structs.text);
        text.push_str("#line 1 \"super_kernel_wrapper.cpp\"\n");
    }
    if let Some(name) = &structs.usual {
        let _ = writeln!(text, "using SkHostDefaultTiling = {name};");
    }
    Ok(text)
}

/// Headers of a toolkit define some of them too.
fn define(text: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "#ifndef {name}\n#define {name} {value}\n#endif");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_formats_have_their_names() {
        let tensor = |name: &str, data_type, format| Tensor { name: name.to_owned(), data_type, format };
        let x = tensor("x", DataType::Float16, Format::Nd);
        let structs = Wanted { usual: Some("Made".to_owned()), ..Wanted::default() };
        let text = text(&[x, tensor("y", DataType::BFloat16, Format::FractalNz)], &structs).unwrap();
        for line in [
            "#define DTYPE_X half",
            "#define ORIG_DTYPE_X DT_FLOAT16",
            "#define FORMAT_X FORMAT_ND",
            "#define DTYPE_Y bfloat16_t",
            "#define FORMAT_Y FORMAT_FRACTAL_NZ",
            "#define DT_BF16 27",
            "using SkHostDefaultTiling = Made;",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
        assert!(super::text(&[tensor("x", DataType::String, Format::Nd)], &structs).is_err());
    }
}
