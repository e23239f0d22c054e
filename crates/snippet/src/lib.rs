//! The small scripts that people write into load plans: Groovy, `BeanShell`, JEXL and JavaScript.
//!
//! JavaScript is run by `QuickJS`. The languages of the Java
//! family have no interpreter outside of Java, so this crate has one: one parser and one evaluator
//! for the part of the family that plans hold (variables, arithmetic, conditions, loops, closures,
//! texts, lists, maps, a few hundred methods of Java's and JMeter's classes), with the meaning that
//! each language gives it. [`Script::read`] reads a script once; [`Script::unknown`] names what in
//! it this crate does not know, before anything is run; [`Script::run`] runs it.
//!
//! A script can only do what the [`Host`] lets it do, and takes at most [`STEPS_MAX`] steps,
//! [`BYTES_MAX`] bytes and a bounded stack. What happens in it is an answer or a [`Failure`]: an
//! exception of the script, something unknown, or a bound.
//!
//! Deliberately absent: classes, reflection, threads, processes, sockets, the environment, and a
//! clock or randomness of its own.

mod arithmetic;
mod bury;
mod calendar;
mod check;
mod class;
mod date;
mod host;
mod instant;
mod javascript;
mod key_order;
mod language;
mod library;
mod machine;
mod number;
mod parse;
mod pattern;
mod program;
mod script;
mod set_path;
mod shared_value;
mod syntax;
mod temporal;
mod token;
mod touched;
mod url;
mod value;
mod work;
mod zone;

pub use date::DateWriter;
pub use host::{
    ArgumentView, Bindings, CookieJar, CookieView, Ends, Host, Judgement, Place, Sample,
    SamplerView, WriteMode,
};
pub use javascript::condition;
pub use language::Language;
pub use machine::{BYTES_MAX, STEPS_MAX};
pub use program::{Failure, Program, State, SyntaxError, Unknown};
pub use script::Script;
pub use set_path::path_and_arguments;
pub use shared_value::SharedValue;
pub use temporal::DateParts;
pub use touched::ScriptFile;
pub use value::{Throwable, Value};
pub use zone::time_zone_of_java;
