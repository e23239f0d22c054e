//! The trial record and the run directory.
