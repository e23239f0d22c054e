//! Following a path as Jayway does.

use std::borrow::Cow;
use std::cell::Cell;

use indexmap::IndexMap;

use super::path::{Function, Step};
use super::{Json, JsonPath, JsonPathError, Number};

/// How many values one path may visit, its filters included: enough for any body that is not made
/// to hurt.
const VISITS: usize = 10_000_000;

/// The document that a path is followed in, and how many visits are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'j> {
    pub(super) root: &'j Json,
    pub(super) visits: &'j Cell<usize>,
}

/// What a path led to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found<'j> {
    /// The path is definite.
    One(Value<'j>),
    /// The path may lead to any number of values.
    Many(Vec<Value<'j>>),
}

/// A value that was found: in the document, or made by the path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value<'j>(Cow<'j, Json>);

impl Value<'_> {
    pub(crate) fn json(&self) -> &Json {
        &self.0
    }

    pub(crate) fn into_json(self) -> Json {
        self.0.into_owned()
    }
}

impl<'j> Found<'j> {
    /// All that was found.
    pub(crate) fn all(self) -> Vec<Value<'j>> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

/// The values at a path of a document.
pub(super) fn read<'j>(path: &JsonPath, root: &'j Json) -> Result<Found<'j>, JsonPathError> {
    let visits = Cell::new(VISITS);
    evaluate(path, root, root, &visits)
}

pub(super) fn evaluate<'j>(
    path: &JsonPath,
    current: &'j Json,
    root: &'j Json,
    visits: &Cell<usize>,
) -> Result<Found<'j>, JsonPathError> {
    let mut walk = Walk {
        path,
        root,
        found: Vec::new(),
        way: Vec::new(),
        visits,
    };
    let start = if path.from_root { root } else { current };
    if let [Step::Anywhere, steps @ .., Step::Function(function)] = path.steps.as_slice() {
        return walk.over_all(start, steps, *function);
    }
    walk.follow(0, start, true)?;
    if !path.is_definite() {
        return Ok(Found::Many(walk.found));
    }
    let last = walk.found.pop();
    last.map(Found::One)
        .ok_or_else(|| JsonPathError::NotFound(format!("No results for path: {path}")))
}

struct Walk<'p, 'j, 'v> {
    path: &'p JsonPath,
    root: &'j Json,
    found: Vec<Value<'j>>,
    /// How the current value was reached, for messages.
    way: Vec<Leg<'p, 'j>>,
    visits: &'v Cell<usize>,
}

/// A step that was taken.
enum Leg<'p, 'j> {
    Name(&'p str),
    Member(&'j str),
    Place(i64),
}

/// A count as Jayway holds it.
fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

type Done = Result<(), JsonPathError>;

impl<'p, 'j> Walk<'p, 'j, '_> {
    /// A function behind `..` works on all that is found together.
    fn over_all(
        mut self,
        start: &'j Json,
        steps: &'p [Step],
        function: Function,
    ) -> Result<Found<'j>, JsonPathError> {
        let mut steps = steps.to_vec();
        steps.insert(0, Step::Anywhere);
        // The length is that of what the found values hold.
        if function == Function::Length {
            steps.push(Step::Wildcard);
        }
        let path = JsonPath {
            steps,
            from_root: self.path.from_root,
        };
        let found = evaluate(&path, start, self.root, self.visits)?.all();
        let found = Json::Array(found.into_iter().map(Value::into_json).collect());
        self.found.clear();
        let value = function.of(&found)?;
        Ok(Found::One(Value(Cow::Owned(value))))
    }

