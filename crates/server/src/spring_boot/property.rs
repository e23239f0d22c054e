//! The name of a property, as Spring Boot compares names.

/// A property of Spring Boot's: `server.tomcat.threads.max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    name: &'static str,
    canonical: String,
}

impl Property {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            canonical: canonical(name),
        }
    }

    /// As the reference documentation writes it.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// As names are compared.
    pub(super) fn canonical(&self) -> &str {
        &self.canonical
    }
}

/// `accept-count`, `acceptCount` and `accept_count` are one name ("Relaxed Binding" in Spring
/// Boot's reference).
pub(crate) fn canonical(name: &str) -> String {
    name.chars()
        .filter(|c| !['-', '_'].contains(c))
        .flat_map(char::to_lowercase)
        .collect()
}
