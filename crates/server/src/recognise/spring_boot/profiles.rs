//! Which profiles are active, and which documents hold under them ("Profiles" and "Activation
//! Properties" in Spring Boot's reference).

use super::environment::SpringEnvironment;

/// Groups may name groups; a circle ends here.
const MOST: usize = 200;

/// The active profiles in the order in which they are added, or why they are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profiles(Result<Vec<String>, String>);

impl Profiles {
    /// Those that an environment with the files for no profile names.
    pub(super) fn of(environment: &SpringEnvironment) -> Self {
        Self(Self::named(environment))
    }

    fn named(environment: &SpringEnvironment) -> Result<Vec<String>, String> {
        let active = environment.list("spring.profiles.active")?;
        let default = || environment.list("spring.profiles.default");
        let active = match active {
            Some(active) => active,
            None => default()?.unwrap_or_else(|| vec!["default".to_owned()]),
        };
        let mut wanted = environment.lists("spring.profiles.include");
        wanted.extend(active);
        wanted.reverse();
        let mut profiles: Vec<String> = Vec::new();
        while let Some(profile) = wanted.pop() {
            if profiles.contains(&profile) || profiles.len() > MOST {
                continue;
            }
            let members = environment.list(&format!("spring.profiles.group.{profile}"))?;
            wanted.extend(members.unwrap_or_default().into_iter().rev());
            profiles.push(profile);
        }
        Ok(profiles)
    }

    /// Their names, the weakest first.
    pub(super) fn names(&self) -> Result<&[String], &str> {
        self.0.as_deref().map_err(String::as_str)
    }

    /// Whether one of several expressions holds, such as `prod & (eu | us)` and `!test`; nothing
    /// when that cannot be told.
    pub(super) fn hold(&self, expressions: &[String]) -> Option<bool> {
        let profiles = self.0.as_ref().ok()?;
        let mut any = false;
        for expression in expressions {
            any |= Expression::of(expression, profiles)?;
        }
        Some(any)
    }
}

/// The words of a list with commas.
pub(super) fn names_in(text: &str) -> Vec<String> {
    let words = text.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// An expression that is read from the left.
struct Expression<'a> {
    rest: &'a str,
    profiles: &'a [String],
}

impl<'a> Expression<'a> {
    fn of(text: &'a str, profiles: &'a [String]) -> Option<bool> {
        let mut expression = Self {
            rest: text,
            profiles,
        };
        let holds = expression.terms(0)?;
        expression.rest.trim().is_empty().then_some(holds)
    }

    /// `a & b` or `a | b`; both only with brackets.
    fn terms(&mut self, depth: usize) -> Option<bool> {
        let mut holds = self.term(depth)?;
        let mut operator = None;
        loop {
            self.rest = self.rest.trim_start();
            let Some(next) = self
                .rest
                .chars()
                .next()
                .filter(|next| ['&', '|'].contains(next))
            else {
                return Some(holds);
            };
            if operator.is_some_and(|operator| operator != next) {
                return None;
            }
            operator = Some(next);
            self.rest = &self.rest[1..];
            let term = self.term(depth)?;
            holds = if next == '&' {
                holds && term
            } else {
                holds || term
            };
        }
    }

    fn term(&mut self, depth: usize) -> Option<bool> {
        if depth > MOST {
            return None;
        }
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('!') {
            self.rest = rest;
            return self.term(depth + 1).map(|holds| !holds);
        }
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let holds = self.terms(depth + 1)?;
            self.rest = self.rest.trim_start().strip_prefix(')')?;
            return Some(holds);
        }
        let end = self
            .rest
            .find(['&', '|', '(', ')', '!'])
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let name = name.trim();
        (!name.is_empty()).then(|| self.profiles.iter().any(|profile| profile == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_hold_as_in_the_reference() {
        let profiles = Profiles(Ok(vec!["prod".to_owned(), "eu".to_owned()]));
        for (expressions, holds) in [
            (&["prod"][..], Some(true)),
            (&["!prod"], Some(false)),
            (&["prod & eu"], Some(true)),
            (&["prod & !eu"], Some(false)),
            (&["test | (prod & eu)"], Some(true)),
            (&["!(test | prod)"], Some(false)),
            (&["test", "eu"], Some(true)),
            (&["a & b | c"], None),
            (&["(prod"], None),
            (&[""], None),
        ] {
            let expressions: Vec<String> =
                expressions.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(profiles.hold(&expressions), holds, "{expressions:?}");
        }
        let unknown = Profiles(Err("why".to_owned()));
        assert_eq!(unknown.hold(&["prod".to_owned()]), None);
    }
}
