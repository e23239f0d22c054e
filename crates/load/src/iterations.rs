//! What advances when an iteration starts: lines of files, counters, random numbers.

use rand_xoshiro::rand_core::Rng as _;
use weir_charset::Charset;
use weir_plan::{Counter, CsvDataSet, ElementId, IterationElement, RandomVariable, UserParameters};
use weir_script::{Scope, Text};

use crate::across_users::Shared;
use crate::data_file::{Cursor, Format};
use crate::java_random::JavaRandom;
use crate::left_by_scripts::Left;

/// What one user remembers of these elements.
#[derive(Debug)]
pub(crate) struct Data {
    group: usize,
    memories: Vec<(Place, Memory)>,
    /// Iterations of the group that have started.
    group_iterations: u64,
    /// What scripts left; boxed, because most users have none.
    pub(crate) scripts: Option<Box<Left>>,
    /// The ids of sessions that URL Re-writing Modifiers found last.
    pub(crate) session_ids: Vec<(ElementId, String)>,
}

/// Which element: its controller, and which of the controller's.
type Place = (u32, u32);

#[derive(Debug)]
enum Memory {
    Counter {
        next: i64,
        group_iteration: u64,
    },
    Random(JavaRandom),
    /// What JMeter evaluates once: whose place in the file counts, and the variables if they are
    /// named.
    Csv {
        key: String,
        names: String,
    },
}

impl Data {
    /// Of a user that has not begun.
    pub(crate) fn new(group: usize) -> Self {
        Self {
            group,
            memories: Vec::new(),
            group_iterations: 0,
            scripts: None,
            session_ids: Vec::new(),
        }
    }

    /// An iteration of the group starts.
    pub(crate) fn group_iteration_starts(&mut self) {
        self.group_iterations += 1;
    }

    /// Of a user that goes on in an iteration of its group that another began.
    pub(crate) fn goes_on_in(&mut self, iteration: u64) {
        self.group_iterations = iteration.saturating_sub(1);
    }

    /// How many iterations of the group have started.
    pub(crate) fn group_iterations(&self) -> u64 {
        self.group_iterations
    }

    /// Advances an element; false when the user ends because a file has.
    pub(crate) fn advance(
        &mut self,
        place: Place,
        element: &IterationElement<Text>,
        scope: &mut Scope,
        shared: &Shared,
    ) -> bool {
        match element {
            IterationElement::CsvDataSet(csv) => {
                return self.read_line(place, csv, scope, shared);
            }
            IterationElement::Counter(counter) => self.count(place, counter, scope, shared),
            IterationElement::RandomVariable(random) => {
                self.draw(place, random, scope, shared);
            }
            IterationElement::UserParameters(parameters) => set_parameters(parameters, scope),
        }
        true
    }

