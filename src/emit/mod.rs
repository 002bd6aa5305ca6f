//! Prints a [program](crate::program) as C++.