    /// Takes step `n` at a value; `definite`: so far only one value could be reached.
    fn follow(&mut self, n: usize, value: &'j Json, definite: bool) -> Done {
        let left = self.visits.get().checked_sub(1).ok_or_else(|| {
            JsonPathError::Failed(format!("path {} visits too many values", self.path))
        })?;
        self.visits.set(left);
        let path = self.path;
        let Some(step) = path.steps.get(n) else {
            self.found.push(Value(Cow::Borrowed(value)));
            return Ok(());
        };
        let is_last = n + 1 == path.steps.len();
        match step {
            Step::Names(names) => self.names(n, names, value, definite),
            Step::Places(places) => {
                let Some(items) = self.items(step, value, definite)? else {
                    return Ok(());
                };
                for place in places {
                    self.place(n, items, *place, definite && places.len() == 1)?;
                }
                Ok(())
            }
            Step::Slice(from, to) => {
                let Some(items) = self.items(step, value, definite)? else {
                    return Ok(());
                };
                self.slice(n, items, *from, *to)
            }
            Step::Wildcard => self.wildcard(n, value),
            Step::Anywhere => self.anywhere(n, value),
            Step::Filter(filter) => match value {
                Json::Object(_) => {
                    if filter.accepts(value, self.document())? {
                        self.follow(n + 1, value, false)?;
                    }
                    Ok(())
                }
                Json::Array(items) => {
                    for (place, item) in items.iter().enumerate() {
                        if filter.accepts(item, self.document())? {
                            self.place(n, items, signed(place), false)?;
                        }
                    }
                    Ok(())
                }
                _ if definite => Err(JsonPathError::Failed(format!(
                    "Filter: {step} can not be applied to primitives. Current context is: {}",
                    value.to_java()
                ))),
                _ => Ok(()),
            },
            Step::Function(function) => {
                if !is_last {
                    return Err(JsonPathError::Failed(
                        "a step behind a function is not supported".into(),
                    ));
                }
                let made = function.of(value)?;
                self.found.push(Value(Cow::Owned(made)));
                Ok(())
            }
        }
    }

    fn names(&mut self, n: usize, names: &'p [String], value: &'j Json, definite: bool) -> Done {
        let Json::Object(members) = value else {
            if !definite {
                return Ok(());
            }
            return Err(JsonPathError::NotFound(format!(
                "Expected to find an object with property {} in path {} but found '{}'. This is \
                 not a json object according to the JsonProvider: \
                 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                self.path.steps[n],
                self.way_shown(),
                class(value)
            )));
        };
        let is_last = n + 1 == self.path.steps.len();
        if is_last && names.len() > 1 {
            let mut some = IndexMap::new();
            for name in names {
                if let Some(value) = members.get(name) {
                    some.insert(name.clone(), value.clone());
                }
            }
            self.found.push(Value(Cow::Owned(Json::Object(some))));
            return Ok(());
        }
        let definite = definite && names.len() == 1;
        for name in names {
            self.way.push(Leg::Name(name));
            match members.get(name) {
                Some(value) => self.follow(n + 1, value, definite)?,
                None if is_last || !definite => {}
                None => {
                    return Err(JsonPathError::NotFound(format!(
                        "Missing property in path {}",
                        self.way_shown()
                    )));
                }
            }
            self.way.pop();
        }
        Ok(())
    }

