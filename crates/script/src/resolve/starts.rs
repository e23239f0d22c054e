//! When users start, from texts to numbers.

use std::borrow::Cow;
use std::time::Duration;

use weir_plan::{
    ArrivalProcess, ArrivalSchedule, ArrivalStep, Arrivals, LoadPlan, Node, Position, RatePiece,
    ShapingRow, Starts, Template, ThreadGroup, TimerKind, UserLevel, UserLife, UserRow, UserSteps,
    open_model_steps,
};

use super::numbers::NO_TIMEOUT;
use super::{Resolver, USERS_MAX, gather_timers};
use crate::Properties;
use crate::resolved::{ResolvedArrivals, ResolvedLevel, ResolvedStarts};
use crate::settable::Settable;

/// Steps of a ramp of arrivals; more are a slip of the pen.
const STEPS_MAX: u64 = 100_000;

impl Resolver {
    /// When the users of a group start, and how many of them there are at most.
    pub(super) fn starts(&mut self, group: &ThreadGroup) -> (ResolvedStarts, u32) {
        match &group.starts {
            Starts::Ramp => (ResolvedStarts::Ramp, self.users(&group.users)),
            Starts::Rows(rows) => self.rows(rows, group.at),
            Starts::Steps(steps) => {
                let users = self.users(&group.users);
                let lives = self.steps(steps).lives(users).collect();
                (ResolvedStarts::Lives(lives), users)
            }
            Starts::Level(level) => self.level(level),
            Starts::Arrivals(arrivals) => {
                let arrivals = self.arrivals(arrivals, group.at);
                let users = arrivals.users_max.unwrap_or(0);
                (ResolvedStarts::Arrivals(Box::new(arrivals)), users)
            }
        }
    }

    fn rows(&mut self, rows: &[UserRow], at: Position) -> (ResolvedStarts, u32) {
        let mut lives: Vec<UserLife> = Vec::new();
        for row in rows {
            let mut number = |template: &Template| self.number(template, "field of the schedule");
            let row = row.map(&mut number);
            let users = u64::try_from(row.users).unwrap_or(0);
            if users.saturating_add(lives.len() as u64) > u64::from(USERS_MAX) {
                let says = "the schedule starts too many users";
                self.problem(at, says, format!("write at most {USERS_MAX} in all"));
                break;
            }
            lives.extend(row.lives());
        }
        let users = lives.len() as u32;
        (ResolvedStarts::Lives(lives), users)
    }

    fn steps(&mut self, steps: &UserSteps) -> UserSteps<i64> {
        steps.map(&mut |template| self.number(template, "field of the schedule").max(0))
    }

    fn level(&mut self, level: &UserLevel) -> (ResolvedStarts, u32) {
        let unit = self.unit(&level.unit);
        let users = self.compiler.compile(&level.users);
        let known = users.constant().is_some().then(|| self.users(&level.users));
        let resolved = ResolvedLevel {
            ramp_up: self.units(&level.ramp_up, unit, "ramp-up time"),
            steps: self.bound(&level.steps, "number of steps").unwrap_or(0),
            hold: self.units(&level.hold, unit, "hold time"),
            iterations_max: self.bound(&level.iterations_max, "number of iterations"),
            users,
        };
        (
            ResolvedStarts::Level(Box::new(resolved)),
            known.unwrap_or(0),
        )
    }

    fn arrivals(&mut self, arrivals: &Arrivals, at: Position) -> ResolvedArrivals {
        let mut seed = None;
        let steps = match &arrivals.schedule {
            ArrivalSchedule::Profile { rate, process } => {
                let step = |rate: &RatePiece| ArrivalStep {
                    rate: *rate,
                    process: *process,
                };
                rate.pieces().iter().map(step).collect()
            }
            ArrivalSchedule::OpenModel { text, seed: given } => {
                let given = self.number(given, "random seed");
                seed = (given != 0).then_some(given);
                self.open_model(text)
            }
            ArrivalSchedule::Ramp {
                level,
                ramp_up,
                steps,
                hold,
                unit,
                process,
            } => {
                let unit = self.unit(unit);
                let per_s = self.number(level, "target rate").max(0) as f64 / unit;
                let ramp_up = self.units(ramp_up, unit, "ramp-up time");
                let steps = self.bound(steps, "number of steps").unwrap_or(0);
                let hold = self.units(hold, unit, "hold time");
                if steps > STEPS_MAX {
                    let says = format!("the ramp-up has {steps} steps");
                    self.problem(at, says, format!("write at most {STEPS_MAX}"));
                }
                steps_of(ramp(per_s, ramp_up, steps.min(STEPS_MAX), hold), *process)
            }
            ArrivalSchedule::Rows { rows, unit } => {
                let unit = self.unit(unit);
                let mut pieces = Vec::new();
                for row in rows {
                    let mut number =
                        |template: &Template| self.decimal(template, "field of the schedule");
                    pieces.push(RatePiece {
                        from_per_s: number(&row.from_per_s) / unit,
                        to_per_s: number(&row.to_per_s) / unit,
                        seconds: number(&row.seconds) * unit,
                    });
                }
                steps_of(pieces, ArrivalProcess::Constant)
            }
        };
        let users_max = self.bound(&arrivals.users_max, "concurrency limit");
        ResolvedArrivals {
            steps,
            seed,
            users_max: users_max.map(|most| u32::try_from(most).unwrap_or(USERS_MAX)),
            arrivals_max: self.bound(&arrivals.arrivals_max, "arrivals limit"),
            iterations_max: self.bound(&arrivals.iterations_max, "number of iterations"),
            when_full: arrivals.when_full,
            new_users: arrivals.new_users,
        }
    }

