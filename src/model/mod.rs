//! `kernel_infos`: raw JSON, checked types, derived facts.
