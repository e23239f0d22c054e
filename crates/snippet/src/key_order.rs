//! The order in which Java's sets and maps give what they hold.
//!
//! A script shows that order as soon as it joins a set or writes a map: it is part of what is sent.

use std::cell::Cell;
use std::cmp::Ordering;

use crate::Value;
use crate::arithmetic;
use crate::machine::Stop;
use crate::number::Decimal;
use crate::value::{DecimalValue, Thing};
use crate::work;

/// What decides over the order of keys.
#[derive(Debug)]
pub(crate) enum KeyOrder {
    /// When they came: `LinkedHashSet`, `LinkedHashMap`.
    Arrival,
    /// When they came, in a map that was read from JSON: `LazyMap`.
    Read,
    /// Their place in a hash table of so many places: `HashSet`, `HashMap`.
    Table(Cell<u32>),
    /// Their size: `TreeSet`, `TreeMap`.
    Size,
}

/// Places of a table that nothing is said of.
const PLACES: u32 = 16;
const PLACES_MAX: u32 = 1 << 30;
/// What `UnixFileSystem.hashCode` puts over the path's.
const FILE_MASK: i32 = 0x0012_d591;
/// Deepest nesting of lists that have a hash.
const DEPTH_MAX: u32 = 30;

impl KeyOrder {
    /// A hash table as it is made for so many keys, or with Java's own size.
    pub(crate) fn table(keys: Option<usize>) -> Self {
        let places = keys.map_or(PLACES, |keys| {
            let keys = u32::try_from(keys).unwrap_or(PLACES_MAX).min(PLACES_MAX);
            keys.max(1).next_power_of_two()
        });
        Self::Table(Cell::new(places))
    }

    /// A hash table that takes over so many keys of a map.
    pub(crate) fn table_of(keys: usize) -> Self {
        Self::table(Some(keys + keys / 3 + 1))
    }

    /// That of a copy with so many keys: its table is as small as can be.
    pub(crate) fn of_copy(&self, keys: usize) -> Self {
        match self {
            Self::Arrival => Self::Arrival,
            Self::Read => Self::Read,
            Self::Table(_) => Self::table_of(keys),
            Self::Size => Self::Size,
        }
    }

    /// That of what Groovy makes of a part: in the order of the keys, or in that of their arrival.
    pub(crate) fn of_part(&self) -> Self {
        match self {
            Self::Size => Self::Size,
            Self::Arrival | Self::Read | Self::Table(_) => Self::Arrival,
        }
    }

    /// Puts a new key, or an entry with one, to where it belongs.
    pub(crate) fn insert<T>(
        &self,
        items: &mut Vec<T>,
        item: T,
        key: impl Fn(&T) -> &Value,
    ) -> Result<(), Stop> {
        let at = match self {
            Self::Arrival | Self::Read => items.len(),
            Self::Table(places) => {
                let grows = (items.len() as u64 + 1) * 4 > u64::from(places.get()) * 3;
                if grows && places.get() < PLACES_MAX {
                    places.set(places.get() * 2);
                    items.push(item);
                    items.sort_by_cached_key(|item| place(key(item), places.get()));
                    return Ok(());
                }
                let own = place(key(&item), places.get());
                items.partition_point(|known| place(key(known), places.get()) <= own)
            }
            Self::Size => {
                let mut incomparable = None;
                let at = items.partition_point(|known| {
                    let ordering = arithmetic::compare(key(known), key(&item));
                    ordering.unwrap_or_else(|stop| {
                        incomparable = Some(stop);
                        Ordering::Less
                    }) != Ordering::Greater
                });
                if let Some(stop) = incomparable {
                    return Err(stop);
                }
                at
            }
        };
        items.insert(at, item);
        Ok(())
    }
}

/// As `HashMap.hash` and the mask after it.
fn place(key: &Value, places: u32) -> u32 {
    let hash = hash_code(key).unwrap_or(0).cast_unsigned();
    (hash ^ (hash >> 16)) & (places - 1)
}

/// As `Object.hashCode`; `None` for what Java gives any number, and for lists in lists in lists.
pub(crate) fn hash_code(value: &Value) -> Option<i32> {
    hash_to_depth(value, DEPTH_MAX)
}

fn hash_to_depth(value: &Value, depth: u32) -> Option<i32> {
    work::note(1);
    if work::is_too_much() {
        return None;
    }
    let of_long = |long: i64| (long ^ (long.cast_unsigned() >> 32).cast_signed()) as i32;
    Some(match value {
        Value::Null | Value::Void => 0,
        Value::Bool(true) => 1231,
        Value::Bool(false) => 1237,
        Value::Int(value) => *value,
        Value::Long(value) => of_long(*value),
        Value::Double(value) => {
            let bits = if value.is_nan() { f64::NAN } else { *value };
            of_long(bits.to_bits().cast_signed())
        }
        Value::Float(value) => value.to_bits().cast_signed(),
        Value::Decimal(DecimalValue(value)) => of_decimal(*value),
        Value::Char(value) => *value as i32,
        Value::Text(text) => {
            work::note(text.len());
            text.encode_utf16().fold(0_i32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(i32::from(unit))
            })
        }
        Value::Object(object) => {
            let Some(depth) = depth.checked_sub(1) else {
                work::note(usize::MAX);
                return None;
            };
            of_thing(&object.0, depth)?
        }
    })
}

/// `31 * unscaledValue().hashCode() + scale()`.
fn of_decimal(value: Decimal) -> i32 {
    let (unscaled, scale) = value.parts();
    let size = unscaled.unsigned_abs();
    let words = [96, 64, 32, 0].map(|shift| (size >> shift) as u32);
    let hash = words.into_iter().fold(0_i32, |hash, word| {
        hash.wrapping_mul(31).wrapping_add(word.cast_signed())
    });
    let hash = if unscaled < 0 {
        hash.wrapping_neg()
    } else {
        hash
    };
    hash.wrapping_mul(31).wrapping_add(scale)
}

fn of_thing(thing: &Thing, depth: u32) -> Option<i32> {
    let hash_code = |value: &Value| hash_to_depth(value, depth);
    match thing {
        Thing::List(list) if list.array_of.is_some() => None,
        Thing::List(list) => {
            // A list that holds itself has none in Java either.
            let items = list.items.try_borrow_mut().ok()?;
            let mut hashes = items.iter().map(hash_code);
            match list.set {
                Some(_) => hashes.try_fold(0_i32, |sum, hash| Some(sum.wrapping_add(hash?))),
                None => hashes.try_fold(1_i32, |sum, hash| {
                    Some(sum.wrapping_mul(31).wrapping_add(hash?))
                }),
            }
        }
        Thing::Map(map) => {
            let entries = map.try_borrow_mut().ok()?;
            let mut entries = entries.iter();
            entries.try_fold(0_i32, |sum, (key, value)| {
                Some(sum.wrapping_add(hash_code(key)? ^ hash_code(value)?))
            })
        }
        Thing::Entry(entry) => Some(hash_code(&entry.0)? ^ hash_code(&entry.1)?),
        Thing::File(path) => hash_code(&Value::Text(path.clone())).map(|hash| hash ^ FILE_MASK),
        _ => None,
    }
}
