//! Numbers: the classes around them, `Math`, `Random`.

use std::cell::Cell;
use std::rc::Rc;

use super::operators::OPERATORS;
use super::{convert, integer, text_of, thing};
use crate::Value;
use crate::arithmetic::{self, Number};
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::number::{Decimal, Rounding};
use crate::syntax::Operator;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[
    &BOOLEAN,
    &INTEGER,
    &LONG,
    &DOUBLE,
    &DECIMAL,
    &MATH,
    &RANDOM,
    &THREAD_LOCAL_RANDOM,
    &COUNTER,
    &LONG_COUNTER,
    &SECURE_RANDOM,
];

pub(super) static BOOLEAN: Class = Class {
    statics: &[
        routine("parseBoolean", 1, |_, _, arguments| {
            Ok(boolean(&arguments[0]))
        }),
        routine("valueOf", 1, |_, _, arguments| Ok(boolean(&arguments[0]))),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
    ],
    constants: &[
        ("TRUE", |_| Value::Bool(true)),
        ("FALSE", |_| Value::Bool(false)),
    ],
    methods: &[&[routine("booleanValue", 0, |_, of, _| Ok(of.clone()))]],
    ..Class::named("java.lang.Boolean")
};

fn boolean(value: &Value) -> Value {
    Value::Bool(value.to_text().eq_ignore_ascii_case("true"))
}

pub(super) static INTEGER: Class = Class {
    make: Some(routine("Integer", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "Integer")
    })),
    statics: &[
        between("parseInt", 1, 2, |_, _, arguments| {
            parse_whole(arguments, "Integer")
        }),
        between("valueOf", 1, 2, |_, _, arguments| match arguments {
            [one] => of_text_or_number(one, "Integer"),
            several => parse_whole(several, "Integer"),
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        routine("toHexString", 1, |machine, _, arguments| {
            let number = integer(&arguments[0])? as i32;
            machine.text(format!("{number:x}"))
        }),
        routine("toBinaryString", 1, |machine, _, arguments| {
            let number = integer(&arguments[0])? as i32;
            machine.text(format!("{number:b}"))
        }),
        routine("compare", 2, compare),
        routine("max", 2, |_, _, arguments| largest(arguments, true)),
        routine("min", 2, |_, _, arguments| largest(arguments, false)),
        routine("decode", 1, |_, _, arguments| {
            parsed(&text_of(&arguments[0])?, "Integer")
        }),
    ],
    constants: &[
        ("MAX_VALUE", |_| Value::Int(i32::MAX)),
        ("MIN_VALUE", |_| Value::Int(i32::MIN)),
    ],
    methods: &[OF_NUMBERS, OPERATORS],
    ..Class::named("java.lang.Integer")
};

pub(super) static LONG: Class = Class {
    make: Some(routine("Long", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "Long")
    })),
    statics: &[
        between("parseLong", 1, 2, |_, _, arguments| {
            parse_whole(arguments, "Long")
        }),
        between("valueOf", 1, 2, |_, _, arguments| match arguments {
            [one] => of_text_or_number(one, "Long"),
            several => parse_whole(several, "Long"),
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        routine("toHexString", 1, |machine, _, arguments| {
            let number = integer(&arguments[0])?;
            machine.text(format!("{number:x}"))
        }),
        routine("compare", 2, compare),
        routine("max", 2, |_, _, arguments| largest(arguments, true)),
        routine("min", 2, |_, _, arguments| largest(arguments, false)),
    ],
    constants: &[
        ("MAX_VALUE", |_| Value::Long(i64::MAX)),
        ("MIN_VALUE", |_| Value::Long(i64::MIN)),
    ],
    methods: &[OF_NUMBERS, OPERATORS],
    ..Class::named("java.lang.Long")
};

pub(super) static DOUBLE: Class = Class {
    make: Some(routine("Double", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "Double")
    })),
    statics: &[
        routine("parseDouble", 1, |_, _, arguments| {
            of_text_or_number(&arguments[0], "Double")
        }),
        routine("valueOf", 1, |_, _, arguments| {
            of_text_or_number(&arguments[0], "Double")
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        routine("compare", 2, compare),
        routine("isNaN", 1, |_, _, arguments| {
            Ok(Value::Bool(double(&arguments[0])?.is_nan()))
        }),
    ],
    constants: &[
        ("MAX_VALUE", |_| Value::Double(f64::MAX)),
        ("MIN_VALUE", |_| Value::Double(5e-324)),
        ("NaN", |_| Value::Double(f64::NAN)),
    ],
    methods: &[OF_NUMBERS, OPERATORS],
    ..Class::named("java.lang.Double")
};

pub(super) static DECIMAL: Class = Class {
    make: Some(routine("BigDecimal", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "BigDecimal")
    })),
    statics: &[routine("valueOf", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "BigDecimal")
    })],
    constants: &[
        ("ZERO", |_| Value::decimal(Decimal::integer(0))),
        ("ONE", |_| Value::decimal(Decimal::integer(1))),
        ("TEN", |_| Value::decimal(Decimal::integer(10))),
        ("ROUND_UP", |_| Value::Int(0)),
        ("ROUND_DOWN", |_| Value::Int(1)),
        ("ROUND_CEILING", |_| Value::Int(2)),
        ("ROUND_FLOOR", |_| Value::Int(3)),
        ("ROUND_HALF_UP", |_| Value::Int(4)),
        ("ROUND_HALF_DOWN", |_| Value::Int(5)),
        ("ROUND_HALF_EVEN", |_| Value::Int(6)),
    ],
    methods: &[
        &[
            routine("add", 1, |_, of, arguments| {
                decimals(Operator::Plus, of, &arguments[0])
            }),
            routine("subtract", 1, |_, of, arguments| {
                decimals(Operator::Minus, of, &arguments[0])
            }),
            routine("multiply", 1, |_, of, arguments| {
                decimals(Operator::Times, of, &arguments[0])
            }),
            routine("setScale", 2, |_, of, arguments| {
                super::floats::set_scale(of, arguments)
            }),
        ],
        OF_NUMBERS,
        OPERATORS,
    ],
    ..Class::named("java.math.BigDecimal")
};

