//! The external compilers and linkers, behind one trait.
