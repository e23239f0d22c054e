//! Calls of functions, closures and methods.

use std::sync::Arc;

use super::{Flow, Machine, Stop};
use crate::class::Answer;
use crate::syntax::{Access, Code, Expression, ExpressionKind};
use crate::value::{Closure, Thing};
use crate::{Language, Value, library};

impl Machine<'_> {
    /// `name(…)`: a function of the script, a closure in a variable, or a function of the language.
    pub(super) fn call_function(&mut self, name: &Arc<str>, arguments: &[Expression]) -> Answer {
        let arguments = self.all(arguments)?;
        let program = self.program;
        if let Some(function) = program.function(name) {
            let accepts = function
                .code
                .parameters
                .as_ref()
                .is_none_or(|parameters| parameters.len() >= arguments.len());
            if accepts {
                return self.call_code(&function.code, 0, true, &arguments);
            }
        }
        if let Some(local) = self.local(name)
            && let Some(Thing::Closure(closure)) = local.value.as_thing()
        {
            let closure = closure.clone();
            return self.call_closure(&closure, &arguments);
        }
        library::call_function(self, name, &arguments)
    }

    pub(super) fn call_method(
        &mut self,
        of: &Expression,
        name: &Arc<str>,
        access: Access,
        written: &[Expression],
    ) -> Answer {
        let place = of;
        let of = self.evaluate(of)?;
        if access == Access::Safe && of.is_null() {
            return Ok(Value::Null);
        }
        let arguments = self.all(written)?;
        if let (Value::Void, Language::BeanShell) = (&of, self.language()) {
            let variable = path(place);
            return Err(Stop::thrown(
                "bsh.EvalError",
                format!(
                    "Attempt to resolve method: {name}() on undefined variable or class name: \
                     {variable}"
                ),
            ));
        }
        if access == Access::Spread {
            let items = library::items(self, &of)?;
            let mut spread = Vec::with_capacity(items.len());
            for item in &items {
                self.step(1)?;
                spread.push(library::call(self, item, name, &arguments)?);
            }
            return self.list(spread);
        }
        // `remove((Object) 2)` takes the item 2, not the one at place 2.
        let is_by_value = matches!(
            written,
            [Expression { kind: ExpressionKind::Cast(class, _), .. }] if &*class.class == "Object"
        );
        let name: &str = match &**name {
            "remove" if is_by_value && of.as_list().is_some() => "removeElement",
            name => name,
        };
        let done = library::call(self, &of, name, &arguments);
        if let Err(stop) = &done {
            self.tell_of(stop, || match of {
                Value::Null => String::new(),
                _ => format!("Method Invocation {}.{name}", path(place)),
            });
        }
        done
    }

    /// Calls a closure with these arguments.
    pub(crate) fn call_closure(&mut self, closure: &Closure, arguments: &[Value]) -> Answer {
        if !self.is_own(closure) {
            return Err(Stop::unknown("closures of other scripts"));
        }
        let program = self.program;
        let code = &program.closures[closure.code];
        // A closure of several parameters takes a list apart.
        if let (Some(parameters), [one]) = (&code.parameters, arguments)
            && parameters.len() > 1
            && let Some(list) = one.as_list()
        {
            let items = list.items.borrow().clone();
            self.takes_arguments(code, items.len())?;
            return self.call_code(code, closure.scope, false, &items);
        }
        self.takes_arguments(code, arguments.len())?;
        self.call_code(code, closure.scope, false, arguments)
    }

    /// Whether a closure may be called with so many arguments: nothing stands for the only one.
    fn takes_arguments(&self, code: &Code, count: usize) -> Result<(), Stop> {
        if self.language() != Language::Groovy {
            return Ok(());
        }
        let (least, most) = match &code.parameters {
            None => (0, 1),
            Some(parameters) => {
                let needed = parameters
                    .iter()
                    .filter(|one| one.default.is_none())
                    .count();
                (if needed == 1 { 0 } else { needed }, parameters.len())
            }
        };
        if (least..=most).contains(&count) {
            return Ok(());
        }
        Err(Stop::thrown(
            "groovy.lang.MissingMethodException",
            format!("No signature of method: call() is applicable for {count} argument(s)"),
        ))
    }

    /// Calls what must be a closure.
    pub(crate) fn call_value(&mut self, closure: &Value, arguments: &[Value]) -> Answer {
        match closure.as_thing() {
            Some(Thing::Closure(closure)) => {
                let closure = closure.clone();
                self.call_closure(&closure, arguments)
            }
            _ => Err(Stop::unknown("a call of what is no closure")),
        }
    }

    fn call_code(
        &mut self,
        code: &Code,
        parent: usize,
        is_function: bool,
        arguments: &[Value],
    ) -> Answer {
        self.step(1)?;
        let is_own_root = is_function && self.language() == Language::BeanShell;
        let root = if is_own_root {
            self.scopes.len()
        } else {
            self.scopes[parent].root
        };
        let flow = self.deeper(|machine| {
            machine.scoped_in(parent, root, |machine| {
                machine.bind(code, arguments)?;
                machine.statements(&code.body)
            })
        })?;
        Ok(match flow {
            Flow::On(Value::Void) => Value::Null,
            Flow::On(value) if self.language() == Language::Groovy => value,
            Flow::Return(value) => value,
            _ => Value::Null,
        })
    }

    fn bind(&mut self, code: &Code, arguments: &[Value]) -> Result<(), Stop> {
        let Some(parameters) = &code.parameters else {
            let it = arguments.first().cloned().unwrap_or(Value::Null);
            return self.declare(&"it".into(), it, None);
        };
        for (at, parameter) in parameters.iter().enumerate() {
            let value = match (arguments.get(at), &parameter.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.evaluate(default)?,
                (None, None) => Value::Null,
            };
            let value = self.fitting(value, parameter.class.as_ref())?;
            self.declare(&parameter.name, value, parameter.class.clone())?;
        }
        Ok(())
    }
}

/// A name with dots, as it is written.
pub(super) fn path(of: &Expression) -> String {
    match &of.kind {
        ExpressionKind::Name(name) | ExpressionKind::Class(name) => name.to_string(),
        ExpressionKind::Property { of, name, .. } => format!("{}.{name}", path(of)),
        _ => String::new(),
    }
}
