//! Evaluating an expression on a document (XPath 1.0, sections 2 and 3).

use std::cmp::Ordering;
use std::collections::HashSet;

use super::super::tree::{Node, QName, Tree};
use super::functions;
use super::index::{Entry, Index, Place};
use super::parse::{Axis, Comparison, Expression, Operation, Start, Step, Test};
use super::value::{Reading, Trouble, Value, number_of};
use crate::bounds::{Budget, TooMuch};

/// What an expression gave.
#[derive(Debug)]
pub(crate) enum Evaluation<'d> {
    Nodes(Vec<Node<'d>>),
    Value(Value),
}

/// Evaluates an expression at the root of a document. `names` are the prefixes and what they stand
/// for, `is_two` says whether functions of XPath 2.0 are known.
pub(crate) fn evaluate<'d>(
    expression: &Expression,
    document: &'d Tree,
    names: &[(String, String)],
    is_two: bool,
) -> Result<Evaluation<'d>, Trouble> {
    let budget = Budget::default();
    let index = Index::of(document, asks_for_namespaces(expression), &budget)?;
    let evaluator = Evaluator {
        index: &index,
        budget: &budget,
        names,
        is_two,
    };
    let root = Here {
        place: 0,
        position: 1,
        size: 1,
    };
    Ok(match evaluator.value(expression, root)? {
        Value::Nodes(places) => {
            let node = |place: &Place| index.entry(*place).node;
            Evaluation::Nodes(places.iter().map(node).collect())
        }
        value => Evaluation::Value(value),
    })
}

/// The node at which an expression is evaluated, and its place among those that stand for choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here {
    pub(super) place: Place,
    pub(super) position: usize,
    pub(super) size: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluator<'e, 'd> {
    pub(super) index: &'e Index<'d>,
    pub(super) budget: &'e Budget,
    names: &'e [(String, String)],
    pub(super) is_two: bool,
}

type Evaluated<T> = Result<T, Trouble>;

impl<'e, 'd> Evaluator<'e, 'd> {
    pub(super) fn reading(&self) -> Reading<'e, 'd> {
        Reading {
            index: self.index,
            budget: self.budget,
        }
    }

    pub(super) fn value(&self, expression: &Expression, here: Here) -> Evaluated<Value> {
        self.budget.step(1)?;
        match expression {
            Expression::Or(all) => self.any(all, here, true),
            Expression::And(all) => self.any(all, here, false),
            Expression::Compared(first, others) => self.compared(first, others, here),
            Expression::Computed(first, others) => self.computed(first, others, here),
            Expression::Negated(operand) => Ok(Value::Number(-self.number(operand, here)?)),
            Expression::Union(all) => {
                let mut union = Vec::new();
                for one in all {
                    union.append(&mut self.nodes(one, here)?);
                }
                Ok(Value::Nodes(self.in_order(union)?))
            }
            Expression::Path(start, steps) => {
                let mut nodes = match start {
                    Start::Root => vec![0],
                    Start::Here => vec![here.place],
                    Start::At(expression) => self.nodes(expression, here)?,
                };
                for step in steps {
                    nodes = self.step(step, &nodes)?;
                }
                Ok(Value::Nodes(nodes))
            }
            Expression::Filtered(expression, predicates) => {
                let mut nodes = self.nodes(expression, here)?;
                for predicate in predicates {
                    nodes = self.chosen(predicate, nodes)?;
                }
                Ok(Value::Nodes(nodes))
            }
            Expression::Text(text) => Ok(Value::Text(text.clone())),
            Expression::Number(number) => Ok(Value::Number(*number)),
            Expression::Variable(name) => Err(Trouble::Variable(name.clone())),
            Expression::Call(name, arguments) => functions::call(self, name, arguments, here),
        }
    }

    fn any(&self, all: &[Expression], here: Here, wanted: bool) -> Evaluated<Value> {
        for one in all {
            if self.value(one, here)?.boolean() == wanted {
                return Ok(Value::Boolean(wanted));
            }
        }
        Ok(Value::Boolean(!wanted))
    }

    pub(super) fn nodes(&self, expression: &Expression, here: Here) -> Evaluated<Vec<Place>> {
        match self.value(expression, here)? {
            Value::Nodes(nodes) => Ok(nodes),
            _ => Err(Trouble::NoNodes),
        }
    }

