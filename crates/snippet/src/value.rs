//! Values of scripts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::bury::bury;
use crate::calendar::Calendar;
use crate::class::Class;
use crate::date::Date;
use crate::key_order::KeyOrder;
use crate::number::{Decimal, java_double, java_float};
use crate::pattern::{Matcher, Pattern};
use crate::temporal::{Period, Temporal};
use crate::work;

/// A value of a script.
///
/// Lists, maps and objects are shared, as references of Java are.
#[derive(Debug, Clone)]
pub enum Value {
    /// No object.
    Null,
    /// A name that nothing was assigned to, in `BeanShell`.
    Void,
    /// `boolean`.
    Bool(bool),
    /// `int`, and the smaller kinds.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `double`.
    Double(f64),
    /// `float`: arithmetic makes a `double` of it.
    Float(f32),
    /// `BigDecimal` and `BigInteger`.
    #[doc(hidden)]
    Decimal(DecimalValue),
    /// `char`.
    Char(char),
    /// A text. Two texts are the same object when they share their memory.
    Text(Arc<str>),
    /// Anything else.
    Object(Object),
}

/// A decimal number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecimalValue(pub(crate) Decimal);

/// An object that is no text and no number.
#[derive(Debug, Clone)]
pub struct Object(pub(crate) Thing);

/// What an object is.
#[derive(Debug, Clone)]
pub(crate) enum Thing {
    List(Rc<List>),
    Map(Rc<Map>),
    Class(&'static Class),
    /// A class that is known by its name only, as those of exceptions are.
    ClassName(Arc<str>),
    Closure(Closure),
    Entry(Rc<Entry>),
    Thrown(Rc<Throwable>),
    Builder(Rc<RefCell<String>>),
    Random(Rc<Cell<u64>>),
    Date(Rc<Date>),
    Calendar(Rc<RefCell<Calendar>>),
    /// A moment of `java.time`, in milliseconds since 1970.
    Instant(i64),
    Temporal(Rc<Temporal>),
    ZoneId(Rc<crate::temporal::Zone>),
    Duration(Rc<SignedDuration>),
    Period(Rc<Period>),
    Formatter(Rc<crate::library::Formatter>),
    /// What a `JsonBuilder` holds.
    Json(Rc<RefCell<Value>>),
    /// A constant of `java.time`, by its place among those of its class.
    Named(&'static crate::library::Names, u8),
    /// A pattern, and the name of a time zone.
    DateFormat(Rc<(Arc<str>, Zone)>),
    /// A time zone by its name.
    Zone(Arc<str>),
    Uuid(Arc<str>),
    Pattern(Rc<Pattern>),
    Matcher(Rc<Matcher>),
    Iterator(Rc<Items>),
    Counter(Rc<Cell<i64>>),
    Digest(Rc<(Arc<str>, RefCell<Vec<u8>>)>),
    File(Arc<str>),
    Writer(Rc<Writer>),
    Reader(Rc<RefCell<VecDeque<String>>>),
    Input(Rc<Input>),
    Output(Rc<Output>),
    /// An argument of a request, by its place.
    Argument(usize),
    Cookie(Rc<RefCell<crate::host::CookieView>>),
    Url(Rc<crate::url::Url>),
    /// What an assertion has said.
    Judgement(Rc<crate::host::Judgement>),
    /// The sample before or around the script.
    Previous,
    /// The sample that a sampler makes.
    Own,
    /// A part of one of these two: the places that lead to it, of the sample's part first.
    Part {
        of_own: bool,
        places: Rc<[usize]>,
    },
    /// What exists once for a script and has no state of its own.
    Single(&'static Class),
}

/// The name of a time zone, if one was set.
pub(crate) type Zone = RefCell<Option<Arc<str>>>;

/// A list or an array.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: RefCell<Vec<Value>>,
    /// The class of the items; lists have none.
    pub(crate) array_of: Option<Arc<str>>,
    /// Sets hold each item once, in an order of their own.
    pub(crate) set: Option<KeyOrder>,
    /// What a range was written with.
    pub(crate) range: Option<Range>,
}

/// The ends of a range of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) inclusive: bool,
}

impl Range {
    /// The places in something of this length, the first and the one after the last, and whether
    /// they are gone over from the end: negative numbers count from the end.
    pub(crate) fn places(self, length: usize) -> (i64, i64, bool) {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let place = |at: i64| if at < 0 { at + length } else { at };
        let (from, to) = (place(self.from), place(self.to));
        if from > to {
            (if self.inclusive { to } else { to + 1 }, from + 1, true)
        } else {
            (from, if self.inclusive { to + 1 } else { to }, false)
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        bury(self.items.take());
    }
}

/// The entries of a map in its order.
pub(crate) type Entries = Vec<(Value, Value)>;

/// A map, and what decides over its order.
#[derive(Debug)]
pub(crate) struct Map(pub(crate) RefCell<Entries>, pub(crate) KeyOrder);

impl Deref for Map {
    type Target = RefCell<Entries>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        bury(self.0.take().into_iter().flat_map(<[Value; 2]>::from));
    }
}

/// An entry of a map: key and value.
#[derive(Debug)]
pub(crate) struct Entry(pub(crate) Value, pub(crate) Value);

impl Drop for Entry {
    fn drop(&mut self) {
        bury([&mut self.0, &mut self.1].map(|of| std::mem::replace(of, Value::Null)));
    }
}

/// What an iterator has not given yet.
#[derive(Debug)]
pub(crate) struct Items(pub(crate) RefCell<VecDeque<Value>>);

impl Deref for Items {
    type Target = RefCell<VecDeque<Value>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        bury(self.0.take());
    }
}

