//! Runs a script: walks its tree, within bounds.

mod assign;
mod call;
mod evaluate;
mod execute;

use std::rc::Rc;
use std::sync::Arc;

use crate::host::{Bindings, Host, Place};
use crate::library;
use crate::program::{Failure, Program, State, Unknown};
use crate::syntax::Type;
use crate::value::Thing;
use crate::{Language, Throwable, Value, work};

/// Most steps of one run: a step is an expression, a statement, or an item that a method goes over.
pub const STEPS_MAX: u64 = 5_000_000;
/// Most bytes that the texts and lists of one run may take, all that it ever made together.
pub const BYTES_MAX: usize = 64 << 20;
/// Deepest nesting of expressions, statements and calls at one moment.
const DEPTH_MAX: u32 = 250;

/// Why a script does not go on.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    Thrown(Rc<Throwable>),
    Unknown(String),
    Bound(&'static str),
}

impl Stop {
    pub(crate) fn thrown(class: &str, message: impl AsRef<str>) -> Self {
        Self::Thrown(Rc::new(Throwable::new(class, message)))
    }

    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self::Unknown(what.into())
    }

    pub(crate) fn null_pointer(what: impl AsRef<str>) -> Self {
        Self::thrown("java.lang.NullPointerException", what)
    }
}

/// What a statement does to the ones after it.
enum Flow {
    On(Value),
    Return(Value),
    Break,
    Continue,
}

/// A variable.
struct Local {
    name: Arc<str>,
    value: Value,
    class: Option<Type>,
}

/// Names that are seen together.
struct Scope {
    locals: Vec<Local>,
    /// The scope around it; the outermost is its own.
    parent: usize,
    /// The scope where names without a declaration go.
    root: usize,
}

/// One run of one script.
pub(crate) struct Machine<'m> {
    pub(crate) program: &'m Program,
    pub(crate) host: &'m mut dyn Host,
    pub(crate) bindings: &'m mut Bindings,
    state: &'m mut State,
    /// Scope 0 has the names without a declaration.
    scopes: Vec<Scope>,
    scope: usize,
    /// Closures that were made so far: their scopes stay.
    closures: u64,
    run: Rc<()>,
    /// What `BeanShell` says of the exception that is on its way.
    told: Option<String>,
    line: u32,
    steps: u64,
    bytes: usize,
    depth: u32,
}

impl<'m> Machine<'m> {
    pub(crate) fn new(
        program: &'m Program,
        host: &'m mut dyn Host,
        bindings: &'m mut Bindings,
        state: &'m mut State,
    ) -> Self {
        Self {
            program,
            host,
            bindings,
            state,
            scopes: Vec::new(),
            scope: 0,
            closures: 0,
            run: Rc::new(()),
            told: None,
            line: 1,
            steps: 0,
            bytes: 0,
            depth: 0,
        }
    }

    pub(crate) fn run(mut self) -> Result<Value, Failure> {
        // What others have done is not this run's.
        work::take_steps();
        let names = std::mem::take(&mut self.state.names);
        let locals = names.into_iter().map(|(name, value)| Local {
            name,
            value,
            class: None,
        });
        self.scopes.push(Scope {
            locals: locals.collect(),
            parent: 0,
            root: 0,
        });
        if self.language() == Language::Groovy {
            // What a script declares is not seen by its functions.
            self.enter(0, 0);
        }
        let program = self.program;
        let done = self.statements(&program.statements);
        // The last call may have been too much.
        let done = done.and_then(|flow| self.step(0).map(|()| flow));
        let globals = self.scopes.swap_remove(0).locals;
        self.state.names = globals
            .into_iter()
            .map(|local| (local.name, local.value))
            .collect();
        match done {
            Ok(Flow::On(value) | Flow::Return(value)) => Ok(value),
            Ok(Flow::Break | Flow::Continue) => Ok(Value::Null),
            Err(Stop::Thrown(thrown)) => Err(Failure::Thrown(Throwable {
                told: self.told.take().map(Arc::from),
                ..(*thrown).clone()
            })),
            Err(Stop::Bound(says)) => Err(Failure::Bound(says)),
            Err(Stop::Unknown(what)) => Err(Failure::Unknown(Unknown {
                line: self.line,
                what,
            })),
        }
    }

    pub(crate) fn language(&self) -> Language {
        self.program.language
    }

    pub(crate) fn place(&self) -> Place {
        self.bindings.place
    }

    /// Counts steps.
    pub(crate) fn step(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self
            .steps
            .saturating_add(steps as u64)
            .saturating_add(work::take_steps());
        if self.steps > STEPS_MAX {
            return Err(Stop::Bound("it takes too many steps"));
        }
        Ok(())
    }

