//! Runs a host-built kernel on simulated AI cores.