    pub(super) fn number(&self, expression: &Expression, here: Here) -> Evaluated<f64> {
        Ok(self.value(expression, here)?.number(self.reading())?)
    }

    pub(super) fn text(&self, expression: &Expression, here: Here) -> Evaluated<String> {
        Ok(self.value(expression, here)?.text(self.reading())?)
    }

    fn computed(
        &self,
        first: &Expression,
        others: &[(Operation, Expression)],
        here: Here,
    ) -> Evaluated<Value> {
        let mut result = self.number(first, here)?;
        for (operation, operand) in others {
            let operand = self.number(operand, here)?;
            match operation {
                Operation::Plus => result += operand,
                Operation::Minus => result -= operand,
                Operation::Times => result *= operand,
                Operation::Divided => result /= operand,
                Operation::Modulo => result %= operand,
            }
        }
        Ok(Value::Number(result))
    }

    fn compared(
        &self,
        first: &Expression,
        others: &[(Comparison, Expression)],
        here: Here,
    ) -> Evaluated<Value> {
        let mut result = self.value(first, here)?;
        for (comparison, operand) in others {
            let operand = self.value(operand, here)?;
            result = Value::Boolean(self.holds(*comparison, result, operand)?);
        }
        Ok(result)
    }

    /// Whether a comparison holds; of nodes, whether it does for any of them (section 3.4).
    fn holds(&self, comparison: Comparison, left: Value, right: Value) -> Evaluated<bool> {
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::Unequal);
        let reading = self.reading();
        Ok(match (left, right) {
            (Value::Boolean(left), right) if !is_order => {
                (left == right.boolean()) == (comparison == Comparison::Equal)
            }
            (left, Value::Boolean(right)) if !is_order => {
                (left.boolean() == right) == (comparison == Comparison::Equal)
            }
            (Value::Nodes(left), Value::Nodes(right)) if is_order => {
                self.any_in_order(comparison, &left, &right)?
            }
            (Value::Nodes(left), Value::Nodes(right)) => {
                let (left, right) = (self.texts(&left)?, self.texts(&right)?);
                if comparison == Comparison::Equal {
                    !left.is_disjoint(&right)
                } else {
                    let both = left.len() + right.len();
                    !left.is_empty() && !right.is_empty() && (both > 2 || left != right)
                }
            }
            (Value::Nodes(nodes), Value::Text(text)) | (Value::Text(text), Value::Nodes(nodes))
                if !is_order =>
            {
                let mut any = false;
                for node in nodes {
                    let is_equal = self.index.text(node, self.budget)? == text;
                    any |= is_equal == (comparison == Comparison::Equal);
                }
                any
            }
            (Value::Nodes(nodes), other) if !matches!(other, Value::Boolean(_)) => {
                let other = other.number(reading)?;
                self.any_number(&nodes, |number| compare(comparison, number, other))?
            }
            (other, Value::Nodes(nodes)) if !matches!(other, Value::Boolean(_)) => {
                let other = other.number(reading)?;
                self.any_number(&nodes, |number| compare(comparison, other, number))?
            }
            (Value::Text(left), Value::Text(right)) if !is_order => {
                (left == right) == (comparison == Comparison::Equal)
            }
            (left, right) => {
                let number = |value: Value| match value {
                    Value::Nodes(nodes) => Ok(f64::from(u8::from(!nodes.is_empty()))),
                    value => value.number(reading),
                };
                compare(comparison, number(left)?, number(right)?)
            }
        })
    }

    fn texts(&self, nodes: &[Place]) -> Result<HashSet<String>, TooMuch> {
        let text = |place: &Place| self.index.text(*place, self.budget);
        nodes.iter().map(text).collect()
    }

    fn any_number(&self, nodes: &[Place], holds: impl Fn(f64) -> bool) -> Result<bool, TooMuch> {
        let mut any = false;
        for place in nodes {
            any |= holds(number_of(&self.index.text(*place, self.budget)?));
        }
        Ok(any)
    }

    /// Whether any of these numbers is on this side of any of those: the ends tell.
    fn any_in_order(
        &self,
        comparison: Comparison,
        left: &[Place],
        right: &[Place],
    ) -> Result<bool, TooMuch> {
        let ends = |nodes: &[Place]| -> Result<Option<(f64, f64)>, TooMuch> {
            let mut ends: Option<(f64, f64)> = None;
            for place in nodes {
                let number = number_of(&self.index.text(*place, self.budget)?);
                if !number.is_nan() {
                    let (low, high) = ends.unwrap_or((number, number));
                    ends = Some((low.min(number), high.max(number)));
                }
            }
            Ok(ends)
        };
        let (Some(left), Some(right)) = (ends(left)?, ends(right)?) else {
            return Ok(false);
        };
        Ok(match comparison {
            Comparison::Less | Comparison::AtMost => compare(comparison, left.0, right.1),
            _ => compare(comparison, left.1, right.0),
        })
    }

    /// From each node along the axis, with the predicates counted anew.
    fn step(&self, step: &Step, from: &[Place]) -> Evaluated<Vec<Place>> {
        let mut reached = Vec::new();
        // Behind all that is below a node before.
        let mut below = 0;
        let is_below = matches!(step.axis, Axis::Descendant | Axis::DescendantOrSelf);
        for &place in from {
            if is_below && step.predicates.is_empty() && !self.index.entry(place).is_beside() {
                // What is below it was reached from the node that holds it.
                if place < below {
                    continue;
                }
                below = self.index.entry(place).end;
            }
            let mut nodes = Vec::new();
            self.along(step, place, &mut nodes)?;
            for predicate in &step.predicates {
                nodes = self.chosen(predicate, nodes)?;
            }
            reached.append(&mut nodes);
        }
        Ok(self.in_order(reached)?)
    }

    fn in_order(&self, mut nodes: Vec<Place>) -> Result<Vec<Place>, TooMuch> {
        self.budget.step(nodes.len())?;
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// The nodes for which a predicate holds; a number is a position.
    fn chosen(&self, predicate: &Expression, nodes: Vec<Place>) -> Evaluated<Vec<Place>> {
        let size = nodes.len();
        let mut chosen = Vec::new();
        for (place, position) in nodes.into_iter().zip(1..) {
            let here = Here {
                place,
                position,
                size,
            };
            let holds = match self.value(predicate, here)? {
                Value::Number(number) => compare(Comparison::Equal, number, position as f64),
                value => value.boolean(),
            };
            if holds {
                chosen.push(place);
            }
        }
        Ok(chosen)
    }

    /// The nodes of an axis that pass its test, the nearest first.
    fn along(&self, step: &Step, place: Place, nodes: &mut Vec<Place>) -> Result<(), TooMuch> {
        let entries = &self.index.entries;
        let entry = &entries[place as usize];
        let mut look = |at: Place| -> Result<(), TooMuch> {
            self.budget.step(1)?;
            if self.passes(step, &entries[at as usize]) {
                nodes.push(at);
            }
            Ok(())
        };
        let is_inside = |at: &Place| !entries[*at as usize].is_beside();
        let up =
            |from: Option<Place>| std::iter::successors(from, |at| entries[*at as usize].parent);
        match step.axis {
            Axis::Oneself => look(place),
            Axis::Parent => entry.parent.map_or(Ok(()), look),
            Axis::Ancestor => up(entry.parent).try_for_each(look),
            Axis::AncestorOrSelf => up(Some(place)).try_for_each(look),
            Axis::Attribute | Axis::Namespace => (place + 1..entry.inner).try_for_each(look),
            Axis::Child => self.siblings(entry.inner, entry.end).try_for_each(look),
            Axis::Descendant => self.inside(entry.inner, entry.end, look),
            Axis::DescendantOrSelf => {
                look(place)?;
                self.inside(entry.inner, entry.end, look)
            }
            Axis::FollowingSibling | Axis::PrecedingSibling if entry.is_beside() => Ok(()),
            Axis::FollowingSibling => {
                let end = entry
                    .parent
                    .map_or(0, |parent| entries[parent as usize].end);
                self.siblings(entry.end, end).try_for_each(look)
            }
            Axis::PrecedingSibling => {
                let inner = entry
                    .parent
                    .map_or(place, |parent| entries[parent as usize].inner);
                let before: Vec<Place> = self.siblings(inner, place).collect();
                self.budget.step(before.len())?;
                before.into_iter().rev().try_for_each(look)
            }
            Axis::Following => self.inside(entry.end, entries.len() as Place, look),
            Axis::Preceding => (0..place).rev().filter(is_inside).try_for_each(|at| {
                // What has not ended before is an ancestor.
                if entries[at as usize].end <= place {
                    look(at)
                } else {
                    self.budget.step(1)
                }
            }),
        }
    }

    fn inside(
        &self,
        from: Place,
        to: Place,
        mut look: impl FnMut(Place) -> Result<(), TooMuch>,
    ) -> Result<(), TooMuch> {
        for at in from..to {
            if self.index.entry(at).is_beside() {
                self.budget.step(1)?;
            } else {
                look(at)?;
            }
        }
        Ok(())
    }

    /// The nodes beside each other from one to the end of their parent.
    fn siblings(&self, from: Place, end: Place) -> impl Iterator<Item = Place> + 'e {
        let index = self.index;
        let is_there = move |at: &Place| *at < end;
        std::iter::successors(Some(from).filter(is_there), move |at| {
            Some(index.entry(*at).end).filter(is_there)
        })
    }

    fn passes(&self, step: &Step, entry: &Entry<'d>) -> bool {
        match &step.test {
            Test::Node => match step.axis {
                Axis::Attribute => matches!(entry.node, Node::Attribute(_)),
                Axis::Namespace => matches!(entry.node, Node::Namespace(_)),
                _ => true,
            },
            Test::Text => matches!(entry.node, Node::Text(_)),
            Test::Comment => matches!(entry.node, Node::Comment(_)),
            Test::Instruction(target) => match entry.node {
                Node::Instruction(instruction) => target
                    .as_ref()
                    .is_none_or(|target| target == instruction.target),
                _ => false,
            },
            Test::Name(prefix, local) => {
                let (prefix, local) = (prefix.as_deref(), local.as_deref());
                match (step.axis, entry.node) {
                    (Axis::Attribute, Node::Attribute(attribute)) => {
                        self.is_called(prefix, local, attribute.name())
                    }
                    (Axis::Namespace, Node::Namespace(namespace)) => {
                        let name = QName {
                            uri: None,
                            local: namespace.prefix,
                        };
                        self.is_called(prefix, local, name)
                    }
                    (Axis::Attribute | Axis::Namespace, _) => false,
                    (_, Node::Element(element)) => self.is_called(prefix, local, element.name()),
                    _ => false,
                }
            }
        }
    }

    fn is_called(&self, prefix: Option<&str>, local: Option<&str>, name: QName<'_>) -> bool {
        let uri = prefix.map(|prefix| {
            let found = self.names.iter().rfind(|(known, _)| known == prefix);
            found.map_or("", |(_, uri)| uri.as_str())
        });
        match local {
            None if uri.is_none() => true,
            None => uri == name.uri,
            Some(local) => uri == name.uri && local == name.local,
        }
    }
}