    /// Counts bytes of what is made.
    pub(crate) fn takes_bytes(&mut self, bytes: usize) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_MAX {
            return Err(Stop::Bound("it takes too much memory"));
        }
        // What is long takes time too.
        self.step(bytes / 64)
    }

    /// A new text.
    pub(crate) fn text(&mut self, text: String) -> Result<Value, Stop> {
        self.takes_bytes(text.len())?;
        Ok(Value::text(text))
    }

    /// The text of a value as the language makes it.
    pub(crate) fn shown(&mut self, value: &Value) -> Result<String, Stop> {
        if let Some(Thing::Json(_) | Thing::Calendar(_) | Thing::Cookie(_)) = value.as_thing() {
            let text = library::call(self, value, "toString", &[])?;
            return Ok(text.to_text());
        }
        Ok(match self.language() {
            Language::Groovy => value.to_groovy_text(),
            _ => value.to_text(),
        })
    }

    /// A new list.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Result<Value, Stop> {
        self.takes_bytes(items.len() * size_of::<Value>())?;
        Ok(Value::list(items))
    }

    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.depth -= 1;
            // A script could catch Java's error of the same kind; here it ends.
            return Err(Stop::Bound("it calls itself or is nested too deep"));
        }
        let done = run(self);
        self.depth -= 1;
        done
    }

    /// Begins a scope inside of another.
    fn enter(&mut self, parent: usize, root: usize) -> usize {
        self.scopes.push(Scope {
            locals: Vec::new(),
            parent,
            root,
        });
        std::mem::replace(&mut self.scope, self.scopes.len() - 1)
    }

    /// Runs something in a scope of its own.
    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let root = self.scopes[self.scope].root;
        self.scoped_in(self.scope, root, run)
    }

    fn scoped_in<T>(
        &mut self,
        parent: usize,
        root: usize,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (count, closures) = (self.scopes.len(), self.closures);
        let outer = self.enter(parent, root);
        let done = run(self);
        self.scope = outer;
        if self.closures == closures {
            self.scopes.truncate(count);
        } else {
            // A closure may still see it.
            self.takes_bytes(size_of::<Scope>())?;
        }
        done
    }

    /// A variable by its name, from the inside out.
    fn local(&mut self, name: &str) -> Option<&mut Local> {
        let mut at = self.scope;
        loop {
            let scope = &self.scopes[at];
            let found = scope.locals.iter().position(|local| *local.name == *name);
            if let Some(found) = found {
                return self.scopes[at].locals.get_mut(found);
            }
            if at == scope.parent {
                return None;
            }
            at = scope.parent;
        }
    }

    fn declare(&mut self, name: &Arc<str>, value: Value, class: Option<Type>) -> Result<(), Stop> {
        self.declare_in(self.scope, name, value, class)
    }

    fn declare_in(
        &mut self,
        scope: usize,
        name: &Arc<str>,
        value: Value,
        class: Option<Type>,
    ) -> Result<(), Stop> {
        self.takes_bytes(size_of::<Local>())?;
        let locals = &mut self.scopes[scope].locals;
        let local = Local {
            name: Arc::clone(name),
            value,
            class,
        };
        match locals.iter_mut().find(|local| *local.name == **name) {
            Some(known) => *known = local,
            None => locals.push(local),
        }
        Ok(())
    }

    /// What a name stands for; `None` if it is not bound.
    fn name(&mut self, name: &str) -> Option<Value> {
        if let Some(local) = self.local(name) {
            return Some(local.value.clone());
        }
        library::bound(self, name)
    }

    /// What `BeanShell` will say of an exception; the innermost place knows it best.
    fn tell_of(&mut self, stop: &Stop, says: impl FnOnce() -> String) {
        if self.language() == Language::BeanShell
            && self.told.is_none()
            && let Stop::Thrown(thrown) = stop
            && &*thrown.class != "bsh.EvalError"
        {
            self.told = Some(says());
        }
    }

    /// Whether the closure belongs to this run.
    fn is_own(&self, closure: &crate::value::Closure) -> bool {
        Rc::ptr_eq(&closure.run, &self.run)
    }

    /// Refuses what would outlive the run and cannot.
    pub(crate) fn may_be_kept(value: &Value) -> Result<(), Stop> {
        match value.as_thing() {
            Some(Thing::Closure(_)) => Err(Stop::unknown("closures that outlive their script")),
            _ => Ok(()),
        }
    }
}
