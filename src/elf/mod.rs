//! Reads and edits ELF objects and archives as data: inspect, rename, localize, strip, copy.
