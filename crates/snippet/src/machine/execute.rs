//! Statements.

use std::rc::Rc;
use std::sync::Arc;

use super::{Flow, Machine, Stop};
use crate::syntax::{Case, Catch, Expression, ForLoop, Statement, Type};
use crate::value::Thing;
use crate::{Language, Throwable, Value, library};

type Done = Result<Flow, Stop>;

/// What a loop does after a pass.
enum Pass {
    On,
    Ends(Flow),
}

fn pass(flow: Flow) -> Pass {
    match flow {
        Flow::On(_) | Flow::Continue => Pass::On,
        Flow::Break => Pass::Ends(Flow::On(Value::Void)),
        Flow::Return(value) => Pass::Ends(Flow::Return(value)),
    }
}

impl Machine<'_> {
    /// Runs statements; their value is the last one's.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Done {
        let mut last = Value::Void;
        for statement in statements {
            match self.statement(statement)? {
                // In BeanShell only an expression has a value.
                Flow::On(value) => {
                    last = if self.language() == Language::BeanShell
                        && !matches!(statement, Statement::Expression(_))
                    {
                        Value::Void
                    } else {
                        value
                    }
                }
                flow => return Ok(flow),
            }
        }
        Ok(Flow::On(last))
    }

    fn block(&mut self, statements: &[Statement]) -> Done {
        self.scoped(|machine| machine.statements(statements))
    }

    fn statement(&mut self, statement: &Statement) -> Done {
        self.step(1)?;
        self.deeper(|machine| machine.execute(statement))
    }

    fn execute(&mut self, statement: &Statement) -> Done {
        match statement {
            Statement::Expression(expression) => self.evaluate(expression).map(Flow::On),
            Statement::Declare(class, declared) => {
                let mut last = Value::Void;
                for declared in declared {
                    let value = match &declared.value {
                        Some(value) => self.declared(value, class.as_ref())?,
                        None => self.default_of(class.as_ref()),
                    };
                    let value = self.fitting(value, class.as_ref())?;
                    last = value.clone();
                    self.declare(&declared.name, value, class.clone())?;
                }
                Ok(Flow::On(last))
            }
            Statement::Unpack(names, of) => self.unpack(names, of),
            Statement::If(condition, then, otherwise) => {
                if self.holds(condition)? {
                    self.statement(then)
                } else if let Some(otherwise) = otherwise {
                    self.statement(otherwise)
                } else {
                    Ok(Flow::On(Value::Void))
                }
            }
            Statement::While(condition, body) => self.while_loop(condition, body, false),
            Statement::DoWhile(body, condition) => self.while_loop(condition, body, true),
            Statement::For(of) => self.scoped(|machine| machine.for_loop(of)),
            Statement::ForEach { name, of, body } => self.for_each(name, of, body),
            Statement::Switch(of, cases) => self.switch(of, cases),
            Statement::Return(value) => {
                let value = match value {
                    Some(value) => self.evaluate(value)?,
                    None => Value::Null,
                };
                Ok(Flow::Return(value))
            }
            Statement::Break => Ok(Flow::Break),
            Statement::Continue => Ok(Flow::Continue),
            Statement::Throw(thrown) => self.throw(thrown),
            Statement::Try {
                body,
                catches,
                finally,
            } => self.try_statement(body, catches, finally),
            Statement::Block(statements) => self.block(statements),
            Statement::Assert(condition) => self.assert(condition),
            Statement::Nothing => Ok(Flow::On(Value::Void)),
        }
    }

    /// The value that a declaration gives its variable.
    fn declared(&mut self, value: &Expression, class: Option<&Type>) -> Result<Value, Stop> {
        let done = self.evaluate(value);
        if done.is_err()
            && class.is_some()
            && let Some(told) = self.told.as_mut().filter(|told| !told.is_empty())
        {
            told.insert_str(0, "Typed variable declaration : ");
        }
        done
    }

    /// What a declaration without a value gives its variable.
    fn default_of(&self, class: Option<&Type>) -> Value {
        if self.language() == Language::Groovy {
            return library::default_of_field(class);
        }
        match class {
            None => Value::Void,
            Some(_) => library::default_of_field(class),
        }
    }

    fn unpack(&mut self, names: &[Arc<str>], of: &Expression) -> Done {
        let of = self.evaluate(of)?;
        let items = library::items(self, &of)?;
        for (at, name) in names.iter().enumerate() {
            let value = items.get(at).cloned().unwrap_or(Value::Null);
            self.declare(name, value, None)?;
        }
        Ok(Flow::On(of))
    }

    fn while_loop(&mut self, condition: &Expression, body: &Statement, body_first: bool) -> Done {
        let mut is_first = body_first;
        while std::mem::take(&mut is_first) || self.holds(condition)? {
            if let Pass::Ends(flow) = pass(self.statement(body)?) {
                return Ok(flow);
            }
        }
        Ok(Flow::On(Value::Void))
    }

    fn for_loop(&mut self, of: &ForLoop) -> Done {
        for first in &of.first {
            self.statement(first)?;
        }
        loop {
            if let Some(condition) = &of.condition
                && !self.holds(condition)?
            {
                return Ok(Flow::On(Value::Void));
            }
            self.step(1)?;
            if let Pass::Ends(flow) = pass(self.statement(&of.body)?) {
                return Ok(flow);
            }
            for each in &of.each {
                self.evaluate(each)?;
            }
        }
    }

    fn for_each(&mut self, name: &Arc<str>, of: &Expression, body: &Statement) -> Done {
        let of = self.evaluate(of)?;
        let items = library::items(self, &of)?;
        for item in items {
            self.step(1)?;
            let flow = self.scoped(|machine| {
                machine.declare(name, item, None)?;
                machine.statement(body)
            })?;
            if let Pass::Ends(flow) = pass(flow) {
                return Ok(flow);
            }
        }
        Ok(Flow::On(Value::Void))
    }

    fn switch(&mut self, of: &Expression, cases: &[Case]) -> Done {
        let of = self.evaluate(of)?;
        let mut at = None;
        for (place, case) in cases.iter().enumerate() {
            if let Some(case) = &case.of {
                let case = self.evaluate(case)?;
                if library::is_case(self, &case, &of)? {
                    at = Some(place);
                    break;
                }
            }
        }
        let default = || cases.iter().position(|case| case.of.is_none());
        let Some(at) = at.or_else(default) else {
            return Ok(Flow::On(Value::Void));
        };
        self.scoped(|machine| {
            let mut last = Value::Void;
            for case in &cases[at..] {
                for statement in &case.body {
                    match machine.statement(statement)? {
                        Flow::On(value) => last = value,
                        Flow::Break => return Ok(Flow::On(last)),
                        flow => return Ok(flow),
                    }
                }
            }
            Ok(Flow::On(last))
        })
    }

    fn throw(&mut self, thrown: &Expression) -> Done {
        let thrown = self.evaluate(thrown)?;
        match thrown.as_thing() {
            Some(Thing::Thrown(thrown)) => {
                let stop = Stop::Thrown(Rc::clone(thrown));
                self.tell_of(&stop, || "TargetError".to_owned());
                Err(stop)
            }
            _ if thrown.is_null() => Err(Stop::null_pointer("null was thrown")),
            _ => Err(Stop::unknown("throwing what is no exception")),
        }
    }

    fn try_statement(
        &mut self,
        body: &[Statement],
        catches: &[Catch],
        finally: &[Statement],
    ) -> Done {
        let mut done = self.block(body);
        if let Err(Stop::Thrown(thrown)) = &done {
            let thrown = Rc::clone(thrown);
            self.told = None;
            let mut catches = catches.iter();
            if let Some(catch) = catches.find(|catch| catches_class(catch, &thrown)) {
                done = self.scoped(|machine| {
                    let value = Value::thing(Thing::Thrown(thrown));
                    machine.declare(&catch.name, value, None)?;
                    machine.statements(&catch.body)
                });
            }
        }
        if matches!(done, Err(Stop::Bound(_) | Stop::Unknown(_))) {
            return done;
        }
        match self.block(finally)? {
            Flow::On(_) => done,
            flow => Ok(flow),
        }
    }

    fn assert(&mut self, condition: &Expression) -> Done {
        if self.holds(condition)? {
            return Ok(Flow::On(Value::Null));
        }
        let thrown = Throwable::new(
            "org.codehaus.groovy.runtime.powerassert.PowerAssertionError",
            format!("assert in line {}", condition.line),
        );
        Err(Stop::Thrown(Rc::new(thrown)))
    }

    /// Whether a condition holds; Java's languages ask for a boolean.
    pub(super) fn holds(&mut self, condition: &Expression) -> Result<bool, Stop> {
        let value = self.evaluate(condition)?;
        self.truth(&value)
    }
}

fn catches_class(catch: &Catch, thrown: &Throwable) -> bool {
    catch.classes.is_empty()
        || catch
            .classes
            .iter()
            .any(|class| library::is_exception_of(&thrown.class, class))
}