fn compare(comparison: Comparison, left: f64, right: f64) -> bool {
    // Of what is no number nothing holds but that it is unequal.
    let order = left.partial_cmp(&right);
    match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::Unequal => order != Some(Ordering::Equal),
        Comparison::Less => left < right,
        Comparison::AtMost => left <= right,
        Comparison::More => left > right,
        Comparison::AtLeast => left >= right,
    }
}

/// Whether the namespaces of elements are looked at.
fn asks_for_namespaces(expression: &Expression) -> bool {
    let any = |all: &[Expression]| all.iter().any(asks_for_namespaces);
    match expression {
        Expression::Or(all) | Expression::And(all) | Expression::Union(all) => any(all),
        Expression::Compared(first, others) => {
            asks_for_namespaces(first) || others.iter().any(|(_, one)| asks_for_namespaces(one))
        }
        Expression::Computed(first, others) => {
            asks_for_namespaces(first) || others.iter().any(|(_, one)| asks_for_namespaces(one))
        }
        Expression::Negated(one) => asks_for_namespaces(one),
        Expression::Path(start, steps) => {
            matches!(start, Start::At(one) if asks_for_namespaces(one))
                || steps
                    .iter()
                    .any(|step| step.axis == Axis::Namespace || any(&step.predicates))
        }
        Expression::Filtered(one, predicates) => asks_for_namespaces(one) || any(predicates),
        Expression::Call(_, arguments) => any(arguments),
        Expression::Text(_) | Expression::Number(_) | Expression::Variable(_) => false,
    }
}
