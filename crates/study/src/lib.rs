//! Searches, designs, settings derived, findings.