/// A closure: its code, and where the names that it sees are, in one run.
#[derive(Debug, Clone)]
pub(crate) struct Closure {
    pub(crate) code: usize,
    pub(crate) scope: usize,
    pub(crate) run: Rc<()>,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throwable {
    /// Its class with its package.
    pub class: Arc<str>,
    /// What it says.
    pub message: Option<Arc<str>>,
    /// What `BeanShell` says of it where nobody catches it: not always anything.
    pub told: Option<Arc<str>>,
}

impl Throwable {
    pub(crate) fn new(class: &str, message: impl AsRef<str>) -> Self {
        Self {
            class: class.into(),
            message: Some(message.as_ref().into()),
            told: None,
        }
    }
}

impl Throwable {
    /// Whether it is a `java.lang.Error`, which what catches exceptions lets through.
    pub fn is_error(&self) -> bool {
        crate::library::is_exception_of(&self.class, "java.lang.Error")
    }
}

/// As `Throwable.toString` writes it.
impl fmt::Display for Throwable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

/// Bytes that are read one after the other.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// How many of them were read.
    pub(crate) at: Cell<usize>,
}

/// Bytes that are written one after the other.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) bytes: RefCell<Vec<u8>>,
    /// The file that they go to at once.
    pub(crate) path: Option<Arc<str>>,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) path: Arc<str>,
    /// What is not in the file yet.
    pub(crate) waiting: RefCell<String>,
}

/// Deepest nesting of lists that is written as text.
const TEXT_DEPTH_MAX: u32 = 30;
/// Longest text of a list: one that has itself as items several times has no end.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Whether the text of a list is long enough. That the rest is missing does not go unnoticed: a
/// text of this length is more than a run may make.
fn is_long(out: &str) -> bool {
    let is_long = out.len() > TEXT_BYTES_MAX;
    if is_long {
        work::note(usize::MAX);
    }
    is_long
}

/// Whose way of writing lists and maps.
#[derive(Debug, Clone, Copy)]
enum Style {
    Java,
    Groovy,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn thing(thing: Thing) -> Self {
        Self::Object(Object(thing))
    }

    pub(crate) fn decimal(decimal: Decimal) -> Self {
        Self::Decimal(DecimalValue(decimal))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::thing(Thing::List(Rc::new(List {
            items: RefCell::new(items),
            array_of: None,
            set: None,
            range: None,
        })))
    }

    pub(crate) fn array(class: &str, items: Vec<Self>) -> Self {
        Self::thing(Thing::List(Rc::new(List {
            items: RefCell::new(items),
            array_of: Some(class.into()),
            set: None,
            range: None,
        })))
    }

    /// A set of these items, which are in its order and there once each.
    pub(crate) fn set(order: KeyOrder, items: Vec<Self>) -> Self {
        Self::thing(Thing::List(Rc::new(List {
            items: RefCell::new(items),
            array_of: None,
            set: Some(order),
            range: None,
        })))
    }

    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        let items = bytes.iter();
        let items = items.map(|byte| Self::Int(i32::from(byte.cast_signed())));
        Self::array("byte", items.collect())
    }

    pub(crate) fn map(entries: Entries) -> Self {
        Self::ordered_map(entries, KeyOrder::Arrival)
    }

    /// A map whose entries are in its order.
    pub(crate) fn ordered_map(entries: Entries, order: KeyOrder) -> Self {
        Self::thing(Thing::Map(Rc::new(Map(RefCell::new(entries), order))))
    }

    pub(crate) fn entry(key: Self, value: Self) -> Self {
        Self::thing(Thing::Entry(Rc::new(Entry(key, value))))
    }

    pub(crate) fn as_thing(&self) -> Option<&Thing> {
        match self {
            Self::Object(Object(thing)) => Some(thing),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&Rc<List>> {
        match self.as_thing() {
            Some(Thing::List(list)) => Some(list),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&Rc<Map>> {
        match self.as_thing() {
            Some(Thing::Map(map)) => Some(map),
            _ => None,
        }
    }

    /// Whether it is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null | Self::Void)
    }

    /// As `String.valueOf` writes it.
    pub fn to_text(&self) -> String {
        self.written(Style::Java)
    }

    /// As Groovy writes it where it makes a text of a value: `[key:value]`.
    pub(crate) fn to_groovy_text(&self) -> String {
        self.written(Style::Groovy)
    }

    fn written(&self, style: Style) -> String {
        let mut out = String::new();
        self.write(&mut out, style, TEXT_DEPTH_MAX);
        work::note(out.len());
        out
    }

    pub(crate) fn to_shared_text(&self) -> Arc<str> {
        match self {
            Self::Text(text) => Arc::clone(text),
            other => other.to_text().into(),
        }
    }

    fn write(&self, out: &mut String, style: Style, depth: u32) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Void => out.push_str("void"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => out.push_str(&value.to_string()),
            Self::Long(value) => out.push_str(&value.to_string()),
            Self::Double(value) => out.push_str(&java_double(*value)),
            Self::Float(value) => out.push_str(&java_float(*value)),
            Self::Decimal(DecimalValue(value)) => out.push_str(&value.to_string()),
            Self::Char(value) => out.push(*value),
            Self::Text(value) => out.push_str(value),
            Self::Object(_) if depth == 0 => out.push('…'),
            Self::Object(Object(thing)) => thing.write(out, style, depth - 1),
        }
    }

    /// About how many bytes it is made of, without what it shares.
    pub(crate) fn bytes_of_text(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => size_of::<Self>(),
        }
    }
}

