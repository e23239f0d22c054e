//! Levels that follow from what was measured: `p99 <= {2 * p99(light) of light alone} ms`.

use crate::figure::Figure;

/// A text in which braces hold formulas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Derived {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Formula(Formula),
}

/// A product of numbers and figures of one case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Formula {
    factors: Vec<Factor>,
    /// The case whose figures they are.
    pub(crate) case: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Factor {
    operand: Operand,
    /// Whether it stands below the line.
    divides: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Number(f64),
    Figure(Figure),
}

/// How a formula looks, for messages.
pub(crate) const EXAMPLE: &str = "{2 * p99(light) of NAME OF A CASE}";

impl Derived {
    /// Reads a text; `Ok(None)` where it has no formula. The error says what is wrong with one.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (inside, after) = behind
                .split_once('}')
                .ok_or_else(|| format!("`{text}` opens a brace and does not close it"))?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Formula(Formula::parse(inside)?));
            rest = after;
        }
        if parts.is_empty() {
            return Ok(None);
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Some(Self { parts }))
    }

    /// The cases whose figures it needs.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Formula(formula) => Some(formula.case.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text with every formula worked out, to four digits; `figure` reads a figure of a case.
    /// `None` where one is not known.
    pub(crate) fn text(&self, figure: impl Fn(&str, &Figure) -> Option<f64>) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Formula(formula) => formula.value(&figure).map(short),
        });
        parts.collect()
    }
}

impl Formula {
    fn parse(inside: &str) -> Result<Self, String> {
        let wrong = || format!("`{{{inside}}}` is no formula");
        let (product, case) = outside_parentheses(inside, " of ").ok_or_else(wrong)?;
        let words = words(product);
        let mut factors = Vec::new();
        let mut divides = false;
        for (at, word) in words.iter().enumerate() {
            match (at % 2, *word) {
                (1, "*") => divides = false,
                (1, "/") => divides = true,
                (0, operand) => factors.push(Factor {
                    operand: operand
                        .parse()
                        .map_or_else(|_| Operand::Figure(Figure::named(operand)), Operand::Number),
                    divides,
                }),
                _ => return Err(wrong()),
            }
        }
        let whole = words.len() % 2 == 1;
        let case = case.trim();
        if !whole || case.is_empty() {
            return Err(wrong());
        }
        Ok(Self {
            factors,
            case: case.to_owned(),
        })
    }

    fn value(&self, figure: impl Fn(&str, &Figure) -> Option<f64>) -> Option<f64> {
        let value = self.factors.iter().try_fold(1.0, |product, factor| {
            let value = match &factor.operand {
                Operand::Number(number) => *number,
                Operand::Figure(of) => figure(&self.case, of)?,
            };
            Some(if factor.divides {
                product / value
            } else {
                product * value
            })
        })?;
        value.is_finite().then_some(value)
    }
}

/// What stands before and behind the first such text outside of parentheses: sample labels have
/// spaces, too.
fn outside_parentheses<'a>(text: &'a str, between: &str) -> Option<(&'a str, &'a str)> {
    let mut found = text.match_indices(between);
    let (at, _) = found.find(|(at, _)| !is_inside(&text[..*at]))?;
    Some((&text[..at], &text[at + between.len()..]))
}

/// The words of a product; `p99(HTTP Request)` is one.
fn words(product: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = product.trim();
    while !rest.is_empty() {
        let mut blanks = rest.match_indices(char::is_whitespace);
        let end = blanks.find(|(at, _)| !is_inside(&rest[..*at]));
        let (word, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// Whether a parenthesis is open behind a text.
fn is_inside(before: &str) -> bool {
    before.matches('(').count() > before.matches(')').count()
}

/// Four significant digits, and whole from a thousand on.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    if digits <= 0 {
        return format!("{value:.0}");
    }
    let scale = 10f64.powi(digits);
    format!("{}", (value * scale).round() / scale)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn worked_out(text: &str) -> Option<String> {
        Derived::parse(text).unwrap().unwrap().text(|case, figure| {
            let known = [
                ("light alone", "p99(light)", 1.2345),
                ("30 light", "throughput", 20_000.0),
                ("30 light", "cpu", 0.96),
                ("30 light", "p99(list of orders)", 2.0),
            ];
            let known = known
                .into_iter()
                .find(|(of, name, _)| *of == case && Figure::named(name) == *figure);
            known.map(|(_, _, value)| value)
        })
    }

    #[test]
    fn formulas_become_numbers_in_their_text() {
        assert_eq!(
            worked_out("p99 <= {2 * p99(light) of light alone} ms").as_deref(),
            Some("p99 <= 2.469 ms")
        );
        assert_eq!(
            worked_out("{0.4 * throughput / cpu of 30 light}").as_deref(),
            Some("8333")
        );
        assert_eq!(worked_out("{p99 of light alone}"), None, "not measured");
        assert_eq!(
            worked_out("{2\t* p99(list of orders)\n * 3 of 30 light}").as_deref(),
            Some("12"),
            "labels have spaces"
        );
    }

    #[test]
    fn what_is_no_formula_is_said() {
        assert_eq!(Derived::parse("p99 <= 5 ms"), Ok(None));
        for wrong in [
            "{p99}",
            "{2 * of light}",
            "{2 p99 of light}",
            "{of light}",
            "{p99 of light",
            "{p99 of }",
        ] {
            assert!(Derived::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_123_456, "0.0001235"),
            (12.3456, "12.35"),
            (8_333.3, "8333"),
            (123_456.0, "123456"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
