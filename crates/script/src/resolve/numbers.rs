//! Numbers in plans, from texts.
//!
//! Where a standard element wants a number, JMeter reads a text that is none as 0 and says so in
//! its log at most. Plans in the wild rest on it: they hold words where a script of theirs writes
//! numbers. They run as JMeter runs them, and a warning names each such place, what follows from it
//! and how to set it. Where JMeter does not start the test, and in the elements of plugins, it is a
//! problem.

use std::time::Duration;

use weir_plan::{Iterations, Share, Template, ThroughputShare};

use super::{Resolver, USERS_MAX};
use crate::{Problem, ResolvedIterations};

const MINUTE_MS: f64 = 60_000.0;
/// A throughput that rounding changes by no more is not worth a word.
const ROUNDING_UNTOLD: f64 = 0.01;

/// What follows from 0 loops, or 0 seconds.
pub(super) const NO_STEPS: &str = "the steps below it are left out";
/// What follows from a delay of 0.
pub(super) const NO_WAIT: &str = "it does not wait";
/// What follows from a time-out of 0.
pub(super) const NO_TIMEOUT: &str = "there is no time-out";

impl Resolver {
    pub(super) fn iterations(&mut self, iterations: &Iterations) -> ResolvedIterations {
        let Iterations::Count(count) = iterations else {
            return ResolvedIterations::Forever;
        };
        let text = self.seen(count);
        // JMeter: each user asks once, when it starts.
        let is_known =
            text.constant().is_some() || !(text.depends_on_user() || text.changes_by_itself());
        if !is_known {
            return ResolvedIterations::Asked(self.compiler.compile(count));
        }
        let nothing = "the group sends nothing";
        let number = self.given_number(count, "number of loops", nothing);
        match u64::try_from(number) {
            Ok(count) => ResolvedIterations::Count(count),
            // JMeter: any negative number means for ever.
            Err(_) if text.constant().is_some() => ResolvedIterations::Forever,
            // It asks again whether it still is one.
            Err(_) => ResolvedIterations::Asked(text),
        }
    }

    pub(super) fn users(&mut self, users: &Template) -> u32 {
        let nobody = "the group starts nobody";
        let count = self.given_number(users, "number of users", nobody);
        match u32::try_from(count) {
            Ok(count) if count <= USERS_MAX => count,
            _ => {
                let says = format!("the number of users is {count}{}", origin_of(users));
                self.problem(users.at, says, format!("write 0 to {USERS_MAX}"));
                0
            }
        }
    }

    /// JMeter treats a negative ramp-up like none.
    pub(super) fn ramp_up(&mut self, template: &Template) -> Duration {
        let at_once = "the users start at once";
        let seconds = self.lenient_number(template, "ramp-up time", at_once);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }

    /// JMeter does not start a group with a negative delay.
    pub(super) fn delay(&mut self, template: &Template) -> Duration {
        let at_once = "the group starts at once";
        let seconds = self.lenient_number(template, "start-up delay", at_once);
        Duration::from_secs(u64::try_from(seconds).unwrap_or_else(|_| {
            let says = format!("the start-up delay is {seconds}{}", origin_of(template));
            self.problem(template.at, says, "write 0 or more seconds");
            0
        }))
    }

    /// JMeter does not start a group whose scheduler is on without a duration.
    pub(super) fn duration(&mut self, template: &Template) -> Duration {
        let problems = self.compiler.problems.len();
        let seconds = self.number(template, "duration");
        if seconds <= 0 && self.compiler.problems.len() == problems {
            let says = format!(
                "the scheduler is on, but the duration is {seconds}{}",
                origin_of(template)
            );
            self.problem(template.at, says, "write the seconds that the group lasts");
        }
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }

    /// A number that has to be given: JMeter reads nothing as 0 too.
    fn given_number(&mut self, template: &Template, what: &str, consequence: &str) -> i64 {
        let Some(text) = self.known(template, what) else {
            return 0;
        };
        if text.is_empty() {
            self.taken_as(template, what, "empty", "0", consequence);
        }
        self.zero_unless_number(&text, template, what, consequence)
    }

