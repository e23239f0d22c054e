//! Operators by their names, as Groovy calls them.

use crate::class::{Routine, routine};
use crate::syntax::Operator;

pub(super) const OPERATORS: &[Routine] = &[
    routine("plus", 1, |machine, of, by| {
        machine.binary(Operator::Plus, of, &by[0])
    }),
    routine("minus", 1, |machine, of, by| {
        machine.binary(Operator::Minus, of, &by[0])
    }),
    routine("multiply", 1, |machine, of, by| {
        machine.binary(Operator::Times, of, &by[0])
    }),
    routine("div", 1, |machine, of, by| {
        machine.binary(Operator::Divide, of, &by[0])
    }),
    routine("mod", 1, |machine, of, by| {
        machine.binary(Operator::Remainder, of, &by[0])
    }),
    routine("power", 1, |machine, of, by| {
        machine.binary(Operator::Power, of, &by[0])
    }),
];
