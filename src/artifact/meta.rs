//! Meta sections: how a kernel tells the loader to launch it. Written as C++, checked and read as bytes.

use super::{CoreClass, KernelType};

/// A kernel's section is named after its function.
pub(crate) const META_SECTION_PREFIX: &str = ".ascend.meta.";

const KERNEL_TYPE_ITEM: u16 = 1;
const RATIO_ITEM: u16 = 3;

/// The section of `function`.
pub(crate) fn meta_section(function: &str) -> String {
    format!("{META_SECTION_PREFIX}{function}")
}

/// What a meta section says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchMeta {
    /// The number of a `K_TYPE_…`.
    pub launch_type: Option<u32>,
    /// Cube and vector cores of a block.
    pub ratio: Option<(u16, u16)>,
}

impl LaunchMeta {
    /// What the section of a kernel of this type must say.
    pub(crate) fn of(kernel_type: KernelType) -> Self {
        Self { launch_type: Some(launch_type(kernel_type).1), ratio: ratio(kernel_type) }
    }

    /// As it lies in the section: items of type, length and payload.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut item = |kind: u16, payload: [u8; 4]| {
            bytes.extend(kind.to_le_bytes());
            bytes.extend((payload.len() as u16).to_le_bytes());
            bytes.extend(payload);
        };
        if let Some(number) = self.launch_type {
            item(KERNEL_TYPE_ITEM, number.to_le_bytes());
        }
        if let Some((cube, vector)) = self.ratio {
            let ([cube_low, cube_high], [vector_low, vector_high]) = (cube.to_le_bytes(), vector.to_le_bytes());
            item(RATIO_ITEM, [cube_low, cube_high, vector_low, vector_high]);
        }
        bytes
    }

    /// Reads a section, unknown items passed over; `None` if it is cut off.
    pub(crate) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut meta = Self { launch_type: None, ratio: None };
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at_checked(4)?;
            let kind = u16::from_le_bytes([head[0], head[1]]);
            let (payload, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([head[2], head[3]])))?;
            match (kind, payload) {
                (KERNEL_TYPE_ITEM, &[a, b, c, d]) => meta.launch_type = Some(u32::from_le_bytes([a, b, c, d])),
                (RATIO_ITEM, &[a, b, c, d]) => {
                    meta.ratio = Some((u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])));
                }
                _ => {}
            }
            bytes = rest;
        }
        Some(meta)
    }
}

/// The C++ lines that put the section of `function` into its object.
pub(crate) fn meta_declaration(kernel_type: KernelType, function: &str) -> Vec<String> {
    let structure = if kernel_type.is_single_arch() { "FunLevelKType" } else { "FunLevelMixCoreType" };
    let (name, _) = launch_type(kernel_type);
    let mut lines = vec![
        format!("static const struct {structure} {function}_section"),
        format!("    __attribute__((used, section(\"{}\"))) = {{", meta_section(function)),
        format!("        {{{{F_TYPE_KTYPE, sizeof(unsigned int)}}, {name}}}"),
    ];
    if let Some((cube, vector)) = ratio(kernel_type) {
        lines[2].push(',');
        lines.push(format!("        {{{{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}}, {cube}, {vector}}}"));
    }
    lines.last_mut().expect("there are three lines at least").push_str("};");
    lines
}

/// Name and number of the launch type.
fn launch_type(kernel_type: KernelType) -> (&'static str, u32) {
    match (kernel_type.is_single_arch(), kernel_type.class()) {
        (true, CoreClass::Aic | CoreClass::Mix) => ("K_TYPE_AIC", 2),
        (true, CoreClass::Aiv) => ("K_TYPE_AIV", 3),
        (false, CoreClass::Aic | CoreClass::Mix) => ("K_TYPE_MIX_AIC_MAIN", 4),
        (false, CoreClass::Aiv) => ("K_TYPE_MIX_AIV_MAIN", 5),
    }
}

/// Only kernels with cross-core flags have one.
fn ratio(kernel_type: KernelType) -> Option<(u16, u16)> {
    (!kernel_type.is_single_arch()).then(|| kernel_type.task_ratio())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_bytes_of_all_types() {
        let bytes = |kernel_type| LaunchMeta::of(kernel_type).to_bytes();
        assert_eq!(bytes(KernelType::MixAiv1_0), [1, 0, 4, 0, 5, 0, 0, 0, 3, 0, 4, 0, 0, 0, 1, 0]);
        assert_eq!(bytes(KernelType::MixAic1_0), [1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 0, 0]);
        assert_eq!(bytes(KernelType::MixAic1_1), [1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 1, 0]);
        assert_eq!(bytes(KernelType::MixAic1_2), [1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0]);
        assert_eq!(bytes(KernelType::AivOnly), [1, 0, 4, 0, 3, 0, 0, 0]);
        assert_eq!(bytes(KernelType::AicOnly), [1, 0, 4, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn reading_gives_what_was_written() {
        for kernel_type in KernelType::ALL {
            let meta = LaunchMeta::of(kernel_type);
            let bytes = meta.to_bytes();
            assert_eq!(LaunchMeta::parse(&bytes), Some(meta));
            assert_eq!(LaunchMeta::parse(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(LaunchMeta::parse(&[9, 0, 1, 0, 7]), Some(LaunchMeta { launch_type: None, ratio: None }));
        assert_eq!(LaunchMeta::parse(&[1, 0, 9, 0, 1]), None);
    }

    #[test]
    fn the_declarations_have_both_shapes() {
        let plain = "static const struct FunLevelKType f_section\n    \
            __attribute__((used, section(\".ascend.meta.f\"))) = {\n        \
            {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_AIV}};";
        assert_eq!(meta_declaration(KernelType::AivOnly, "f").join("\n"), plain);
        let mixed = "static const struct FunLevelMixCoreType f_section\n    \
            __attribute__((used, section(\".ascend.meta.f\"))) = {\n        \
            {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},\n        \
            {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};";
        assert_eq!(meta_declaration(KernelType::MixAic1_2, "f").join("\n"), mixed);
    }
}
