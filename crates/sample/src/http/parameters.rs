//! The parameters of a request and what each may be.
//!
//! A name that the endpoint does not know is refused: a misspelt parameter that silently falls back
//! to its default changes what a load test measures, and nobody notices.

use std::ops::RangeInclusive;

/// The parameters of a request, from the query and from a form in the body.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Parameters(Vec<(String, String)>);

/// A parameter that is a whole number.
#[derive(Debug)]
pub(crate) struct Number {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) range: RangeInclusive<u64>,
    pub(crate) default: u64,
}

/// A parameter that is one of a few words; the first is the default.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// What is wrong with a parameter, in words for the one who sent it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadParameter {
    #[error("parameter {name} is not known here; accepted: {accepted}")]
    Unknown { name: String, accepted: String },
    #[error("parameter {name} is given more than once")]
    Repeated { name: String },
    #[error(
        "parameter {name}: {value:?} is not accepted; give a whole number from {low} to {high} ({unit})"
    )]
    OutOfRange {
        name: &'static str,
        value: String,
        low: u64,
        high: u64,
        unit: &'static str,
    },
    #[error("parameter {name}: {value:?} is not accepted; give one of: {accepted}")]
    NotOneOf {
        name: &'static str,
        value: String,
        accepted: String,
    },
}

impl Parameters {
    /// Adds the pairs of a query or of a form body.
    pub(crate) fn extend_from_form(&mut self, encoded: &[u8]) {
        self.0.extend(form_urlencoded::parse(encoded).into_owned());
    }

    /// Checks that every name is one of `accepted` and that none comes twice.
    pub(crate) fn expect_only(&self, accepted: &[&str]) -> Result<(), BadParameter> {
        for (index, (name, _)) in self.0.iter().enumerate() {
            if !accepted.contains(&name.as_str()) {
                let accepted = if accepted.is_empty() {
                    "none".to_owned()
                } else {
                    accepted.join(", ")
                };
                return Err(BadParameter::Unknown {
                    name: name.clone(),
                    accepted,
                });
            }
            if self.0[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(BadParameter::Repeated { name: name.clone() });
            }
        }
        Ok(())
    }

    /// The value of `number`, or its default.
    pub(crate) fn number(&self, number: &Number) -> Result<u64, BadParameter> {
        Ok(self.given_number(number)?.unwrap_or(number.default))
    }

    /// The value of `number` if there is one.
    pub(crate) fn given_number(&self, number: &Number) -> Result<Option<u64>, BadParameter> {
        let Some(text) = self.get(number.name) else {
            return Ok(None);
        };
        match text.parse::<u64>() {
            Ok(value) if number.range.contains(&value) => Ok(Some(value)),
            _ => Err(BadParameter::OutOfRange {
                name: number.name,
                value: text.to_owned(),
                low: *number.range.start(),
                high: *number.range.end(),
                unit: number.unit,
            }),
        }
    }

    /// The chosen word.
    pub(crate) fn choice(&self, choice: &Choice) -> Result<&'static str, BadParameter> {
        let Some(text) = self.get(choice.name) else {
            return Ok(choice.words[0]);
        };
        choice
            .words
            .iter()
            .find(|word| **word == text)
            .copied()
            .ok_or_else(|| BadParameter::NotOneOf {
                name: choice.name,
                value: text.to_owned(),
                accepted: choice.words.join(", "),
            })
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: Number = Number {
        name: "bit",
        unit: "bits",
        range: 16..=8192,
        default: 1024,
    };
    const FORM: Choice = Choice {
        name: "form",
        words: &["plain", "fancy"],
    };

    fn parameters(form: &str) -> Parameters {
        let mut parameters = Parameters::default();
        parameters.extend_from_form(form.as_bytes());
        parameters
    }

    #[test]
    fn values_and_defaults() {
        assert_eq!(parameters("a=1&bit=512").number(&BITS), Ok(512));
        assert_eq!(parameters("a=1").number(&BITS), Ok(1024));
        assert_eq!(parameters("form=fan%63y").choice(&FORM), Ok("fancy"));
        assert_eq!(parameters("").choice(&FORM), Ok("plain"));
    }

    #[test]
    fn messages_name_parameter_value_and_what_is_accepted() {
        let message = |result: Result<u64, BadParameter>| result.map_err(|error| error.to_string());
        for value in ["15", "8193", "-1", "1e3", "", "99999999999999999999999"] {
            assert_eq!(
                message(parameters(&format!("bit={value}")).number(&BITS)),
                Err(format!(
                    "parameter bit: {value:?} is not accepted; give a whole number from 16 to 8192 (bits)"
                ))
            );
        }
        assert_eq!(
            parameters("form=best")
                .choice(&FORM)
                .map_err(|error| error.to_string()),
            Err("parameter form: \"best\" is not accepted; give one of: plain, fancy".to_owned())
        );
    }

    #[test]
    fn misspelt_and_repeated_names_are_refused() {
        let wrong = parameters("bits=512").expect_only(&["bit", "form"]);
        assert_eq!(
            wrong,
            Err(BadParameter::Unknown {
                name: "bits".to_owned(),
                accepted: "bit, form".to_owned()
            })
        );
        let wrong = parameters("bit=1&bit=1").expect_only(&["bit", "form"]);
        assert_eq!(
            wrong,
            Err(BadParameter::Repeated {
                name: "bit".to_owned()
            })
        );
        assert_eq!(
            parameters("form=1&bit=1").expect_only(&["bit", "form"]),
            Ok(())
        );
    }
}
