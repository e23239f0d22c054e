//! The languages that are understood, and what sets them apart.

/// A language that scripts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Groovy: JSR223 elements and `__groovy`.
    Groovy,
    /// `BeanShell`, which is also what is taken for Java.
    BeanShell,
    /// JEXL 2.
    Jexl2,
    /// JEXL 3.
    Jexl3,
    /// JavaScript.
    JavaScript,
}

impl Language {
    /// The language that a JSR223 element names: its name or one of its other names there, with
    /// what may follow in brackets left out.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        Some(match name.split(' ').next().unwrap_or_default() {
            "" | "groovy" => Self::Groovy,
            "beanshell" | "bsh" | "java" => Self::BeanShell,
            "jexl2" => Self::Jexl2,
            "jexl" | "jexl3" => Self::Jexl3,
            "javascript" | "ecmascript" | "js" | "nashorn" | "rhino" => Self::JavaScript,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Groovy => "Groovy",
            Self::BeanShell => "BeanShell",
            Self::Jexl2 => "JEXL 2",
            Self::Jexl3 => "JEXL 3",
            Self::JavaScript => "JavaScript",
        }
    }

    /// Whether a line ends a statement.
    pub(crate) fn ends_at_lines(self) -> bool {
        self == Self::Groovy
    }

    pub(crate) fn is_jexl(self) -> bool {
        matches!(self, Self::Jexl2 | Self::Jexl3)
    }
}