fn decimals(operator: Operator, left: &Value, right: &Value) -> Answer {
    match (Number::of(left), Number::of(right)) {
        (Some(left), Some(right)) => {
            arithmetic::calculate(operator, left, right, crate::Language::Groovy)
        }
        _ => Err(Stop::null_pointer("a number was expected, not null")),
    }
}

fn rounded(of: &Value, scale: i64) -> Answer {
    rounded_by(of, scale, Rounding::HalfUp)
}

/// A number with so many digits after the point.
pub(super) fn rounded_by(of: &Value, scale: i64, rounding: Rounding) -> Answer {
    let Ok(scale) = i32::try_from(scale) else {
        return Err(Stop::unknown("so many digits"));
    };
    match Number::of(of) {
        Some(Number::Decimal(decimal)) if scale.abs() < 30 => {
            let rounded = decimal.rounded(scale, rounding);
            let rounded = rounded.ok_or_else(|| Stop::unknown("numbers with so many digits"))?;
            Ok(Value::decimal(rounded))
        }
        Some(number) if scale.abs() < 30 => {
            let unit = 10_f64.powi(scale);
            Ok(Value::Double((number.double() * unit).round() / unit))
        }
        _ => Err(Stop::unknown("rounding what is no number")),
    }
}

fn double(value: &Value) -> Result<f64, Stop> {
    match Number::of(value) {
        Some(number) => Ok(number.double()),
        None if value.is_null() => Err(Stop::null_pointer("a number was expected, not null")),
        None => Err(Stop::unknown(format!(
            "{} where a number is expected",
            arithmetic::class_name(value)
        ))),
    }
}

fn compare(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let ordering = arithmetic::compare(&arguments[0], &arguments[1])?;
    Ok(Value::Int(ordering as i32))
}

fn largest(arguments: &[Value], is_largest: bool) -> Answer {
    let is_second = arithmetic::compare(&arguments[0], &arguments[1])?.is_lt() == is_largest;
    let picked = arguments[usize::from(is_second)].clone();
    // Of two kinds the wider one is the kind of the answer.
    match (Number::of(&arguments[0]), Number::of(&arguments[1])) {
        (Some(Number::Double(_)), Some(_)) | (Some(_), Some(Number::Double(_))) => {
            double(&picked).map(Value::Double)
        }
        (Some(Number::Long(_)), Some(_)) | (Some(_), Some(Number::Long(_))) => {
            integer(&picked).map(Value::Long)
        }
        _ => Ok(picked),
    }
}