    /// A number that is known before the start; what is none counts as 0.
    fn lenient_number(&mut self, template: &Template, what: &str, consequence: &str) -> i64 {
        match self.known(template, what) {
            Some(text) => self.zero_unless_number(&text, template, what, consequence),
            None => 0,
        }
    }

    fn zero_unless_number(
        &mut self,
        text: &str,
        template: &Template,
        what: &str,
        consequence: &str,
    ) -> i64 {
        let number = integer(text);
        if number.is_none() && !text.is_empty() {
            self.taken_as(template, what, &format!("\"{text}\""), "0", consequence);
        }
        number.unwrap_or(0)
    }

    fn taken_as(
        &mut self,
        template: &Template,
        what: &str,
        found: &str,
        taken: &str,
        consequence: &str,
    ) {
        let origin = origin_of(template);
        let says = format!(
            "the {what} is {found}{origin}; like JMeter, Weir takes {taken}: {consequence}"
        );
        let warning = Problem::new(template.at, says).instead(how_to_set(template));
        // It says more than that a variable of this text has no value.
        let warnings = &mut self.compiler.warnings;
        warnings.retain(|known| known.at != template.at);
        warnings.push(warning);
    }

    /// A number that may change while the test runs; if it does not and is none, it counts as 0.
    pub(super) fn check_number(&mut self, template: &Template, what: &str, consequence: &str) {
        self.check(template, what, consequence, |text| integer(text).is_some());
    }

    /// As `check_number`, with a fraction.
    pub(super) fn check_width(&mut self, template: &Template, what: &str) {
        let consequence = "it does not vary";
        self.check(template, what, consequence, |text| decimal(text).is_some());
    }

    fn check(
        &mut self,
        template: &Template,
        what: &str,
        consequence: &str,
        is_number: fn(&str) -> bool,
    ) {
        let text = self.compiler.compile(template);
        if let Some(constant) = text.constant()
            && !constant.is_empty()
            && !is_number(constant)
        {
            self.taken_as(template, what, &format!("\"{constant}\""), "0", consequence);
        }
    }

    /// A Throughput Controller runs once, or always, where its number is none.
    pub(super) fn check_share(&mut self, share: &Share) {
        let (template, taken, consequence, is_number): (_, _, _, fn(&str) -> bool) = match share {
            Share::Total(text) => (text, "1", "the steps below it run once", |text| {
                integer(text).is_some()
            }),
            Share::Percent(text) => (text, "100", "the steps below it always run", |text| {
                decimal(text).is_some()
            }),
        };
        let text = self.compiler.compile(template);
        if let Some(constant) = text.constant()
            && !is_number(constant)
        {
            let found = format!("\"{constant}\"");
            self.taken_as(template, "throughput", &found, taken, consequence);
        }
    }

    /// A throughput in samples a minute: of 0 JMeter waits for ever, which nobody can mean.
    pub(super) fn check_throughput(&mut self, template: &Template) {
        let text = self.compiler.compile(template);
        if let Some(constant) = text.constant()
            && !constant.is_empty()
            && decimal(constant).is_none()
        {
            let says = format!("the throughput is \"{constant}\"{}", origin_of(template));
            self.problem(template.at, says, how_to_set(template));
        }
    }

    /// JMeter spaces samples by whole milliseconds, and so does Weir, which makes another
    /// throughput of a high one. Where users divide it by their number the steps are finer, and
    /// not known here.
    pub(super) fn tell_rounding(&mut self, template: &Template, share: ThroughputShare) {
        let is_divided = matches!(
            share,
            ThroughputShare::AllUsers | ThroughputShare::GroupUsers
        );
        let text = self.compiler.compile(template);
        let wanted = text.constant().and_then(decimal);
        let Some(wanted) = wanted.filter(|wanted| *wanted > 0.0 && !is_divided) else {
            return;
        };
        let spacing_ms = (MINUTE_MS / wanted + 0.5).floor();
        let made = MINUTE_MS / spacing_ms;
        if (made / wanted - 1.0).abs() <= ROUNDING_UNTOLD {
            return;
        }
        let becomes = if spacing_ms < 1.0 {
            "is no limit at all".to_owned()
        } else {
            format!("becomes {made:.0} ({:.0}/s)", made / 60.0)
        };
        let says = format!(
            "the throughput of {wanted} samples a minute ({:.0}/s){} {becomes}: like JMeter, Weir waits for whole \
             milliseconds between two samples",
            wanted / 60.0,
            origin_of(template)
        );
        let way_out = "a Precise Throughput Timer keeps to its rate";
        let warning = Problem::new(template.at, says).instead(way_out);
        self.compiler.warnings.push(warning);
    }

