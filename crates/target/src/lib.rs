//! Servers under test: stages, settings, start, stop, put back.