fn no_number(text: &str) -> Stop {
    Stop::thrown(
        "java.lang.NumberFormatException",
        format!("For input string: \"{text}\""),
    )
}

/// A text as a number of a kind.
pub(super) fn parsed(text: &str, kind: &str) -> Answer {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let well_formed = !digits.starts_with('+') || digits.len() == text.len();
    match kind {
        "Integer" if well_formed => digits.parse().map(Value::Int).map_err(|_| no_number(text)),
        "Long" if well_formed => digits.parse().map(Value::Long).map_err(|_| no_number(text)),
        "Float" => match parsed(text, "Double")? {
            Value::Double(number) => Ok(Value::Float(number as f32)),
            other => Ok(other),
        },
        "Double" => {
            let trimmed = text.trim();
            let number = trimmed.strip_suffix(['d', 'f', 'D', 'F']).unwrap_or(trimmed);
            if number.is_empty() {
                return Err(Stop::thrown(
                    "java.lang.NumberFormatException",
                    "empty String",
                ));
            }
            let is_plain = number
                .bytes()
                .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            let number = if is_plain { number.parse().ok() } else { None };
            number.map(Value::Double).ok_or_else(|| no_number(text))
        }
        "BigDecimal" => Decimal::parse(digits).map(Value::decimal).ok_or_else(|| {
            Stop::thrown(
                "java.lang.NumberFormatException",
                format!("Character {text} is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."),
            )
        }),
        _ => Err(no_number(text)),
    }
}

pub(super) fn of_text_or_number(value: &Value, kind: &str) -> Answer {
    match value {
        Value::Null | Value::Void => Err(Stop::thrown(
            "java.lang.NumberFormatException",
            "Cannot parse null string: null",
        )),
        Value::Text(text) => parsed(text, kind),
        other => match (Number::of(other), kind) {
            (Some(number), "Integer") => Ok(Value::Int(convert::to_int(number))),
            (Some(number), "Long") => Ok(Value::Long(number.long())),
            (Some(number), "Double") => Ok(Value::Double(number.double())),
            (Some(number), "Float") => Ok(Value::Float(number.double() as f32)),
            (Some(Number::Double(number)), _) => Decimal::of_double(number)
                .map(Value::decimal)
                .ok_or_else(|| no_number(&other.to_text())),
            (Some(Number::Decimal(_)), _) => Ok(other.clone()),
            (Some(number), _) => Ok(Value::decimal(Decimal::integer(i128::from(number.long())))),
            (None, _) => Err(Stop::unknown("a number of what is none")),
        },
    }
}

fn parse_whole(arguments: &[Value], kind: &str) -> Answer {
    let [text, radix] = arguments else {
        return of_text_or_number(&arguments[0], kind);
    };
    let text = text_of(text)?;
    let radix = u32::try_from(integer(radix)?).unwrap_or(10).clamp(2, 36);
    if kind == "Integer" {
        let number = i32::from_str_radix(&text, radix);
        return number.map(Value::Int).map_err(|_| no_number(&text));
    }
    let number = i64::from_str_radix(&text, radix);
    number.map(Value::Long).map_err(|_| no_number(&text))
}