impl Thing {
    fn write(&self, out: &mut String, style: Style, depth: u32) {
        match self {
            Self::List(list) => write_items(&list.items.borrow(), out, style, depth),
            Self::Map(map) => {
                let entries = map.borrow();
                let (open, between, close) = match style {
                    Style::Java => ("{", '=', '}'),
                    Style::Groovy if entries.is_empty() => ("[:", ':', ']'),
                    Style::Groovy => ("[", ':', ']'),
                };
                out.push_str(open);
                for (index, (key, value)) in entries.iter().enumerate() {
                    if is_long(out) {
                        return;
                    }
                    if index > 0 {
                        out.push_str(", ");
                    }
                    key.write(out, style, depth);
                    out.push(between);
                    value.write(out, style, depth);
                }
                out.push(close);
            }
            Self::Entry(entry) => {
                entry.0.write(out, style, depth);
                out.push('=');
                entry.1.write(out, style, depth);
            }
            Self::Class(class) => out.extend(["class ", class.name]),
            Self::ClassName(name) => out.extend(["class ", &**name]),
            Self::Thrown(thrown) => out.push_str(&thrown.to_string()),
            Self::Builder(text) => out.push_str(&text.borrow()),
            Self::Counter(number) => out.push_str(&number.get().to_string()),
            Self::Uuid(text) | Self::File(text) | Self::Zone(text) => out.push_str(text),
            Self::Date(date) => out.push_str(&date.text()),
            Self::Instant(at) => out.push_str(&crate::instant::text(*at)),
            Self::Temporal(temporal) => out.push_str(&temporal.to_string()),
            Self::ZoneId(zone) => out.push_str(&zone.name),
            Self::Duration(duration) => {
                out.push_str(&crate::temporal::duration_text(**duration));
            }
            Self::Period(period) => out.push_str(&period.to_string()),
            Self::Named(names, at) => out.push_str(names.shown(*at)),
            Self::Pattern(pattern) => out.push_str(pattern.source()),
            Self::Output(output) if output.path.is_none() => {
                out.push_str(&String::from_utf8_lossy(&output.bytes.borrow()));
            }
            Self::Url(url) => out.push_str(url.whole()),
            // A sample is shown by its label; who writes it has none at hand.
            Self::Previous | Self::Own | Self::Part { .. } => {
                out.push_str("org.apache.jmeter.samplers.SampleResult");
            }
            Self::Single(class) => out.push_str(class.name),
            other => out.push_str(other.class_name()),
        }
    }

    /// The name of the class of things that have no better text.
    fn class_name(&self) -> &'static str {
        match self {
            Self::Closure(_) => "groovy.lang.Closure",
            Self::Random(_) => "java.util.Random",
            Self::Date(_) => "java.util.Date",
            Self::Calendar(_) => "java.util.GregorianCalendar",
            Self::Instant(_) => "java.time.Instant",
            Self::DateFormat(_) => "java.text.SimpleDateFormat",
            Self::Json(_) => "groovy.json.JsonBuilder",
            Self::Formatter(_) => "java.time.format.DateTimeFormatter",
            Self::Matcher(_) => "java.util.regex.Matcher",
            Self::Iterator(_) => "java.util.Iterator",
            Self::Digest(_) => "java.security.MessageDigest",
            Self::Writer(_) => "java.io.FileWriter",
            Self::Reader(_) => "java.io.BufferedReader",
            Self::Input(_) => "java.io.ByteArrayInputStream",
            Self::Output(_) => "java.io.ByteArrayOutputStream",
            Self::Cookie(_) => "org.apache.jmeter.protocol.http.control.Cookie",
            Self::Argument(_) => "org.apache.jmeter.protocol.http.util.HTTPArgument",
            _ => "java.lang.Object",
        }
    }
}

fn write_items(items: &[Value], out: &mut String, style: Style, depth: u32) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if is_long(out) {
            return;
        }
        if index > 0 {
            out.push_str(", ");
        }
        item.write(out, style, depth);
    }
    out.push(']');
}
