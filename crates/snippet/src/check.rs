//! Finds what a script needs and this crate does not know, before the script runs.
//!
//! Names of classes are exact. Methods are checked against the class of what they are called on
//! where that shows (what JMeter binds, classes by name, variables with a type, texts), and else
//! against the methods of all classes.

use std::collections::{BTreeMap, BTreeSet};

use crate::Language;
use crate::class::Class;
use crate::library;
use crate::program::{Program, Unknown, expressions_of, for_each_below, statements_below};
use crate::syntax::{Expression, ExpressionKind as Kind, Statement, Type};
use crate::token::Literal;

pub(crate) fn unknown(program: &Program) -> Vec<Unknown> {
    let mut check = Check {
        program,
        variables: BTreeMap::new(),
        objects: BTreeSet::new(),
        unknown: Vec::new(),
    };
    for body in program.bodies() {
        for statement in body {
            check.declare(statement);
        }
    }
    for body in program.bodies() {
        for statement in body {
            check.statement(statement);
        }
    }
    check.unknown.sort();
    check.unknown.dedup();
    check.unknown
}

struct Check<'p> {
    program: &'p Program,
    /// Variables with the class of their type; `None` when it does not show or is not one.
    variables: BTreeMap<&'p str, Option<&'static Class>>,
    /// Variables that are declared with an object.
    objects: BTreeSet<&'p str>,
    unknown: Vec<Unknown>,
}

impl<'p> Check<'p> {
    fn says(&mut self, line: u32, what: String) {
        self.unknown.push(Unknown { line, what });
    }

    fn declare_as(&mut self, name: &'p str, class: Option<&Type>) {
        let class = class
            .filter(|class| class.arrays == 0)
            .and_then(|class| library::class(&class.class));
        let known = self.variables.insert(name, class);
        if let Some(known) = known
            && known.map(|known| known.name) != class.map(|class| class.name)
        {
            // One name, two types: nothing is known of it.
            self.variables.insert(name, None);
        }
    }

    fn declare(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Declare(class, declared) => {
                for declared in declared {
                    self.declare_as(&declared.name, class.as_ref());
                    if declared
                        .value
                        .as_ref()
                        .is_some_and(|value| self.is_object(value))
                    {
                        self.objects.insert(&*declared.name);
                    }
                }
            }
            Statement::ForEach { name, .. } => self.declare_as(name, None),
            Statement::Unpack(names, _) => {
                for name in names {
                    self.declare_as(name, None);
                }
            }
            Statement::Try { catches, .. } => {
                let names = catches.iter().map(|catch| &*catch.name);
                names.for_each(|name| self.declare_as(name, None));
            }
            _ => {}
        }
        for below in statements_below(statement) {
            self.declare(below);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        let line = expressions_of(statement)
            .first()
            .map_or(1, |first| first.line);
        match statement {
            Statement::Declare(Some(class), _) => self.written_type(class, line),
            Statement::Try { catches, .. } => {
                for class in catches.iter().flat_map(|catch| &catch.classes) {
                    if !library::is_exception(class) {
                        self.says(line, format!("the exception {class}"));
                    }
                }
            }
            _ => {}
        }
        for expression in expressions_of(statement) {
            for_each_below(expression, &mut |expression| self.expression(expression));
        }
        for below in statements_below(statement) {
            self.statement(below);
        }
    }

    fn written_type(&mut self, class: &Type, line: u32) {
        if !library::is_type(&class.class) {
            self.says(line, format!("the class {}", class.class));
        }
    }

    fn expression(&mut self, expression: &'p Expression) {
        let line = expression.line;
        match &expression.kind {
            Kind::Class(name) if library::class(name).is_none() => {
                self.says(line, format!("the class {name}"));
            }
            Kind::Name(name) => self.name(name, line),
            Kind::New { class, arguments } if !library::can_be_made(class) => {
                let count = arguments.len();
                self.says(line, format!("new {class}() with {count} argument(s)"));
            }
            Kind::Cast(class, _) | Kind::As(class, _) | Kind::IsInstance(class, _) => {
                self.written_type(class, line);
            }
            Kind::CallMethod {
                of,
                name,
                arguments,
                ..
            } => {
                self.method(of, name, arguments.len(), line);
                self.weeks(name, arguments, line);
                self.shared(of, name, arguments, line);
            }
            Kind::Property { of, name, .. } => self.property(of, name, line),
            Kind::Call { name, .. } => {
                let is_known = self.program.function(name).is_some()
                    || self.variables.contains_key(&**name)
                    || self.is_assigned(name)
                    || library::is_function(name, self.program.language);
                if !is_known {
                    self.says(line, format!("the function {name}"));
                }
            }
            _ => {}
        }
    }

