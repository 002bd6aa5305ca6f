//! From generated source and sub-kernel objects to the published kernel.