    /// A number that may change while the test runs; if it does not, it has to be one.
    pub(super) fn check_given(&mut self, template: &Template, what: &str) {
        if self.compiler.compile(template).constant().is_some() {
            self.number(template, what);
        }
    }

    /// A whole number that is known before the start; nothing counts as 0, and what is none is a
    /// problem.
    pub(super) fn number(&mut self, template: &Template, what: &str) -> i64 {
        let text = self.fixed(template, what);
        if text.is_empty() {
            return 0;
        }
        integer(&text).unwrap_or_else(|| {
            let says = format!("the {what} is \"{text}\"{}", origin_of(template));
            self.problem(template.at, says, how_to_set(template));
            0
        })
    }

    /// A number that bounds something; 0 and nothing bound nothing.
    pub(super) fn bound(&mut self, template: &Template, what: &str) -> Option<u64> {
        let text = self.fixed(template, what);
        if text.trim().is_empty() {
            return None;
        }
        let number = text.trim().parse::<i64>();
        if number.is_err() {
            let says = format!("the {what} is \"{text}\"{}", origin_of(template));
            self.problem(template.at, says, how_to_set(template));
        }
        u64::try_from(number.unwrap_or(0))
            .ok()
            .filter(|bound| *bound > 0)
    }

    /// A number that is known before the start and not negative; nothing counts as 0.
    pub(super) fn decimal(&mut self, template: &Template, what: &str) -> f64 {
        let text = self.fixed(template, what);
        if text.trim().is_empty() {
            return 0.0;
        }
        match decimal(&text) {
            Some(number) if number >= 0.0 => number,
            _ => {
                let says = format!("the {what} is \"{text}\"{}", origin_of(template));
                self.problem(template.at, says, "write a number that is not negative");
                0.0
            }
        }
    }

    /// A text that has to be known before the start; `None`, and a problem, when it is not.
    fn known(&mut self, template: &Template, what: &str) -> Option<String> {
        let problems = self.compiler.problems.len();
        let text = self.fixed(template, what);
        (self.compiler.problems.len() == problems).then_some(text)
    }
}

/// `Integer.parseInt`: a sign and digits, nothing around them, 32 bits.
fn integer(text: &str) -> Option<i64> {
    text.parse::<i32>().ok().map(i64::from)
}

/// `Double.parseDouble`, which leaves out blanks around the number.
fn decimal(text: &str) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// Says what a value was made from, when the plan does not hold the value itself.
fn origin_of(template: &Template) -> String {
    if template.text.contains("${") {
        format!(" from {}", template.text)
    } else {
        String::new()
    }
}

/// What to write where, so that there is a number.
fn how_to_set(template: &Template) -> String {
    let reference = template.text.strip_prefix("${");
    let reference = reference.and_then(|text| text.strip_suffix('}'));
    let Some(reference) = reference.filter(|text| !text.contains('$')) else {
        return "write a number".to_owned();
    };
    let called = reference
        .strip_prefix("__P(")
        .or_else(|| reference.strip_prefix("__property("));
    if let Some(arguments) = called {
        let name = arguments.split([',', ')']).next().unwrap_or_default();
        return format!("set it with -J{}=NUMBER", name.trim());
    }
    if reference.starts_with("__") {
        return "write a number".to_owned();
    }
    format!(
        "give the variable {reference} a number, or write ${{__P({reference},1)}} and set -J{reference}=NUMBER"
    )
}