    /// Whether the name is given a value without a declaration, or is a parameter.
    fn is_assigned(&self, name: &str) -> bool {
        let mut is_assigned = false;
        self.program.for_each_expression(&mut |expression| {
            if let Kind::Assign { places, .. } = &expression.kind
                && let Kind::Name(assigned) = &places.0.kind
            {
                is_assigned |= **assigned == *name;
            }
        });
        let functions = self.program.functions.iter().map(|of| &of.code);
        let all = functions.chain(&self.program.closures);
        let mut parameters = all.filter_map(|code| code.parameters.as_ref()).flatten();
        is_assigned || parameters.any(|parameter| *parameter.name == *name)
    }

    /// Names of classes; other names may be variables from anywhere.
    fn name(&mut self, name: &'p str, line: u32) {
        let is_word = matches!(
            name,
            "this" | "super" | "global" | "binding" | "owner" | "delegate"
        );
        let of_java = self.program.language == Language::Groovy;
        let looks_like_class =
            name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase) && of_java;
        if is_word && !self.variables.contains_key(name) && !self.is_assigned(name) {
            self.says(line, format!("the name {name}"));
        } else if looks_like_class
            && library::class(name).is_none()
            && !library::is_bound(name)
            && !self.variables.contains_key(name)
            && !self.is_assigned(name)
        {
            self.says(line, format!("the class or name {name}"));
        }
    }

    fn method(&mut self, of: &'p Expression, name: &str, arguments: usize, line: u32) {
        let found = match self.class_named(of) {
            Some(class) => {
                let is_known = class.function(name, arguments).is_some()
                    || matches!(name, "getName" | "getSimpleName" | "newInstance" | "is");
                (!is_known).then(|| class.short_name())
            }
            None => {
                if let Some(class) = self.class_of(of) {
                    let is_known = library::method(class, name, arguments).is_some();
                    (!is_known).then(|| class.short_name())
                } else {
                    let is_known = library::is_method_of_any(name)
                        || matches!(name, "call" | "doCall" | "asBoolean");
                    (!is_known).then_some("any class")
                }
            }
        };
        if let Some(class) = found {
            self.says(
                line,
                format!("the method {name} with {arguments} argument(s) of {class}"),
            );
        }
    }

    /// Fields of a calendar that depend on where weeks begin.
    fn weeks(&mut self, method: &str, arguments: &[Expression], line: u32) {
        if let Some(Kind::Property { of, name, .. }) = arguments.first().map(|first| &first.kind)
            && let Some(class) = self.class_named(of)
            && class.short_name().ends_with("Calendar")
            && library::is_of_weeks(method, name)
        {
            self.says(
                line,
                format!("where weeks begin, for {method} of Calendar.{name}"),
            );
        }
    }

    /// Objects that users would share through a property.
    fn shared(&mut self, of: &Expression, name: &str, arguments: &[Expression], line: u32) {
        let is_properties = matches!(&of.kind, Kind::Name(name) if **name == *"props");
        if let ([_, value], true) = (arguments, is_properties && name == "put")
            && self.is_object(value)
        {
            let what = "a property that holds an object, which users share";
            self.says(line, what.to_owned());
        }
    }

    /// Whether an expression gives what is no text, number or truth value, where that shows.
    fn is_object(&self, of: &Expression) -> bool {
        match &of.kind {
            Kind::Closure(_) | Kind::List(_) | Kind::Map(_) | Kind::Range { .. } => true,
            Kind::New { class, .. } => !matches!(
                &**class,
                "String" | "Integer" | "Long" | "Double" | "BigDecimal" | "Boolean"
            ),
            Kind::Name(name) => self.objects.contains(&**name),
            _ => false,
        }
    }

    fn property(&mut self, of: &'p Expression, name: &str, line: u32) {
        if let Some(class) = self.class_named(of) {
            let is_known = class.constants.iter().any(|(known, _)| *known == name)
                || library::is_property_of_any(name);
            if !is_known {
                self.says(line, format!("{}.{name}", class.short_name()));
            }
        }
    }

    /// The class that an expression names.
    fn class_named(&self, of: &Expression) -> Option<&'static Class> {
        match &of.kind {
            Kind::Class(name) => library::class(name),
            Kind::Name(name)
                if !self.variables.contains_key(&**name)
                    && !self.program.language.is_jexl()
                    && !library::is_bound(name)
                    && name.starts_with(char::is_uppercase) =>
            {
                library::class(name)
            }
            _ => None,
        }
    }

    /// The class of what an expression gives, where that shows.
    fn class_of(&self, of: &Expression) -> Option<&'static Class> {
        match &of.kind {
            Kind::Literal(Literal::Text(_)) | Kind::Interpolated(_) => library::class("String"),
            Kind::Name(name) => match self.variables.get(&**name) {
                Some(class) => *class,
                None if self.is_assigned(name) => None,
                None => library::bound_class(name),
            },
            Kind::New { class, .. } => library::class(class),
            _ => None,
        }
    }
}
