//! What Groovy adds to texts.

use super::text::{length, padding, part};
use super::{integer, text_of};
use crate::Value;
use crate::class::{Routine, between, routine};

pub(super) const OF_STRINGS: &[Routine] = &[
    routine("takeRight", 1, |machine, of, count| {
        let text = text_of(of)?;
        let whole = length(&text).cast_signed() as i64;
        let from = (whole - integer(&count[0])?.max(0)).max(0);
        machine.text(part(&text, from, whole)?.to_owned())
    }),
    routine("dropRight", 1, |machine, of, count| {
        let text = text_of(of)?;
        let whole = length(&text).cast_signed() as i64;
        let to = (whole - integer(&count[0])?.max(0)).max(0);
        machine.text(part(&text, 0, to)?.to_owned())
    }),
    routine("uncapitalize", 0, |machine, of, _| {
        let text = text_of(of)?;
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_lowercase);
        machine.text(first.chain(letters).collect())
    }),
    between("center", 1, 2, |machine, of, arguments| {
        let text = text_of(of)?;
        let (more, with) = padding(machine, &text, arguments)?;
        let padding = |count: usize| with.chars().cycle().take(count).collect::<String>();
        let (left, right) = (padding(more / 2), padding(more - more / 2));
        machine.text(format!("{left}{text}{right}"))
    }),
    routine("getChars", 0, |machine, of, _| {
        super::call(machine, of, "toCharArray", &[])
    }),
    routine("getAt", 1, |machine, of, at| {
        super::element(machine, of, &at[0])
    }),
    routine("stripLeading", 0, |machine, of, _| {
        machine.text(text_of(of)?.trim_start().to_owned())
    }),
    routine("stripTrailing", 0, |machine, of, _| {
        machine.text(text_of(of)?.trim_end().to_owned())
    }),
    routine("asBoolean", 0, |_, of, _| {
        Ok(Value::Bool(!text_of(of)?.is_empty()))
    }),
];
