//! Reading an expression (XPath 1.0, sections 2 and 3).

use super::tokens::{Token, tokens};

/// What is to be found.
///
/// Operators that bind alike stand side by side: a chain of thousands is not deep.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Or(Vec<Expression>),
    And(Vec<Expression>),
    /// Operands, each but the first with the operator before it.
    Compared(Box<Expression>, Vec<(Comparison, Expression)>),
    Computed(Box<Expression>, Vec<(Operation, Expression)>),
    Negated(Box<Expression>),
    Union(Vec<Expression>),
    Path(Start, Vec<Step>),
    /// An expression of which predicates choose some nodes.
    Filtered(Box<Expression>, Vec<Expression>),
    Text(String),
    Number(f64),
    Variable(String),
    /// The local name and the arguments.
    Call(String, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Plus,
    Minus,
    Times,
    Divided,
    Modulo,
}

/// Where a path begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    Root,
    Here,
    At(Box<Expression>),
}

/// From each node along an axis to those that pass.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Oneself,
}

const AXES: [(&str, Axis); 13] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("namespace", Axis::Namespace),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::Oneself),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Node,
    Text,
    Comment,
    /// With this target, if one is given.
    Instruction(Option<String>),
    /// Of the axis' own kind, with this prefix and this local name; without a local name any.
    Name(Option<String>, Option<String>),
}

const TYPES: [&str; 4] = ["node", "text", "comment", "processing-instruction"];

/// Reads an expression; `None` where it is none. Brackets are not nested deeper than the caller has
/// checked.
pub(crate) fn parse(query: &str) -> Option<Expression> {
    let tokens = tokens(query)?;
    let mut parser = Parser { rest: &tokens };
    let expression = parser.or()?;
    parser.rest.is_empty().then_some(expression)
}

struct Parser<'t, 'q> {
    rest: &'t [Token<'q>],
}