pub(super) const OF_NUMBERS: &[Routine] = &[
    routine("intValue", 0, |_, of, _| to_int(of)),
    routine("longValue", 0, |_, of, _| integer(of).map(Value::Long)),
    routine("doubleValue", 0, |_, of, _| double(of).map(Value::Double)),
    routine("floatValue", 0, |_, of, _| {
        double(of).map(|number| Value::Float(number as f32))
    }),
    routine("toInteger", 0, |_, of, _| to_int(of)),
    routine("toLong", 0, |_, of, _| integer(of).map(Value::Long)),
    routine("toDouble", 0, |_, of, _| double(of).map(Value::Double)),
    routine("toBigDecimal", 0, |_, of, _| {
        of_text_or_number(of, "BigDecimal")
    }),
    routine("compareTo", 1, |_, of, arguments| {
        let ordering = arithmetic::compare(of, &arguments[0])?;
        Ok(Value::Int(ordering as i32))
    }),
    routine("abs", 0, |_, of, _| absolute(of)),
    between("round", 0, 1, |_, of, arguments| match arguments.first() {
        Some(scale) => rounded(of, integer(scale)?),
        None => Ok(Value::Long((double(of)? + 0.5).floor() as i64)),
    }),
    routine("intdiv", 1, |_, of, arguments| {
        let right = integer(&arguments[0])?;
        if right == 0 {
            return Err(Stop::thrown("java.lang.ArithmeticException", "/ by zero"));
        }
        Ok(narrow(integer(of)?.wrapping_div(right)))
    }),
    routine("mod", 1, |_, of, arguments| {
        let right = integer(&arguments[0])?;
        if right == 0 {
            return Err(Stop::thrown("java.lang.ArithmeticException", "/ by zero"));
        }
        Ok(narrow(integer(of)?.wrapping_rem(right)))
    }),
    routine("times", 1, |machine, of, arguments| {
        for at in 0..integer(of)? {
            machine.step(1)?;
            machine.call_value(&arguments[0], &[narrow(at)])?;
        }
        Ok(Value::Null)
    }),
    routine("upto", 2, |machine, of, arguments| {
        for at in integer(of)?..=integer(&arguments[0])? {
            machine.step(1)?;
            machine.call_value(&arguments[1], &[narrow(at)])?;
        }
        Ok(Value::Null)
    }),
    routine("downto", 2, |machine, of, arguments| {
        for at in (integer(&arguments[0])?..=integer(of)?).rev() {
            machine.step(1)?;
            machine.call_value(&arguments[1], &[narrow(at)])?;
        }
        Ok(Value::Null)
    }),
    routine("step", 3, |machine, of, arguments| {
        let (to, by) = (integer(&arguments[0])?, integer(&arguments[1])?);
        let mut at = integer(of)?;
        while (by > 0 && at < to) || (by < 0 && at > to) {
            machine.step(1)?;
            machine.call_value(&arguments[2], &[narrow(at)])?;
            at = at.saturating_add(by);
        }
        Ok(Value::Null)
    }),
];

fn narrow(number: i64) -> Value {
    i32::try_from(number).map_or(Value::Long(number), Value::Int)
}

fn to_int(of: &Value) -> Answer {
    match Number::of(of) {
        Some(number) => Ok(Value::Int(convert::to_int(number))),
        None => Err(Stop::unknown("a number of what is none")),
    }
}

fn absolute(of: &Value) -> Answer {
    Ok(match of {
        Value::Int(value) => Value::Int(value.wrapping_abs()),
        Value::Long(value) => Value::Long(value.wrapping_abs()),
        _ => match Number::of(of) {
            Some(Number::Decimal(value)) if value.to_double() < 0.0 => {
                Value::decimal(value.negated().unwrap_or(value))
            }
            Some(Number::Decimal(_)) => of.clone(),
            _ => Value::Double(double(of)?.abs()),
        },
    })
}

/// A function of `Math` from a double to a double.
macro_rules! of_double {
    ($name:literal, $function:expr) => {
        routine($name, 1, |_, _, arguments| {
            let function: fn(f64) -> f64 = $function;
            Ok(Value::Double(function(double(&arguments[0])?)))
        })
    };
}

static MATH: Class = Class {
    statics: &[
        routine("random", 0, |machine, _, _| {
            Ok(Value::Double(unit(machine.host.random())))
        }),
        routine("abs", 1, |_, _, arguments| absolute(&arguments[0])),
        routine("max", 2, |_, _, arguments| largest(arguments, true)),
        routine("min", 2, |_, _, arguments| largest(arguments, false)),
        routine("round", 1, |_, _, arguments| {
            let whole = (double(&arguments[0])? + 0.5).floor();
            Ok(Value::Long(whole as i64))
        }),
        routine("pow", 2, |_, _, arguments| {
            let power = double(&arguments[0])?.powf(double(&arguments[1])?);
            Ok(Value::Double(power))
        }),
        routine("floorMod", 2, |_, _, arguments| {
            let right = integer(&arguments[1])?;
            if right == 0 {
                return Err(Stop::thrown("java.lang.ArithmeticException", "/ by zero"));
            }
            let left = integer(&arguments[0])?;
            let rest = left.wrapping_rem(right);
            let has_other_sign = rest != 0 && (rest < 0) != (right < 0);
            Ok(narrow(if has_other_sign { rest + right } else { rest }))
        }),
        of_double!("floor", f64::floor),
        of_double!("ceil", f64::ceil),
        of_double!("rint", f64::round_ties_even),
        of_double!("sqrt", f64::sqrt),
        of_double!("log", f64::ln),
        of_double!("log10", f64::log10),
        of_double!("exp", f64::exp),
        of_double!("sin", f64::sin),
        of_double!("cos", f64::cos),
        of_double!("tan", f64::tan),
        of_double!("signum", |value| if value == 0.0 {
            value
        } else {
            value.signum()
        }),
    ],
    constants: &[
        ("PI", |_| Value::Double(std::f64::consts::PI)),
        ("E", |_| Value::Double(std::f64::consts::E)),
    ],
    ..Class::named("java.lang.Math")
};

