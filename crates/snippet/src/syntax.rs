//! A script as a tree.
//!
//! A tree has a bounded height, so that walking it needs a bounded stack.

use std::sync::Arc;

use crate::SyntaxError;
use crate::token::Literal;

/// Highest tree of an expression; `a + b + c` is as high as it has terms.
pub(crate) const HEIGHT_MAX: u16 = 200;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) line: u32,
    height: u16,
}

impl Expression {
    pub(crate) fn new(kind: ExpressionKind, line: u32) -> Result<Self, SyntaxError> {
        let height = 1 + kind.height();
        if height > HEIGHT_MAX {
            return Err(SyntaxError::new(line, "an expression is nested too deep"));
        }
        Ok(Self { kind, line, height })
    }
}

/// Any name of a class, with its package or without.
pub(crate) type ClassName = Arc<str>;

/// A type as it is written: its class, and how many arrays around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Type {
    pub(crate) class: ClassName,
    pub(crate) arrays: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    /// One object: `===`.
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Compare,
    /// `=~` of Groovy: a matcher.
    Find,
    /// `==~` of Groovy, `=~` of JEXL: whether all of it matches.
    Match,
    NotMatch,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
    Plus,
    BitNot,
}

/// How a member is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Plain,
    /// `?.`: nothing of nothing.
    Safe,
    /// `*.`: of each element.
    Spread,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExpressionKind {
    Literal(Literal),
    /// A text and the expressions in it.
    Interpolated(Vec<Expression>),
    Name(Arc<str>),
    /// A class by its whole name.
    Class(ClassName),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    Range {
        ends: Box<(Expression, Expression)>,
        inclusive: bool,
    },
    /// `new int[n]`.
    NewArray {
        class: ClassName,
        lengths: Vec<Expression>,
    },
    /// `new int[] {1, 2}`.
    Array {
        class: ClassName,
        items: Vec<Expression>,
    },
    New {
        class: ClassName,
        arguments: Vec<Expression>,
    },
    Property {
        of: Box<Expression>,
        name: Arc<str>,
        access: Access,
    },
    Index(Box<(Expression, Expression)>),
    /// A function of the script, or a closure in a variable.
    Call {
        name: Arc<str>,
        arguments: Vec<Expression>,
    },
    CallMethod {
        of: Box<Expression>,
        name: Arc<str>,
        access: Access,
        arguments: Vec<Expression>,
    },
    Unary(Unary, Box<Expression>),
    Binary(Operator, Box<(Expression, Expression)>),
    And(Box<(Expression, Expression)>),
    Or(Box<(Expression, Expression)>),
    /// Condition, then, else.
    Choice(Box<(Expression, Expression, Expression)>),
    /// `a ?: b`, and `a ?? b` of JEXL.
    Elvis(Box<(Expression, Expression)>),
    Assign {
        operator: Option<Operator>,
        places: Box<(Expression, Expression)>,
    },
    /// `++` and `--`.
    Step {
        of: Box<Expression>,
        by: i8,
        is_prefix: bool,
    },
    Cast(Type, Box<Expression>),
    /// `value as Type` of Groovy, which reads texts.
    As(Type, Box<Expression>),
    IsInstance(Type, Box<Expression>),
    /// The place of its code in [`Program::closures`](crate::Program).
    Closure(usize),
    /// `size(x)`, `empty(x)` of JEXL.
    Empty(Box<Expression>),
    Size(Box<Expression>),
}

impl ExpressionKind {
    /// The expressions right below.
    pub(crate) fn below(&self) -> Vec<&Expression> {
        match self {
            Self::Literal(_) | Self::Name(_) | Self::Class(_) | Self::Closure(_) => Vec::new(),
            Self::Interpolated(all)
            | Self::List(all)
            | Self::NewArray { lengths: all, .. }
            | Self::Array { items: all, .. }
            | Self::New { arguments: all, .. }
            | Self::Call { arguments: all, .. } => all.iter().collect(),
            Self::Map(entries) => entries.iter().flat_map(|(key, of)| [key, of]).collect(),
            Self::CallMethod { of, arguments, .. } => {
                std::iter::once(&**of).chain(arguments).collect()
            }
            Self::Property { of, .. }
            | Self::Unary(_, of)
            | Self::Step { of, .. }
            | Self::Cast(_, of)
            | Self::As(_, of)
            | Self::IsInstance(_, of)
            | Self::Empty(of)
            | Self::Size(of) => vec![of],
            Self::Range { ends: two, .. }
            | Self::Index(two)
            | Self::Binary(_, two)
            | Self::And(two)
            | Self::Or(two)
            | Self::Elvis(two)
            | Self::Assign { places: two, .. } => vec![&two.0, &two.1],
            Self::Choice(three) => vec![&three.0, &three.1, &three.2],
        }
    }

    fn height(&self) -> u16 {
        let below = self.below();
        below.iter().map(|below| below.height).max().unwrap_or(0)
    }
}

/// A variable of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declared {
    pub(crate) name: Arc<str>,
    pub(crate) value: Option<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Catch {
    pub(crate) classes: Vec<ClassName>,
    pub(crate) name: Arc<str>,
    pub(crate) body: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// `None`: the default.
    pub(crate) of: Option<Expression>,
    pub(crate) body: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForLoop {
    pub(crate) first: Vec<Statement>,
    pub(crate) condition: Option<Expression>,
    pub(crate) each: Vec<Expression>,
    pub(crate) body: Statement,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    Expression(Expression),
    /// `None`: without a type.
    Declare(Option<Type>, Vec<Declared>),
    /// `def (a, b) = list`.
    Unpack(Vec<Arc<str>>, Expression),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    DoWhile(Box<Statement>, Expression),
    For(Box<ForLoop>),
    ForEach {
        name: Arc<str>,
        of: Expression,
        body: Box<Statement>,
    },
    Switch(Expression, Vec<Case>),
    Return(Option<Expression>),
    Break,
    Continue,
    Throw(Expression),
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
        finally: Vec<Statement>,
    },
    Block(Vec<Statement>),
    Assert(Expression),
    Nothing,
}

/// The code of a closure or function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    /// `None` for closures without a list of parameters, which have `it`.
    pub(crate) parameters: Option<Vec<Parameter>>,
    pub(crate) body: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) class: Option<Type>,
    pub(crate) name: Arc<str>,
    pub(crate) default: Option<Expression>,
}

/// A function that a script defines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) code: Code,
}