impl<'q> Parser<'_, 'q> {
    fn peek(&self) -> Option<Token<'q>> {
        self.rest.first().copied()
    }

    fn second(&self) -> Option<Token<'q>> {
        self.rest.get(1).copied()
    }

    fn skip(&mut self, count: usize) {
        self.rest = &self.rest[count..];
    }

    fn eat(&mut self, token: Token<'_>) -> bool {
        let is_there = self.peek() == Some(token);
        self.skip(usize::from(is_there));
        is_there
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.eat(Token::Sign(sign))
    }

    fn or(&mut self) -> Option<Expression> {
        let mut all = vec![self.and()?];
        while self.eat(Token::Operator("or")) {
            all.push(self.and()?);
        }
        Some(one_or(all, Expression::Or))
    }

    fn and(&mut self) -> Option<Expression> {
        let mut all = vec![self.equality()?];
        while self.eat(Token::Operator("and")) {
            all.push(self.equality()?);
        }
        Some(one_or(all, Expression::And))
    }

    fn equality(&mut self) -> Option<Expression> {
        let first = self.relation()?;
        let mut others = Vec::new();
        loop {
            let comparison = if self.sign("=") {
                Comparison::Equal
            } else if self.sign("!=") {
                Comparison::Unequal
            } else {
                return Some(compared(first, others));
            };
            others.push((comparison, self.relation()?));
        }
    }

    fn relation(&mut self) -> Option<Expression> {
        let first = self.sum()?;
        let mut others = Vec::new();
        loop {
            let comparison = if self.sign("<=") {
                Comparison::AtMost
            } else if self.sign(">=") {
                Comparison::AtLeast
            } else if self.sign("<") {
                Comparison::Less
            } else if self.sign(">") {
                Comparison::More
            } else {
                return Some(compared(first, others));
            };
            others.push((comparison, self.sum()?));
        }
    }

    fn sum(&mut self) -> Option<Expression> {
        let first = self.product()?;
        let mut others = Vec::new();
        loop {
            let operation = if self.sign("+") {
                Operation::Plus
            } else if self.sign("-") {
                Operation::Minus
            } else {
                return Some(computed(first, others));
            };
            others.push((operation, self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let first = self.negation()?;
        let mut others = Vec::new();
        loop {
            let operation = match self.peek() {
                Some(Token::Operator("*")) => Operation::Times,
                Some(Token::Operator("div")) => Operation::Divided,
                Some(Token::Operator("mod")) => Operation::Modulo,
                _ => return Some(computed(first, others)),
            };
            self.skip(1);
            others.push((operation, self.negation()?));
        }
    }

    fn negation(&mut self) -> Option<Expression> {
        let mut signs = 0;
        while self.sign("-") {
            signs += 1;
        }
        let operand = self.union()?;
        Some(match signs {
            0 => operand,
            // Twice is once as a number.
            even if even % 2 == 0 => {
                Expression::Negated(Box::new(Expression::Negated(Box::new(operand))))
            }
            _ => Expression::Negated(Box::new(operand)),
        })
    }

    fn union(&mut self) -> Option<Expression> {
        let mut all = vec![self.path()?];
        while self.sign("|") {
            all.push(self.path()?);
        }
        Some(one_or(all, Expression::Union))
    }

    fn path(&mut self) -> Option<Expression> {
        if self.sign("/") {
            let steps = if self.starts_step() {
                self.steps(Vec::new())?
            } else {
                Vec::new()
            };
            return Some(Expression::Path(Start::Root, steps));
        }
        if self.sign("//") {
            let steps = self.steps(vec![all_below()])?;
            return Some(Expression::Path(Start::Root, steps));
        }
        if self.starts_step() {
            let steps = self.steps(Vec::new())?;
            return Some(Expression::Path(Start::Here, steps));
        }
        let primary = self.primary()?;
        let predicates = self.predicates()?;
        let filtered = if predicates.is_empty() {
            primary
        } else {
            Expression::Filtered(Box::new(primary), predicates)
        };
        let before = if self.sign("/") {
            Vec::new()
        } else if self.sign("//") {
            vec![all_below()]
        } else {
            return Some(filtered);
        };
        let steps = self.steps(before)?;
        Some(Expression::Path(Start::At(Box::new(filtered)), steps))
    }

    fn starts_step(&self) -> bool {
        match self.peek() {
            Some(Token::Sign(sign)) => matches!(sign, "." | ".." | "@"),
            Some(Token::Any(_)) => true,
            Some(Token::Name(prefix, name)) => {
                let is_type = prefix.is_none() && TYPES.contains(&name);
                self.second() != Some(Token::Sign("(")) || is_type
            }
            _ => false,
        }
    }

    fn steps(&mut self, mut steps: Vec<Step>) -> Option<Vec<Step>> {
        loop {
            steps.push(self.step()?);
            if self.sign("//") {
                steps.push(all_below());
            } else if !self.sign("/") {
                return Some(steps);
            }
        }
    }

    fn step(&mut self) -> Option<Step> {
        let abbreviated = [(".", Axis::Oneself), ("..", Axis::Parent)];
        if let Some((_, axis)) = abbreviated.into_iter().find(|(sign, _)| self.sign(sign)) {
            return Some(Step {
                axis,
                test: Test::Node,
                // Only XPath 2.0 has predicates here.
                predicates: self.predicates()?,
            });
        }
        let axis = if self.sign("@") {
            Axis::Attribute
        } else if self.second() == Some(Token::Sign("::")) {
            let Some(Token::Name(None, name)) = self.peek() else {
                return None;
            };
            self.skip(2);
            AXES.iter().find(|(known, _)| *known == name)?.1
        } else {
            Axis::Child
        };
        let test = self.test()?;
        Some(Step {
            axis,
            test,
            predicates: self.predicates()?,
        })
    }

    fn test(&mut self) -> Option<Test> {
        let owned = |prefix: Option<&str>| prefix.map(str::to_owned);
        let token = self.peek()?;
        self.skip(1);
        match token {
            Token::Any(prefix) => Some(Test::Name(owned(prefix), None)),
            Token::Name(None, kind) if TYPES.contains(&kind) && self.sign("(") => {
                let target = match self.peek() {
                    Some(Token::Text(target)) if kind == TYPES[3] => {
                        self.skip(1);
                        Some(target.to_owned())
                    }
                    _ => None,
                };
                self.sign(")").then_some(match kind {
                    "node" => Test::Node,
                    "text" => Test::Text,
                    "comment" => Test::Comment,
                    _ => Test::Instruction(target),
                })
            }
            Token::Name(prefix, name) => Some(Test::Name(owned(prefix), Some(name.to_owned()))),
            _ => None,
        }
    }

    fn predicates(&mut self) -> Option<Vec<Expression>> {
        let mut predicates = Vec::new();
        while self.sign("[") {
            predicates.push(self.or()?);
            if !self.sign("]") {
                return None;
            }
        }
        Some(predicates)
    }

    fn primary(&mut self) -> Option<Expression> {
        let token = self.peek()?;
        self.skip(1);
        match token {
            Token::Sign("(") => {
                let inner = self.or()?;
                self.sign(")").then_some(inner)
            }
            Token::Text(text) => Some(Expression::Text(text.to_owned())),
            Token::Number(number) => Some(Expression::Number(number)),
            Token::Variable(name) => Some(Expression::Variable(name.to_owned())),
            Token::Name(_, name) if self.sign("(") => {
                let arguments = self.arguments()?;
                Some(Expression::Call(name.to_owned(), arguments))
            }
            _ => None,
        }
    }

    fn arguments(&mut self) -> Option<Vec<Expression>> {
        let mut arguments = Vec::new();
        if self.sign(")") {
            return Some(arguments);
        }
        loop {
            arguments.push(self.or()?);
            if self.sign(")") {
                return Some(arguments);
            }
            if !self.sign(",") {
                return None;
            }
        }
    }
}

/// What `//` stands for between two steps.
fn all_below() -> Step {
    Step {
        axis: Axis::DescendantOrSelf,
        test: Test::Node,
        predicates: Vec::new(),
    }
}

fn one_or(mut all: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    match all.pop() {
        Some(only) if all.is_empty() => only,
        last => {
            all.extend(last);
            several(all)
        }
    }
}

fn compared(first: Expression, others: Vec<(Comparison, Expression)>) -> Expression {
    if others.is_empty() {
        return first;
    }
    Expression::Compared(Box::new(first), others)
}

fn computed(first: Expression, others: Vec<(Operation, Expression)>) -> Expression {
    if others.is_empty() {
        return first;
    }
    Expression::Computed(Box::new(first), others)
}