    fn open_model(&mut self, text: &Template) -> Vec<ArrivalStep> {
        let schedule = self.fixed(text, "schedule");
        open_model_steps(&schedule).unwrap_or_else(|error| {
            let says = format!("failed to {error}");
            self.problem(text.at, says, "write `rate(1/s) random_arrivals(1 min)`");
            Vec::new()
        })
    }

    /// Checks a throughput that may change while the test runs.
    pub(super) fn check_scheduled(&mut self, timer: &TimerKind) {
        match timer {
            TimerKind::ConstantThroughput { per_minute, shared } => {
                self.check_throughput(per_minute);
                self.tell_rounding(per_minute, *shared);
            }
            TimerKind::PreciseThroughput(precise) => {
                for text in [&precise.throughput, &precise.period_s, &precise.duration_s] {
                    self.check_throughput(text);
                }
                for text in [&precise.batch, &precise.batch_delay_ms, &precise.seed] {
                    self.check_given(text, "number");
                }
            }
            TimerKind::Synchronizing { users, timeout_ms } => {
                self.check_number(
                    users,
                    "number of users",
                    "it waits for all users of the group",
                );
                self.check_number(timeout_ms, "time-out", NO_TIMEOUT);
            }
            TimerKind::Shaping { rows, .. } => {
                for row in rows {
                    for text in [&row.from_per_s, &row.to_per_s, &row.seconds] {
                        self.decimal(text, "field of the schedule");
                    }
                }
            }
            _ => {}
        }
    }

    fn unit(&mut self, template: &Template) -> f64 {
        match self.fixed(template, "unit of time").as_str() {
            "M" => 60.0,
            _ => 1.0,
        }
    }

