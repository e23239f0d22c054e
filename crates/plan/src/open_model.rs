//! The schedule language of JMeter's Open Model Thread Group.
//!
//! `rate(N/unit)` says the rate from here on; `random_arrivals(time)`, `even_arrivals(time)` and
//! `pause(time)` are stretches of time. A rate that stands right before and another right after a
//! stretch make a ramp. A time may have several parts (`1 min 30 s`). Comments are `//` to the end
//! of the line and `/* … */`; words are written in any case, and `per` may stand for `/`. Tried
//! with JMeter 5.6.3.

use crate::rate::RatePiece;
use crate::starts::{ArrivalProcess, ArrivalStep};

/// A schedule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the schedule: {why} at \"{rest}\"")]
pub struct OpenModelError {
    why: &'static str,
    rest: String,
}

/// Units of time and their seconds.
const UNITS: &[(&str, f64)] = &[
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("minute", 60.0),
    ("minutes", 60.0),
    ("h", 3_600.0),
    ("hour", 3_600.0),
    ("hours", 3_600.0),
    ("d", 86_400.0),
    ("day", 86_400.0),
    ("days", 86_400.0),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Rate(f64),
    Stretch(Option<ArrivalProcess>, f64),
}

/// The stretches of a schedule.
///
/// # Errors
/// What cannot be read, and where.
pub fn open_model_steps(text: &str) -> Result<Vec<ArrivalStep>, OpenModelError> {
    let mut reader = Reader { rest: text };
    let mut words = Vec::new();
    while reader.skip_blank()? {
        words.push(reader.word()?);
    }
    let mut steps = Vec::new();
    let mut rate = 0.0;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Rate(per_s) => rate = *per_s,
            Word::Stretch(process, seconds) => {
                let to_per_s = match words.get(at + 1) {
                    Some(Word::Rate(next)) => *next,
                    _ => rate,
                };
                let pauses = process.is_none();
                steps.push(ArrivalStep {
                    rate: RatePiece {
                        from_per_s: if pauses { 0.0 } else { rate },
                        to_per_s: if pauses { 0.0 } else { to_per_s },
                        seconds: *seconds,
                    },
                    process: process.unwrap_or(ArrivalProcess::FixedEven),
                });
            }
        }
    }
    Ok(steps)
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn wrong(&self, why: &'static str) -> OpenModelError {
        OpenModelError {
            why,
            rest: self.rest.chars().take(30).collect(),
        }
    }

    /// Goes to the next word; false when there is none.
    fn skip_blank(&mut self) -> Result<bool, OpenModelError> {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let end = comment.split_once("*/");
                self.rest = end.ok_or_else(|| self.wrong("a comment has no end"))?.1;
            } else {
                return Ok(!self.rest.is_empty());
            }
        }
    }

    fn word(&mut self) -> Result<Word, OpenModelError> {
        let name = self.take(|c| c.is_ascii_alphabetic() || c == '_');
        let process = match name.to_ascii_lowercase().as_str() {
            "rate" => return self.rate(),
            "random_arrivals" => Some(ArrivalProcess::FixedRandom),
            "even_arrivals" => Some(ArrivalProcess::FixedEven),
            "pause" => None,
            _ => {
                return Err(self.wrong(
                    "only rate(…), random_arrivals(…), even_arrivals(…) and pause(…) are known; unexpected text",
                ));
            }
        };
        Ok(Word::Stretch(process, self.seconds()?))
    }

    /// The sum of all parts of a time; a 0 at its end needs no unit.
    fn seconds(&mut self) -> Result<f64, OpenModelError> {
        self.expect('(')?;
        let mut sum_s = 0.0;
        loop {
            let number = self.number()?;
            self.skip_blank()?;
            if number > 0.0 || !self.rest.starts_with(')') {
                sum_s += number * self.unit()?;
                self.skip_blank()?;
            }
            if !self
                .rest
                .starts_with(|c: char| c.is_ascii_digit() || c == '.')
            {
                break;
            }
        }
        self.expect(')')?;
        Ok(sum_s)
    }

    fn rate(&mut self) -> Result<Word, OpenModelError> {
        self.expect('(')?;
        let number = self.number()?;
        self.skip_blank()?;
        // A rate of 0 needs no unit.
        if number <= 0.0 && self.rest.starts_with(')') {
            self.expect(')')?;
            return Ok(Word::Rate(0.0));
        }
        if !self.takes_word("per") {
            self.expect('/')?;
        }
        let unit_s = self.unit()?;
        self.expect(')')?;
        Ok(Word::Rate(number / unit_s))
    }

    /// Whether this word comes next; then goes past it.
    fn takes_word(&mut self, word: &str) -> bool {
        let here = self.rest;
        let found = self.take(|c| c.is_ascii_alphabetic());
        let is_it = found.eq_ignore_ascii_case(word);
        if !is_it {
            self.rest = here;
        }
        is_it
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn expect(&mut self, wanted: char) -> Result<(), OpenModelError> {
        self.skip_blank()?;
        let why = match wanted {
            '(' => "expected (",
            ')' => "expected )",
            _ => "expected / and a unit",
        };
        self.rest = self
            .rest
            .strip_prefix(wanted)
            .ok_or_else(|| self.wrong(why))?;
        Ok(())
    }

    fn number(&mut self) -> Result<f64, OpenModelError> {
        self.skip_blank()?;
        let here = self.rest;
        let digits = self.take(|c| c.is_ascii_digit() || c == '.');
        let number = digits.parse::<f64>().ok().filter(|n| n.is_finite());
        number.ok_or_else(|| {
            self.rest = here;
            self.wrong("expected a number")
        })
    }

    fn unit(&mut self) -> Result<f64, OpenModelError> {
        self.skip_blank()?;
        let here = self.rest;
        let name = self.take(|c| c.is_ascii_alphabetic());
        let unit = UNITS
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known));
        unit.map(|(_, seconds)| *seconds).ok_or_else(|| {
            self.rest = here;
            self.wrong("expected a unit of time")
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(f64, f64, f64, ArrivalProcess)> {
        let steps = open_model_steps(text).unwrap().into_iter();
        steps
            .map(|step| {
                let rate = step.rate;
                (rate.from_per_s, rate.to_per_s, rate.seconds, step.process)
            })
            .collect()
    }

    #[test]
    fn a_rate_on_both_sides_makes_a_ramp() {
        use ArrivalProcess::{FixedEven, FixedRandom};
        let text = "rate(1/sec) random_arrivals(2 min) rate(10 / min)\n// a comment\nrandom_arrivals(5 s) \
                    pause(1 s) /* another */ even_arrivals(0.5 hour) rate(0)";
        let tenth = 10.0 / 60.0;
        assert_eq!(
            read(text),
            [
                (1.0, tenth, 120.0, FixedRandom),
                (tenth, tenth, 5.0, FixedRandom),
                (0.0, 0.0, 1.0, FixedEven),
                (tenth, 0.0, 1_800.0, FixedEven),
            ]
        );
        assert_eq!(read(""), []);
        let odd = "Rate(5 PER Sec)even_arrivals(1S) Pause(2 s) EVEN_ARRIVALS(1 seconds)";
        assert_eq!(
            read(odd),
            [
                (5.0, 5.0, 1.0, FixedEven),
                (0.0, 0.0, 2.0, FixedEven),
                (5.0, 5.0, 1.0, FixedEven),
            ]
        );
    }

    #[test]
    fn a_time_is_the_sum_of_its_parts() {
        for (time, seconds) in [
            ("1 min 30 s", 90.0),
            ("30 s 1 min", 90.0),
            ("0 min 30 s", 30.0),
            ("1 min 0", 60.0),
            ("1 h 2 min 3 s", 3_723.0),
            ("0.5 s 0.5 s", 1.0),
            ("0.0", 0.0),
            ("0", 0.0),
        ] {
            let steps = read(&format!("rate(1/s) even_arrivals({time})"));
            assert_eq!(steps, [(1.0, 1.0, seconds, ArrivalProcess::FixedEven)]);
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (text, part) in [
            ("rate(1/s) hurry(5 s)", "(5 s)"),
            ("rate(1)", ")"),
            ("rate(1/parsec)", "parsec"),
            ("rate(5/hr) pause(1 s)", "hr)"),
            ("pause(1e1 s)", "e1"),
            ("rate(10/2 s)", "2 s"),
            ("rate(-1/s)", "-1/s"),
            ("pause(s)", "s)"),
            ("pause 5", "5"),
            ("/* pause(1 s)", "comment has no end"),
            ("pause(5 s", "expected )"),
            ("pause()", ")"),
            ("pause(1 min 30)", ")"),
            ("pause(0 1 min)", "1 min)"),
        ] {
            let error = open_model_steps(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
