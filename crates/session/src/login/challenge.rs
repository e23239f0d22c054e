//! What a server asks for.

use crate::fields::Field;
use crate::token::elements;

/// A `WWW-Authenticate` field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    /// In lower case.
    pub(super) scheme: String,
    /// Names in lower case.
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The last parameter of a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .parameters
            .iter()
            .rev()
            .find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn is_stale(&self) -> bool {
        self.get("stale")
            .is_some_and(|stale| stale.eq_ignore_ascii_case("true"))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }
}

/// The challenges of a response, in their order: one a field, as in JMeter's HTTP library.
pub(super) fn challenges(response_fields: &[Field<'_>]) -> Vec<Challenge> {
    let asks = |field: &&Field<'_>| field.0.eq_ignore_ascii_case("WWW-Authenticate");
    let fields = response_fields.iter().filter(asks);
    fields.filter_map(|(_, value)| challenge(value)).collect()
}

fn challenge(value: &str) -> Option<Challenge> {
    let value = value.trim_start();
    let (scheme, parameters) = value.split_once([' ', '\t']).unwrap_or((value, ""));
    let parameter = |element: crate::token::Element| {
        (
            element.name.to_lowercase(),
            element.value.unwrap_or_default(),
        )
    };
    (!scheme.is_empty()).then(|| Challenge {
        scheme: scheme.to_lowercase(),
        parameters: elements(parameters).into_iter().map(parameter).collect(),
    })
}