/// A double of [0, 1) from 64 bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

pub(super) static RANDOM: Class = Class {
    make: Some(between("Random", 0, 1, |machine, _, arguments| {
        let seed = match arguments.first() {
            Some(seed) => integer(seed)?.cast_unsigned(),
            None => machine.host.random(),
        };
        let state = (seed ^ MULTIPLIER) & MASK;
        Ok(Value::thing(Thing::Random(Rc::new(Cell::new(state)))))
    })),
    methods: &[OF_RANDOMS],
    ..Class::named("java.util.Random")
};

static SECURE_RANDOM: Class = Class {
    make: Some(routine("SecureRandom", 0, |machine, _, _| {
        let state = machine.host.random() & MASK;
        Ok(Value::thing(Thing::Random(Rc::new(Cell::new(state)))))
    })),
    ..Class::named("java.security.SecureRandom")
};

static THREAD_LOCAL_RANDOM: Class = Class {
    statics: &[routine("current", 0, |machine, _, _| {
        let state = machine.host.random() & MASK;
        Ok(Value::thing(Thing::Random(Rc::new(Cell::new(state)))))
    })],
    ..Class::named("java.util.concurrent.ThreadLocalRandom")
};

/// The generator of `java.util.Random`, as its documentation gives it: a script with a seed gets
/// Java's numbers.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

fn next(state: &Cell<u64>, bits: u32) -> i32 {
    let next = state.get().wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
    state.set(next);
    ((next >> (48 - bits)) as u32).cast_signed()
}

/// Evenly from 0 to before the bound, as `Random.nextInt(bound)`.
fn below(state: &Cell<u64>, bound: i32) -> i32 {
    let mut bits = next(state, 31);
    if bound & (bound - 1) == 0 {
        return ((i64::from(bound) * i64::from(bits)) >> 31) as i32;
    }
    loop {
        let rest = bits % bound;
        if bits.wrapping_sub(rest).wrapping_add(bound - 1) >= 0 {
            return rest;
        }
        bits = next(state, 31);
    }
}

fn next_long(state: &Cell<u64>) -> i64 {
    (i64::from(next(state, 32)) << 32).wrapping_add(i64::from(next(state, 32)))
}

fn next_double(state: &Cell<u64>) -> f64 {
    let high = i64::from(next(state, 26)) << 27;
    let bits = high + i64::from(next(state, 27));
    bits as f64 / (1_u64 << 53) as f64
}

fn bound_of(value: &Value) -> Result<i32, Stop> {
    match i32::try_from(integer(value)?) {
        Ok(bound) if bound > 0 => Ok(bound),
        _ => Err(Stop::thrown(
            "java.lang.IllegalArgumentException",
            "bound must be positive",
        )),
    }
}