    /// The plugin rounds to whole seconds.
    fn units(&mut self, template: &Template, unit: f64, what: &str) -> Duration {
        let seconds = (self.decimal(template, what) * unit).round();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

fn steps_of(pieces: Vec<RatePiece>, process: ArrivalProcess) -> Vec<ArrivalStep> {
    let step = |rate| ArrivalStep { rate, process };
    pieces.into_iter().map(step).collect()
}

/// Up to a rate in steps or along a line, then held.
fn ramp(per_s: f64, ramp_up: Duration, steps: u64, hold: Duration) -> Vec<RatePiece> {
    let piece = |from_per_s: f64, to_per_s: f64, seconds: f64| RatePiece {
        from_per_s,
        to_per_s,
        seconds,
    };
    let ramp_s = ramp_up.as_secs_f64();
    let mut pieces: Vec<RatePiece> = match steps {
        0 => vec![piece(0.0, per_s, ramp_s)],
        steps => (1..=steps)
            .map(|step| {
                let rate = per_s * step as f64 / steps as f64;
                piece(rate, rate, ramp_s / steps as f64)
            })
            .collect(),
    };
    pieces.push(piece(per_s, per_s, hold.as_secs_f64()));
    pieces.retain(|piece| piece.seconds > 0.0);
    pieces
}

/// The plan with the schedules that properties give instead of its own: `threads_schedule` for the
/// users of Ultimate Thread Groups, `load_profile` for Throughput Shaping Timers.
pub(super) fn overridden<'p>(plan: &'p LoadPlan, properties: &Properties) -> Cow<'p, LoadPlan> {
    let given = |name: &str| properties.get(name).filter(|text| !text.trim().is_empty());
    let users = given("threads_schedule").map(|text| user_rows(&calls(text)));
    let rates = given("load_profile").map(|text| rate_rows(&calls(text)));
    if users.is_none() && rates.is_none() {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for group in &mut plan.groups {
        if let (Some(rows), Starts::Rows(own)) = (&users, &mut group.starts) {
            own.clone_from(rows);
        }
        if let Some(rows) = &rates {
            replace_rates(&mut group.nodes, rows);
        }
    }
    Cow::Owned(plan)
}

/// Throughput Shaping Timers say in properties where they are, for `__tstFeedback`.
pub(super) fn add_properties_of_timers(plan: &LoadPlan, properties: &mut Settable) {
    let mut timers = Vec::new();
    for group in &plan.groups {
        gather_timers(&group.nodes, &mut timers);
    }
    for timer in timers {
        if let TimerKind::Shaping { name, .. } = &timer.kind {
            match name.text.split_once("${") {
                Some((start, _)) => properties.add_starting_with(start),
                None => properties.add_starting_with(format!("{}_", name.text)),
            }
        }
    }
}

fn replace_rates(nodes: &mut [Node], given: &[ShapingRow]) {
    for node in nodes {
        match node {
            Node::Controller(controller) => replace_rates(&mut controller.children, given),
            Node::Sampler(sampler) => {
                for timer in &mut sampler.timers {
                    if let TimerKind::Shaping { rows, .. } = &mut timer.kind {
                        *rows = given.to_vec();
                    }
                }
            }
        }
    }
}

/// `spawn(1,2s) spawn(3,4m)` as names and arguments.
fn calls(text: &str) -> Vec<(String, Vec<String>)> {
    let calls = text.split(')').filter_map(|call| {
        let (name, arguments) = call.split_once('(')?;
        let arguments = arguments.split(',').map(|a| a.trim().to_owned());
        Some((name.trim().to_ascii_lowercase(), arguments.collect()))
    });
    calls.collect()
}

fn user_rows(calls: &[(String, Vec<String>)]) -> Vec<UserRow> {
    let rows = calls.iter().filter_map(|(name, arguments)| {
        let [users, delay, startup, hold, shutdown] = arguments.as_slice() else {
            return None;
        };
        (name == "spawn").then(|| UserRow {
            users: Template::literal(users.as_str()),
            delay_s: seconds(delay),
            startup_s: seconds(startup),
            hold_s: seconds(hold),
            shutdown_s: seconds(shutdown),
        })
    });
    rows.collect()
}

fn rate_rows(calls: &[(String, Vec<String>)]) -> Vec<ShapingRow> {
    let row = |from: &str, to: &str, length: &str| ShapingRow {
        from_per_s: Template::literal(from),
        to_per_s: Template::literal(to),
        seconds: seconds(length),
    };
    let mut rows = Vec::new();
    for (name, arguments) in calls {
        match (name.as_str(), arguments.as_slice()) {
            ("const", [rate, length]) => rows.push(row(rate, rate, length)),
            ("line", [from, to, length]) => rows.push(row(from, to, length)),
            ("step", [from, to, step, length]) => {
                let number = |text: &str| text.parse::<i64>().unwrap_or(0);
                let (from, to, step) = (number(from), number(to), number(step).max(1));
                // Downwards the plugin leaves out the last step.
                let steps = if from <= to {
                    (to - from) / step + 1
                } else {
                    (from - to + step - 1) / step
                };
                let sign = if from <= to { 1 } else { -1 };
                for at in 0..steps.min(STEPS_MAX.cast_signed()) {
                    let rate = (from + sign * step * at).to_string();
                    rows.push(row(&rate, &rate, length));
                }
            }
            _ => {}
        }
    }
    rows
}

/// `1d11h23m6s` in seconds.
fn seconds(text: &str) -> Template {
    let (mut sum, mut number) = (0_i64, 0_i64);
    for c in text.chars() {
        let factor = match c.to_ascii_lowercase() {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => {
                if let Some(digit) = c.to_digit(10) {
                    number = number.saturating_mul(10).saturating_add(i64::from(digit));
                }
                continue;
            }
        };
        sum = sum.saturating_add(number.saturating_mul(factor));
        number = 0;
    }
    Template::literal(sum.saturating_add(number).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(text: &str) -> Vec<(String, String, String)> {
        rate_rows(&calls(text))
            .into_iter()
            .map(|row| (row.from_per_s.text, row.to_per_s.text, row.seconds.text))
            .collect()
    }

    /// The examples of the plugins' documentation.
    #[test]
    fn schedules_in_properties() {
        let row = |from: &str, to: &str, s: &str| (from.to_owned(), to.to_owned(), s.to_owned());
        assert_eq!(
            rates("const(10,10s) line(10,100,1m) step(5,25,10,1h)"),
            [
                row("10", "10", "10"),
                row("10", "100", "60"),
                row("5", "5", "3600"),
                row("15", "15", "3600"),
                row("25", "25", "3600"),
            ]
        );
        assert_eq!(
            rates("step(25,5,10,1s)"),
            [row("25", "25", "1"), row("15", "15", "1")]
        );
        let users = user_rows(&calls(
            "spawn(15,1s,1s,1s,1s) SPAWN(40,1d11h23m6s,3,1S,2s) jump(1)",
        ));
        assert_eq!(users.len(), 2);
        assert_eq!(users[1].users.text, "40");
        assert_eq!(users[1].delay_s.text, "127386");
        assert_eq!(users[1].startup_s.text, "3");
    }

    #[test]
    fn ramps_of_arrivals() {
        let secs = Duration::from_secs;
        let totals =
            |pieces: Vec<RatePiece>| -> Vec<f64> { pieces.iter().map(RatePiece::total).collect() };
        assert_eq!(
            totals(ramp(2.0, secs(4), 4, secs(10))),
            [0.5, 1.0, 1.5, 2.0, 20.0]
        );
        assert_eq!(totals(ramp(2.0, secs(4), 0, secs(10))), [4.0, 20.0]);
        assert_eq!(totals(ramp(2.0, secs(0), 0, secs(10))), [20.0]);
    }
}