    /// The items of an array; none where something else may stand.
    fn items(
        &self,
        step: &Step,
        value: &'j Json,
        definite: bool,
    ) -> Result<Option<&'j [Json]>, JsonPathError> {
        match value {
            Json::Array(items) => Ok(Some(items)),
            _ if !definite => Ok(None),
            Json::Null => Err(JsonPathError::NotFound(format!(
                "The path {} is null",
                self.way_shown()
            ))),
            _ => Err(JsonPathError::NotFound(format!(
                "Filter: {step} can only be applied to arrays. Current context is: {}",
                value.to_java()
            ))),
        }
    }

    /// The item at a place, counted from the end when negative; nothing when there is none.
    fn place(&mut self, n: usize, items: &'j [Json], place: i64, definite: bool) -> Done {
        let length = signed(items.len());
        let from_start = if place < 0 { length + place } else { place };
        let item = usize::try_from(from_start)
            .ok()
            .and_then(|at| items.get(at));
        let Some(item) = item else { return Ok(()) };
        self.way.push(Leg::Place(from_start));
        self.follow(n + 1, item, definite)?;
        self.way.pop();
        Ok(())
    }

    fn slice(&mut self, n: usize, items: &'j [Json], from: Option<i64>, to: Option<i64>) -> Done {
        let length = signed(items.len());
        let (from, to) = match (from, to) {
            // Only an open end counts from behind; with both ends the places themselves do.
            (Some(from), None) if from < 0 => ((length + from).max(0), length),
            (Some(from), None) => (from, length),
            (None, Some(to)) if to < 0 => (0, length + to),
            (from, to) => (from.unwrap_or(0), to.unwrap_or(length).min(length)),
        };
        let (from, to) = (from.max(-length), to.min(length));
        for place in from..to {
            self.place(n, items, place, false)?;
        }
        Ok(())
    }

    fn wildcard(&mut self, n: usize, value: &'j Json) -> Done {
        match value {
            Json::Object(members) => {
                for (name, member) in members {
                    self.way.push(Leg::Member(name));
                    self.tolerant(n + 1, member)?;
                    self.way.pop();
                }
            }
            Json::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.way.push(Leg::Place(signed(place)));
                    self.tolerant(n + 1, item)?;
                    self.way.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on below a wildcard, where what is missing is no error.
    fn tolerant(&mut self, n: usize, value: &'j Json) -> Done {
        match self.follow(n, value, false) {
            Err(JsonPathError::NotFound(_)) => Ok(()),
            done => done,
        }
    }

    /// Takes the next step here, then in everything below.
    fn anywhere(&mut self, n: usize, value: &'j Json) -> Done {
        if self.is_met(n + 1, value)? {
            self.follow(n + 1, value, false)?;
        }
        match value {
            Json::Object(members) => {
                for member in members.values() {
                    self.below(n, member)?;
                }
            }
            Json::Array(items) => {
                for item in items {
                    self.below(n, item)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn below(&mut self, n: usize, value: &'j Json) -> Done {
        match value {
            Json::Object(_) | Json::Array(_) => self.anywhere(n, value),
            _ => Ok(()),
        }
    }

    /// Whether a step behind `..` is taken at this value.
    fn is_met(&self, n: usize, value: &'j Json) -> Result<bool, JsonPathError> {
        Ok(match (self.path.steps.get(n), value) {
            (Some(Step::Names(names)), Json::Object(members)) => {
                names.len() > 1 && n + 1 < self.path.steps.len()
                    || names.iter().all(|name| members.contains_key(name))
            }
            (Some(Step::Places(_) | Step::Slice(..)), Json::Array(_))
            | (Some(Step::Wildcard), _) => true,
            // An array is not filtered here: its items are, one by one, when they are reached.
            (Some(Step::Filter(filter)), Json::Object(_)) => {
                filter.accepts(value, self.document())?
            }
            _ => false,
        })
    }

    fn document(&self) -> Document<'_> {
        Document {
            root: self.root,
            visits: self.visits,
        }
    }

    fn way_shown(&self) -> String {
        let start = if self.path.from_root { "$" } else { "@" };
        let legs = self.way.iter().map(|leg| match leg {
            Leg::Name(name) | Leg::Member(name) => format!("['{name}']"),
            Leg::Place(place) => format!("[{place}]"),
        });
        legs.fold(start.to_owned(), |way, leg| way + &leg)
    }
}

impl Function {
    fn of(self, value: &Json) -> Result<Json, JsonPathError> {
        let items = match value {
            Json::Array(items) => items.as_slice(),
            _ => &[],
        };
        let whole = |size: usize| Json::Number(Number::Int(signed(size)));
        let item = |place: i64| {
            let place = if place < 0 {
                signed(items.len()) + place
            } else {
                place
            };
            usize::try_from(place)
                .ok()
                .and_then(|at| items.get(at))
                .cloned()
        };
        let missing = || {
            JsonPathError::Failed(
                "Aggregation function attempted to calculate value using empty array".into(),
            )
        };
        Ok(match self {
            Self::Length => match value {
                Json::Array(items) => whole(items.len()),
                Json::Object(members) => whole(members.len()),
                _ => Json::Null,
            },
            Self::Keys => match value {
                Json::Object(members) => {
                    Json::Array(members.keys().cloned().map(Json::Text).collect())
                }
                _ => Json::Null,
            },
            Self::First => item(0).ok_or_else(missing)?,
            Self::Last => item(-1).ok_or_else(missing)?,
            Self::Index(place) => item(place).ok_or_else(missing)?,
            Self::Min | Self::Max | Self::Avg | Self::Sum | Self::StandardDeviation => {
                let numbers: Vec<f64> = items
                    .iter()
                    .filter_map(|item| match item {
                        Json::Number(number) => Some(number.as_f64()),
                        _ => None,
                    })
                    .collect();
                if numbers.is_empty() {
                    return Err(missing());
                }
                Json::Number(Number::Double(self.of_numbers(&numbers)))
            }
        })
    }

    fn of_numbers(self, numbers: &[f64]) -> f64 {
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        match self {
            Self::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Avg => sum / count,
            Self::StandardDeviation => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                (squares / count - sum * sum / count / count).sqrt()
            }
            _ => sum,
        }
    }
}

/// Java's class of a value, as messages name it.
fn class(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "java.lang.Boolean",
        Json::Number(number) => number.class(),
        Json::Text(_) => "java.lang.String",
        Json::Array(_) => "net.minidev.json.JSONArray",
        Json::Object(_) => "java.util.LinkedHashMap",
    }
}
