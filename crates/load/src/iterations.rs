//! What advances when an iteration starts: lines of files, counters, random numbers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand_xoshiro::rand_core::Rng as _;
use weir_plan::{Counter, CsvDataSet, IterationElement, RandomVariable, UserParameters};
use weir_script::{Scope, Text};

use crate::across_users::Shared;
use crate::data_file::{Cursor, Format};
use crate::scripts::Left;

/// What one user remembers of these elements.
#[derive(Debug)]
pub(crate) struct Data {
    directory: Arc<Path>,
    group: usize,
    memories: Vec<(Place, Memory)>,
    /// Iterations of the group that have started.
    group_iterations: u64,
    /// What scripts left; boxed, because most users have none.
    pub(crate) scripts: Option<Box<Left>>,
}

/// Which element: its controller, and which of the controller's.
type Place = (u32, u32);

#[derive(Debug)]
enum Memory {
    Counter { next: i64, group_iteration: u64 },
    Random(JavaRandom),
}

impl Data {
    /// Of a user that has not begun; files are relative to the directory.
    pub(crate) fn new(directory: Arc<Path>, group: usize) -> Self {
        Self {
            directory,
            group,
            memories: Vec::new(),
            group_iterations: 0,
            scripts: None,
        }
    }

    /// An iteration of the group starts.
    pub(crate) fn group_iteration_starts(&mut self) {
        self.group_iterations += 1;
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
            IterationElement::CsvDataSet(csv) => return self.read_line(csv, scope, shared),
            IterationElement::Counter(counter) => self.count(place, counter, scope, shared),
            IterationElement::RandomVariable(random) => self.draw(place, random, scope),
            IterationElement::UserParameters(parameters) => set_parameters(parameters, scope),
        }
        true
    }

    fn read_line(&self, csv: &CsvDataSet<Text>, scope: &mut Scope, shared: &Shared) -> bool {
        let name = csv.file.rendered(scope);
        let share = csv.share.rendered(scope);
        let key = match share.as_str() {
            "" | "shareMode.all" => name.clone(),
            "shareMode.group" => format!("{name}@group {}", self.group),
            "shareMode.thread" => format!("{name}@user {} {}", self.group, scope.user),
            other => format!("{name}@{other}"),
        };
        let delimiter = match csv.delimiter.rendered(scope).as_str() {
            "" => ",".to_owned(),
            "\\t" => "\t".to_owned(),
            other => other.to_owned(),
        };
        let names = csv.names.rendered(scope);
        let encoding = csv.encoding.rendered(scope).to_ascii_lowercase();
        let format = Format {
            path: self.path(&name),
            is_latin1: matches!(encoding.as_str(), "iso-8859-1" | "latin1" | "us-ascii"),
            delimiter: delimiter.clone(),
            quoted: csv.quoted,
            has_header: names.is_empty() || csv.ignore_first_line,
            recycle: is_true(&csv.recycle, scope),
        };
        let (header, line) = shared.file(
            &key,
            || Cursor::open(format),
            |cursor| (cursor.header.clone(), cursor.next()),
        );
        let names: Vec<String> = if names.is_empty() {
            header
        } else {
            names
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect()
        };
        match line {
            Some(line) => {
                for (name, value) in names.iter().zip(line) {
                    scope.variables.set(name, &value);
                }
            }
            None if is_true(&csv.stop_user, scope) => return false,
            None => {
                for name in &names {
                    scope.variables.set(name, "<EOF>");
                }
            }
        }
        true
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
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

    fn draw(&mut self, place: Place, random: &RandomVariable<Text>, scope: &mut Scope) {
        let mut number = |text: &Text| text.rendered(scope).trim().parse::<i64>().ok();
        let least = number(&random.minimum).unwrap_or(0);
        let most = number(&random.maximum).unwrap_or(0);
        let seed = number(&random.seed);
        let drawn_seed = scope.random.next_u64().cast_signed();
        let memory = self.memory(place, || {
            Memory::Random(JavaRandom::new(seed.unwrap_or(drawn_seed)))
        });
        let Memory::Random(generator) = memory else {
            return;
        };
        let range = most.saturating_sub(least).saturating_add(1);
        if range <= 0 {
            return;
        }
        let value = least + (generator.next_double() * range as f64) as i64;
        let format = random.format.rendered(scope);
        let name = random.variable.rendered(scope);
        scope.variables.set(&name, &formatted(&format, value));
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

/// `java.util.Random`: a plan that gives a seed gets the numbers that JMeter draws. The generator is
/// the 48-bit linear congruential one of Knuth, The Art of Computer Programming, volume 2, 3.2.1,
/// with the constants of Java's documentation.
#[derive(Debug)]
struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        self.0 >> (48 - count)
    }

    fn next_double(&mut self) -> f64 {
        let high = self.bits(26) << 27;
        (high + self.bits(27)) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Java 17: `new Random(42).nextDouble()`, twice.
    #[test]
    fn seeds_give_javas_numbers() {
        let mut random = JavaRandom::new(42);
        assert!((random.next_double() - 0.727_563_680_032_868_1).abs() < 1e-15);
        assert!((random.next_double() - 0.683_223_471_759_845_4).abs() < 1e-15);
    }
}