const OF_RANDOMS: &[Routine] = &[
    between("nextInt", 0, 2, |_, of, arguments| {
        let state = thing!(of, Random);
        Ok(Value::Int(match arguments {
            [] => next(state, 32),
            [bound] => below(state, bound_of(bound)?),
            [from, to, ..] => {
                let from = integer(from)?;
                let width = Value::Long(integer(to)?.saturating_sub(from));
                let more = i64::from(below(state, bound_of(&width)?));
                from.wrapping_add(more) as i32
            }
        }))
    }),
    between("nextLong", 0, 2, |_, of, arguments| {
        let state = thing!(of, Random);
        let number = next_long(state);
        let (from, width) = match arguments {
            [] => return Ok(Value::Long(number)),
            [to] => (0, integer(to)?),
            [from, to, ..] => {
                let from = integer(from)?;
                (from, integer(to)?.saturating_sub(from))
            }
        };
        if width <= 0 {
            return Err(Stop::thrown(
                "java.lang.IllegalArgumentException",
                "bound must be positive",
            ));
        }
        Ok(Value::Long(from.wrapping_add(number.rem_euclid(width))))
    }),
    between("nextDouble", 0, 2, |_, of, arguments| {
        let number = next_double(thing!(of, Random));
        Ok(Value::Double(match arguments {
            [from, to] => double(from)? + number * (double(to)? - double(from)?),
            [to] => number * double(to)?,
            _ => number,
        }))
    }),
    routine("nextFloat", 0, |_, of, _| {
        let bits = next(thing!(of, Random), 24);
        Ok(Value::Float(bits as f32 / (1 << 24) as f32))
    }),
    routine("nextBoolean", 0, |_, of, _| {
        Ok(Value::Bool(next(thing!(of, Random), 1) != 0))
    }),
    routine("nextGaussian", 0, |_, of, _| {
        // Marsaglia's polar method, as Java's; the second number of a pair is not kept.
        let state = thing!(of, Random);
        loop {
            let first = 2.0 * next_double(state) - 1.0;
            let second = 2.0 * next_double(state) - 1.0;
            let size = first * first + second * second;
            if size < 1.0 && size > 0.0 {
                return Ok(Value::Double(first * (-2.0 * size.ln() / size).sqrt()));
            }
        }
    }),
    routine("setSeed", 1, |_, of, arguments| {
        let seed = integer(&arguments[0])?.cast_unsigned();
        thing!(of, Random).set((seed ^ MULTIPLIER) & MASK);
        Ok(Value::Void)
    }),
];

pub(super) static COUNTER: Class = Class {
    make: Some(between("AtomicInteger", 0, 1, make_counter)),
    methods: &[&[
        routine("get", 0, |_, of, _| Ok(narrow(thing!(of, Counter).get()))),
        routine("set", 1, |_, of, arguments| {
            thing!(of, Counter).set(integer(&arguments[0])?);
            Ok(Value::Void)
        }),
        routine("incrementAndGet", 0, |_, of, _| {
            Ok(count(thing!(of, Counter), 1).1)
        }),
        routine("decrementAndGet", 0, |_, of, _| {
            Ok(count(thing!(of, Counter), -1).1)
        }),
        routine("getAndIncrement", 0, |_, of, _| {
            Ok(count(thing!(of, Counter), 1).0)
        }),
        routine("getAndDecrement", 0, |_, of, _| {
            Ok(count(thing!(of, Counter), -1).0)
        }),
        routine("addAndGet", 1, |_, of, arguments| {
            Ok(count(thing!(of, Counter), integer(&arguments[0])?).1)
        }),
        routine("intValue", 0, |_, of, _| to_int(of)),
    ]],
    ..Class::named("java.util.concurrent.atomic.AtomicInteger")
};

static LONG_COUNTER: Class = Class {
    make: Some(between("AtomicLong", 0, 1, make_counter)),
    ..Class::named("java.util.concurrent.atomic.AtomicLong")
};

fn make_counter(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let number = match arguments.first() {
        Some(number) => integer(number)?,
        None => 0,
    };
    Ok(Value::thing(Thing::Counter(Rc::new(Cell::new(number)))))
}

/// The number before and after.
fn count(counter: &Cell<i64>, by: i64) -> (Value, Value) {
    let before = counter.get();
    counter.set(before.wrapping_add(by));
    (narrow(before), narrow(counter.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `new java.util.Random(42)` of Java 17 gives first.
    #[test]
    fn seeded_numbers_are_javas() {
        let seed = 42_u64;
        let state = Cell::new((seed ^ MULTIPLIER) & MASK);
        assert_eq!(next(&state, 32), -1_170_105_035);
        assert_eq!(next(&state, 32), 234_785_527);
        let state = Cell::new((seed ^ MULTIPLIER) & MASK);
        let tens: Vec<i32> = (0..5).map(|_| below(&state, 10)).collect();
        assert_eq!(tens, [0, 3, 8, 4, 0]);
    }
}