    fn read_line(
        &mut self,
        place: Place,
        csv: &CsvDataSet<Text>,
        scope: &mut Scope,
        shared: &Shared,
    ) -> bool {
        let name = csv.file.rendered(scope);
        let share = csv.share.rendered(scope);
        let group = self.group;
        let key = match share.as_str() {
            "" | "shareMode.all" => name.clone(),
            "shareMode.group" => format!("{name}@group {group}"),
            "shareMode.thread" => format!("{name}@user {group} {}", scope.user),
            other => format!("{name}@{other}"),
        };
        let names = csv.names.rendered(scope);
        let Memory::Csv { key, names } = self.memory(place, || Memory::Csv { key, names }) else {
            return true;
        };
        let (key, names) = (key.clone(), names.clone());
        let delimiter = match csv.delimiter.rendered(scope).as_str() {
            "" => ",".to_owned(),
            "\\t" => "\t".to_owned(),
            other => other.to_owned(),
        };
        let encoding = csv.encoding.rendered(scope);
        let charset = match encoding.trim() {
            "" => Some(Charset::UTF_8),
            _ => Charset::named(&encoding).ok(),
        };
        let reach = scope.variables.globals().reach();
        let format = Format {
            path: reach.find(&name),
            reach: reach.clone(),
            charset,
            delimiter: delimiter.clone(),
            quoted: csv.quoted,
            has_header: names.is_empty() || csv.ignore_first_line,
            recycle: is_true(&csv.recycle, scope),
        };
        let taken = shared.file(
            &key,
            || Cursor::open(format),
            |cursor| match cursor.problem() {
                None => Ok((cursor.header.clone(), cursor.next())),
                Some(problem) => Err(problem.to_owned()),
            },
        );
        // JMeter's thread ends in an exception at a file that it cannot read.
        let (header, line) = match taken {
            Ok(taken) => taken,
            Err(problem) => {
                let says = format!(
                    "Test failed! java.lang.IllegalArgumentException: File {name} must exist and be readable"
                );
                scope.variables.globals().log("ERROR", &says);
                shared.could_not_read(&name, &problem);
                return false;
            }
        };
        let names: Vec<String> = if names.is_empty() {
            header
        } else {
            // Names that are left out are no columns (JMeter).
            let names = names.split(',').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        match line {
            Some(line) if !line.is_empty() => {
                for (name, value) in names.iter().zip(line) {
                    scope.variables.set(name, &value);
                }
            }
            _ if is_true(&csv.stop_user, scope) => return false,
            _ => {
                for name in &names {
                    scope.variables.set(name, "<EOF>");
                }
            }
        }
        true
    }

    fn count(&mut self, place: Place, counter: &Counter<Text>, scope: &mut Scope, shared: &Shared) {
        let mut number = |text: &Text| text.rendered(scope).trim().parse::<i64>().ok();
        let start = number(&counter.start).unwrap_or(0);
        let end = number(&counter.end).unwrap_or(i64::MAX);
        let step = number(&counter.step).unwrap_or(0);
        let value = if counter.per_user {
            let group_iteration = self.group_iterations;
            let memory = self.memory(place, || Memory::Counter {
                next: start,
                group_iteration,
            });
            let Memory::Counter {
                next,
                group_iteration: seen,
            } = memory
            else {
                return;
            };
            if counter.reset_on_group_iteration && *seen != group_iteration {
                *next = start;
            }
            *seen = group_iteration;
            let value = *next;
            *next = value.saturating_add(step);
            if *next > end {
                *next = start;
            }
            value
        } else {
            shared.counter(counter.id, start, |next| {
                if *next > end {
                    *next = start;
                }
                let value = *next;
                *next = value.saturating_add(step);
                value
            })
        };
        let format = counter.format.rendered(scope);
        let name = counter.variable.rendered(scope);
        scope.variables.set(&name, &formatted(&format, value));
    }

    fn draw(
        &mut self,
        place: Place,
        random: &RandomVariable<Text>,
        scope: &mut Scope,
        shared: &Shared,
    ) {
        let mut number = |text: &Text| text.rendered(scope).trim().parse::<i64>().ok();
        let least = number(&random.minimum).unwrap_or(0);
        let most = number(&random.maximum).unwrap_or(0);
        let seed = number(&random.seed);
        let drawn_seed = scope.random.next_u64().cast_signed();
        let new = || JavaRandom::new(seed.unwrap_or(drawn_seed));
        let range = most.saturating_sub(least).saturating_add(1);
        let Ok(range) = u32::try_from(range.min(i64::from(i32::MAX))) else {
            return;
        };
        if range == 0 {
            return;
        }
        let drawn = if is_true(&random.per_user, scope) {
            match self.memory(place, || Memory::Random(new())) {
                Memory::Random(generator) => generator.below(range),
                _ => return,
            }
        } else {
            shared.random(random.id, new, |generator| generator.below(range))
        };
        let format = random.format.rendered(scope);
        let name = random.variable.rendered(scope);
        let value = formatted(&format, least.saturating_add(i64::from(drawn)));
        scope.variables.set(&name, &value);
    }

    fn memory(&mut self, place: Place, new: impl FnOnce() -> Memory) -> &mut Memory {
        let known = self.memories.iter().position(|(known, _)| *known == place);
        let at = known.unwrap_or_else(|| {
            self.memories.push((place, new()));
            self.memories.len() - 1
        });
        &mut self.memories[at].1
    }
}

/// User n takes row (n − 1) mod rows.
pub(crate) fn set_parameters(parameters: &UserParameters<Text>, scope: &mut Scope) {
    if parameters.rows.is_empty() {
        return;
    }
    let row = scope.user.saturating_sub(1) as usize % parameters.rows.len();
    for (name, value) in parameters.names.iter().zip(&parameters.rows[row]) {
        let name = name.rendered(scope);
        let value = value.rendered(scope);
        scope.variables.set(&name, &value);
    }
}

fn is_true(text: &Text, scope: &mut Scope) -> bool {
    text.rendered(scope).eq_ignore_ascii_case("true")
}

fn formatted(pattern: &str, value: i64) -> String {
    if pattern.is_empty() {
        value.to_string()
    } else {
        weir_script::java_decimal_format(pattern, value)
    }
}
