//! Text as the user wrote it, and where it stands.

/// A place in the file that the user wrote; both numbers count from one.
///
/// Plans built from a URL have no file: they say line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// Text in which `${name}` and `${__function(…)}` may stand, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: Position,
}

impl Template {
    /// Text that is not from a file.
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            at: Position::default(),
        }
    }
}
