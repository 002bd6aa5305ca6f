//! Decides what every core does and writes it down as a [program](crate::program).
