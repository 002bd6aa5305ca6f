//! Data types and formats of an operator's inputs and outputs, with their numbers.

use crate::named::named;

/// An enum whose values have a number in the host interface and a name.
macro_rules! numbered {
    ($(#[$attribute:meta])* $name:ident { $($variant:ident = $number:literal $text:literal,)+ }) => {
        named! {
            $(#[$attribute])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub(crate) enum $name { $(#[doc = $text] $variant = $text,)+ }
        }

        impl $name {
            /// Its number in the host interface.
            pub(crate) fn code(self) -> u32 {
                match self { $(Self::$variant => $number,)+ }
            }

            /// The one with this number.
            pub(crate) fn from_code(code: u32) -> Option<Self> {
                match code { $($number => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

numbered! {
    /// The type of an element.
    DataType {
        Float32 = 0 "float32", Float16 = 1 "float16", Int8 = 2 "int8", Int32 = 3 "int32", Uint8 = 4 "uint8",
        Int16 = 6 "int16", Uint16 = 7 "uint16", Uint32 = 8 "uint32", Int64 = 9 "int64", Uint64 = 10 "uint64",
        Float64 = 11 "float64", Bool = 12 "bool", String = 13 "string", Complex64 = 16 "complex64",
        Complex128 = 17 "complex128", Qint8 = 18 "qint8", Qint16 = 19 "qint16", Qint32 = 20 "qint32",
        Quint8 = 21 "quint8", Quint16 = 22 "quint16", BFloat16 = 27 "bfloat16", Undefined = 28 "undefined",
        Int4 = 29 "int4", Uint1 = 30 "uint1", Int2 = 31 "int2", Uint2 = 32 "uint2", Complex32 = 33 "complex32",
        HiFloat8 = 34 "hifloat8", Float8E5M2 = 35 "float8_e5m2", Float8E4M3Fn = 36 "float8_e4m3fn",
        Float8E8M0 = 37 "float8_e8m0", Float6E3M2 = 38 "float6_e3m2", Float6E2M3 = 39 "float6_e2m3",
        Float4E2M1 = 40 "float4_e2m1", Float4E1M2 = 41 "float4_e1m2", HiFloat4 = 42 "hifloat4",
    }
}

impl DataType {
    /// Bits of an element; 0 where it has no size of its own.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Self::String | Self::Undefined => 0,
            Self::Uint1 => 1,
            Self::Int2 | Self::Uint2 => 2,
            Self::Int4 | Self::Float4E2M1 | Self::Float4E1M2 | Self::HiFloat4 => 4,
            Self::Float6E3M2 | Self::Float6E2M3 => 6,
            Self::Int8
            | Self::Uint8
            | Self::Bool
            | Self::Qint8
            | Self::Quint8
            | Self::HiFloat8
            | Self::Float8E5M2
            | Self::Float8E4M3Fn
            | Self::Float8E8M0 => 8,
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::Uint16 | Self::Qint16 | Self::Quint16 => 16,
            Self::Float32 | Self::Int32 | Self::Uint32 | Self::Qint32 | Self::Complex32 => 32,
            Self::Float64 | Self::Int64 | Self::Uint64 | Self::Complex64 => 64,
            Self::Complex128 => 128,
        }
    }

    /// The type that kernels are compiled with, for those they have.
    pub(crate) fn kernel_name(self) -> Option<&'static str> {
        Some(match self {
            Self::Float32 => "float",
            Self::Float16 => "half",
            Self::BFloat16 => "bfloat16_t",
            Self::Float64 => "double",
            Self::Bool => "bool",
            Self::Int8 | Self::Qint8 => "int8_t",
            Self::Int16 | Self::Qint16 => "int16_t",
            Self::Int32 | Self::Qint32 => "int32_t",
            Self::Int64 => "int64_t",
            Self::Uint8 | Self::Quint8 => "uint8_t",
            Self::Uint16 | Self::Quint16 => "uint16_t",
            Self::Uint32 => "uint32_t",
            Self::Uint64 => "uint64_t",
            Self::Int4 => "AscendC::int4b_t",
            Self::Complex32 => "complex32",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::HiFloat8 => "hifloat8_t",
            Self::Float8E5M2 => "fp8_e5m2_t",
            Self::Float8E4M3Fn => "fp8_e4m3fn_t",
            Self::Float8E8M0 => "fp8_e8m0_t",
            Self::Float4E2M1 => "fp4x2_e2m1_t",
            Self::Float4E1M2 => "fp4x2_e1m2_t",
            Self::String
            | Self::Undefined
            | Self::Uint1
            | Self::Int2
            | Self::Uint2
            | Self::Float6E3M2
            | Self::Float6E2M3
            | Self::HiFloat4 => return None,
        })
    }

    /// Its name in C++, in host code and in kernels.
    pub(crate) fn macro_name(self) -> String {
        // The others are called there as they are here.
        let own = [(Self::Float32, "FLOAT"), (Self::Float64, "DOUBLE"), (Self::BFloat16, "BF16")];
        let own = own.iter().find(|(dtype, _)| *dtype == self).map(|(_, name)| (*name).to_owned());
        format!("DT_{}", own.unwrap_or_else(|| self.as_str().to_uppercase()))
    }
}

numbered! {
    /// How the elements of a tensor are arranged.
    Format {
        Nchw = 0 "NCHW", Nhwc = 1 "NHWC", Nd = 2 "ND", Nc1hwc0 = 3 "NC1HWC0", FractalZ = 4 "FRACTAL_Z",
        Nc1c0hwPad = 5 "NC1C0HWPAD", Nhwc1c0 = 6 "NHWC1C0", FsrNchw = 7 "FSR_NCHW", FractalDeconv = 8 "FRACTAL_DECONV",
        C1hwnc0 = 9 "C1HWNC0", Nc1hwc0C04 = 12 "NC1HWC0_C04", FractalZC04 = 13 "FRACTAL_Z_C04", Chwn = 14 "CHWN",
        Hwcn = 16 "HWCN", BnWeight = 18 "BN_WEIGHT", FilterHwck = 19 "FILTER_HWCK", C1hwncoc0 = 25 "C1HWNCoC0",
        Md = 26 "MD", Ndhwc = 27 "NDHWC", FractalZz = 28 "FRACTAL_ZZ", FractalNz = 29 "FRACTAL_NZ", Ncdhw = 30 "NCDHW",
        Dhwcn = 31 "DHWCN", Ndc1hwc0 = 32 "NDC1HWC0", FractalZ3d = 33 "FRACTAL_Z_3D", Cn = 34 "CN", Nc = 35 "NC",
        Dhwnc = 36 "DHWNC", FractalZ3dTranspose = 37 "FRACTAL_Z_3D_TRANSPOSE", FractalZnLstm = 38 "FRACTAL_ZN_LSTM",
        FractalZG = 39 "FRACTAL_Z_G", Reserved = 40 "RESERVED", All = 41 "ALL", Null = 42 "NULL",
        NdRnnBias = 43 "ND_RNN_BIAS", FractalZnRnn = 44 "FRACTAL_ZN_RNN", Nyuv = 45 "NYUV", NyuvA = 46 "NYUV_A",
        Ncl = 47 "NCL", FractalZWino = 48 "FRACTAL_Z_WINO", C1hwc0 = 49 "C1HWC0", FractalNzC016 = 50 "FRACTAL_NZ_C0_16",
        FractalNzC032 = 51 "FRACTAL_NZ_C0_32", FractalNzC02 = 52 "FRACTAL_NZ_C0_2", FractalNzC04 = 53 "FRACTAL_NZ_C0_4",
        FractalNzC08 = 54 "FRACTAL_NZ_C0_8",
    }
}

impl Format {
    /// Its name in C++, in host code and in kernels.
    pub(crate) fn macro_name(self) -> String {
        format!("FORMAT_{}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_types_and_formats_are_unique() {
        for dtype in DataType::ALL {
            assert_eq!(DataType::from_code(dtype.code()), Some(dtype));
        }
        for format in Format::ALL {
            assert_eq!(Format::from_code(format.code()), Some(format));
        }
        assert_eq!(DataType::from_code(5), None);
    }
}
