//! From the plan as written to the plan as run, or to everything that is wrong with it.

mod expressions;
mod numbers;
mod starts;

use std::collections::BTreeSet;
use std::time::Duration;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_charset::Charset;
use weir_plan::{
    ControllerKind, DnsCache, FlowAction, GroupKind, HttpRequest, LoadPlan, Node, Position,
    Sampler, SamplerKind, Template, ThreadGroup, Timer, TimerKind, Variable,
};

use self::numbers::{NO_STEPS, NO_TIMEOUT, NO_WAIT};
use crate::files::{self, FileUse};
use crate::resolved::{HttpVersion, ResolvedGroup, ResolvedPlan};
use crate::text::Compiler;
use crate::{
    GlobalVariables, Problem, Properties, ResolveError, Scope, SessionProperties, Text, Variables,
    hosts, parse, scripting, set_by_elements, visit,
};

/// Most users in one group; more are more likely a slip of the pen than a plan.
const USERS_MAX: u32 = 1_000_000;

/// When and with what seed a test starts: what user-defined variables may depend on, because they
/// are evaluated once before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// For `__Random` and `__UUID` in user-defined variables.
    pub seed: u64,
    /// Milliseconds since 1970, for `__time` in user-defined variables.
    pub epoch_ms: i64,
}

/// Makes a plan ready to run with these properties.
///
/// # Errors
/// Everything in the plan that cannot be run: all problems at once, in the order of the file.
pub fn resolve(
    plan: &LoadPlan,
    properties: &Properties,
    origin: Origin,
) -> Result<ResolvedPlan, ResolveError> {
    let (resolved, problems) = attempt(plan, properties, origin);
    ResolveError::check(plan.source.as_deref(), problems, &resolved.warnings)?;
    Ok(resolved)
}

/// The files that a plan reads and writes, as far as that shows before it runs; also of a plan that
/// cannot be run.
pub fn files_of(plan: &LoadPlan, properties: &Properties, origin: Origin) -> Vec<FileUse> {
    attempt(plan, properties, origin).0.files
}

/// Variables of a plan that may touch what its reader allows it, or what lies beside it.
fn globals_of(plan: &LoadPlan, properties: &Properties) -> GlobalVariables {
    let source = plan.source.as_deref();
    match &plan.reach {
        Some(reach) => GlobalVariables::within(reach.clone(), properties, source),
        None => GlobalVariables::new(properties, source),
    }
}

/// The plan as it would run, and everything that keeps it from that.
fn attempt(
    plan: &LoadPlan,
    properties: &Properties,
    origin: Origin,
) -> (ResolvedPlan, Vec<Problem>) {
    let overridden = starts::overridden(plan, properties);
    let plan = overridden.as_ref();
    let mut resolver = Resolver {
        compiler: Compiler::new(globals_of(plan, properties), visit::set_by_functions(plan)),
        timer_factor: 1.0,
        origin,
        is_start: false,
    };
    resolver.define_variables(plan);
    // What user-defined variables set is set before the test.
    let mut running = plan.clone();
    running.variables.clear();
    let mut changes = visit::set_by_functions(&running);
    set_by_elements::add(&running, &mut changes, &mut |template| {
        let text = resolver.compiler.compile(template);
        text.constant().map(str::to_owned)
    });
    starts::add_properties_of_timers(&running, &mut changes.properties);
    let session = SessionProperties::of(properties);
    if let Some(prefix) = &session.saved_cookie_prefix
        && !plan.cookie_managers.is_empty()
    {
        changes.variables.add_starting_with(prefix);
    }
    resolver.compiler.changes = changes;
    resolver.read_timer_factor(properties);
    resolver.check_scripts(&running);
    let mut groups: Vec<ResolvedGroup> = plan.groups.iter().map(|g| resolver.group(g)).collect();
    number(&mut groups);
    let compile = &mut |template: &Template| resolver.compiler.compile(template);
    let cookie_managers = plan
        .cookie_managers
        .iter()
        .map(|m| m.map(compile))
        .collect();
    let cache_managers = plan.cache_managers.iter().map(|m| m.map(compile)).collect();
    let auth_managers = plan.auth_managers.iter().map(|m| m.map(compile)).collect();
    let dns_caches: Vec<_> = plan.dns_caches.iter().map(|m| m.map(compile)).collect();
    let listeners = plan.listeners.iter().map(|m| m.map(compile)).collect();
    let auto_stops = plan.auto_stops.iter().map(|m| m.map(compile)).collect();
    let script_listeners = plan.script_listeners.iter();
    let script_listeners = script_listeners.map(|m| m.map(compile)).collect();
    resolver.check_tables(&dns_caches);
    let timer_factor = resolver.timer_factor;
    if groups.is_empty() {
        let says = "the plan has no thread group that is enabled";
        resolver.problem(Position::default(), says, "enable or add a thread group");
    }
    let files = files::of_plan(&running, &mut resolver.compiler);
    let Compiler {
        globals,
        problems,
        mut warnings,
        ..
    } = resolver.compiler;
    warnings.extend(hosts::without_server(&groups));
    warnings.sort_by_key(|warning| warning.at);
    warnings.dedup();
    let resolved = ResolvedPlan {
        name: plan.name.clone(),
        source: plan.source.clone(),
        variables: globals,
        groups,
        serialized: plan.serialized,
        tear_down_on_shutdown: plan.tear_down_on_shutdown,
        cookie_managers,
        cache_managers,
        auth_managers,
        dns_caches,
        session,
        listeners,
        auto_stops,
        script_listeners,
        timer_factor,
        http_version: HttpVersion::default(),
        reads_own_variables: visit::reads_own_variables(plan),
        reads_previous: visit::reads_previous(plan),
        files,
        warnings,
    };
    (resolved, problems)
}

/// Groups count from one within their kind.
fn number(groups: &mut [ResolvedGroup]) {
    for kind in [GroupKind::SetUp, GroupKind::Main, GroupKind::TearDown] {
        let of_kind = groups.iter_mut().filter(|group| group.kind == kind);
        for (group, number) in of_kind.zip(1..) {
            group.number = number;
        }
    }
}

struct Resolver {
    compiler: Compiler,
    timer_factor: f32,
    origin: Origin,
    /// What is read now, JMeter reads once, before any user is there.
    is_start: bool,
}

impl Resolver {
    fn problem(&mut self, at: Position, says: impl Into<String>, instead: impl Into<String>) {
        let problem = Problem::new(at, says).instead(instead);
        self.compiler.problems.push(problem);
    }

    /// Evaluates the user-defined variables, one list after the other.
    fn define_variables(&mut self, plan: &LoadPlan) {
        self.compiler.globals.define_start(self.origin.epoch_ms);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.origin.seed);
        for list in &plan.variables {
            let mut scope = self.before_users(random.clone());
            let mut defined = BTreeSet::new();
            let mut values = Vec::new();
            for variable in list {
                let (name, value) = self.variable(variable, &mut scope);
                if defined.insert(name.clone()) {
                    values.push((name, value));
                }
            }
            let set = scope.variables.own();
            let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
            self.compiler.globals.extend(set.chain(values));
            random = scope.random;
        }
    }

    /// What is there before the first user is.
    fn before_users(&self, random: Xoshiro256PlusPlus) -> Scope {
        Scope {
            random,
            epoch_ms: self.origin.epoch_ms,
            ..Scope::nobody(Variables::new(self.compiler.globals.clone()))
        }
    }

    fn variable(&mut self, variable: &Variable, scope: &mut Scope) -> (String, String) {
        let mut evaluate = |template: &Template| {
            let text = self.compiler.compile(template);
            if text.depends_on_user() {
                let says = format!(
                    "the user-defined variable \"{}\" depends on the user, but is evaluated once",
                    variable.name.text
                );
                let instead = "use the function where the variable is used";
                self.problem(template.at, says, instead);
            }
            let value = text.rendered(scope);
            if let Some(why) = scope.take_problem() {
                let variable = &variable.name.text;
                let says = format!("the user-defined variable \"{variable}\" fails: {why}");
                self.compiler.problems.push(Problem::new(template.at, says));
            }
            value
        };
        (evaluate(&variable.name), evaluate(&variable.value))
    }

    /// Names the first thing of each script that is not known.
    fn check_scripts(&mut self, plan: &LoadPlan) {
        let mut seen = BTreeSet::new();
        plan.for_each_script(&mut |script| {
            if !seen.insert(script.at) || !script.file.text.is_empty() {
                return;
            }
            let readings = parse::with_placeholders(&script.text.text);
            let mut problems = readings
                .iter()
                .map(|text| scripting::problem(text, &script.language));
            let first = problems.next().flatten();
            // With other values it may be a script after all: it is read again when they are known.
            if let Some(says) = first
                && problems.all(|problem| problem.is_some())
            {
                let says = format!("{says}; what it does would be missing");
                self.problem(script.at, says, "run the plan with --engine jmeter");
            }
        });
    }

    /// Where load goes has to be known before it does.
    fn check_tables(&mut self, tables: &[DnsCache<Text>]) {
        for (name, address) in tables.iter().flat_map(|table| &table.hosts) {
            for text in [name, address] {
                if text.constant().is_none() {
                    let says = "a host in the DNS Cache Manager changes while the test runs";
                    self.problem(text.at(), says, "use a property or a user-defined variable");
                }
            }
        }
    }

    fn read_timer_factor(&mut self, properties: &Properties) {
        let Some(text) = properties.get("timer.factor") else {
            return;
        };
        match text.trim().parse::<f32>() {
            Ok(factor) if factor.is_finite() && factor >= 0.0 => self.timer_factor = factor,
            _ => self.problem(
                Position::default(),
                format!("the property timer.factor is \"{text}\""),
                "write a number that is not negative",
            ),
        }
    }

    fn group(&mut self, group: &ThreadGroup) -> ResolvedGroup {
        // Users start with the variables of the plan: what they set later does not matter to how
        // many there are.
        let changing = std::mem::take(&mut self.compiler.changes.variables);
        self.is_start = true;
        let name = self.fixed(&group.name, "name of the thread group");
        let (starts, users) = self.starts(group);
        let (duration, delay) = match &group.schedule {
            Some(schedule) => (
                Some(self.duration(&schedule.duration_s)),
                self.delay(&schedule.delay_s),
            ),
            None => (None, Duration::ZERO),
        };
        let ramp_up = self.ramp_up(&group.ramp_up_s);
        let iterations = self.iterations(&group.iterations);
        self.is_start = false;
        let loop_name = self.fixed(&group.loop_name, "name of the group's loop");
        self.compiler.changes.variables = changing;
        if group.nodes.is_empty() {
            let says = format!("the thread group \"{name}\" sends nothing");
            self.compiler.warnings.push(Problem::new(group.at, says));
        }
        let compile = &mut |template: &Template| self.compiler.compile(template);
        let on_iteration = group.on_iteration.iter().map(|e| e.map(compile)).collect();
        let nodes: Vec<Node<Text>> = group.nodes.iter().map(|node| node.map(compile)).collect();
        let resolved = ResolvedGroup {
            kind: group.kind,
            number: 0,
            starts,
            users,
            ramp_up,
            iterations,
            loop_name,
            duration,
            delay,
            on_error: group.on_error,
            same_user: group.same_user,
            on_iteration,
            nodes,
            at: group.at,
            name,
        };
        self.check_nodes(&group.nodes);
        self.refuse_shared_random_delays(group);
        resolved
    }

    /// A text that has to be known before the start; empty when it is not.
    fn fixed(&mut self, template: &Template, what: &str) -> String {
        let text = self.compiler.compile(template);
        if let Some(text) = text.constant() {
            return text.to_owned();
        }
        if self.is_start && !text.depends_on_user() {
            return self.at_start(&text, template, what);
        }
        let says = format!(
            "the {what} \"{}\" changes while the test runs",
            template.text
        );
        let instead = "write a text, a property or a user-defined variable";
        self.problem(template.at, says, instead);
        String::new()
    }

    /// What functions give before the first user is there.
    fn at_start(&mut self, text: &Text, template: &Template, what: &str) -> String {
        let random = Xoshiro256PlusPlus::seed_from_u64(self.origin.seed);
        let mut scope = self.before_users(random);
        let value = text.rendered(&mut scope);
        if let Some(why) = scope.take_problem() {
            let says = format!("the {what} \"{}\" fails: {why}", template.text);
            self.compiler.problems.push(Problem::new(template.at, says));
        }
        value
    }

    /// Checks what is known before the test, node by node.
    fn check_nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Sampler(sampler) => self.check_sampler(sampler),
                Node::Controller(controller) => {
                    self.check_kind(&controller.kind);
                    self.check_nodes(&controller.children);
                }
            }
        }
    }

    fn check_kind(&mut self, kind: &ControllerKind) {
        match kind {
            ControllerKind::Loop { count, .. } => {
                self.check_number(count, "number of loops", NO_STEPS);
            }
            ControllerKind::Runtime { seconds } => {
                self.check_number(seconds, "run time", NO_STEPS);
            }
            ControllerKind::Throughput { share, .. } => self.check_share(share),
            ControllerKind::Transaction(transaction) => {
                self.check_assertions(&transaction.assertions);
            }
            _ => {}
        }
    }

    fn check_sampler(&mut self, sampler: &Sampler) {
        match &sampler.kind {
            SamplerKind::Http(request) => self.check_request(request),
            SamplerKind::FlowControl(flow) if flow.action == FlowAction::Pause => {
                self.check_number(&flow.pause_ms, "pause in milliseconds", NO_WAIT);
            }
            _ => {}
        }
        for timer in &sampler.timers {
            self.check_timer(&timer.kind);
        }
        self.check_after(sampler);
    }

    fn check_request(&mut self, request: &HttpRequest) {
        self.check_encoding(&request.encoding);
        let (protocol, path) = (self.seen(&request.protocol), self.seen(&request.path));
        if hosts::asks_nobody(&protocol, &path) {
            let says = format!(
                "the protocol is \"{}\": nothing is sent, and the sample fails, as in JMeter",
                protocol.constant().unwrap_or_default()
            );
            let at = request.protocol.at;
            self.compiler.warnings.push(Problem::new(at, says));
        }
        self.check_number(&request.port, "port", "the protocol's usual one is taken");
        self.check_number(&request.connect_timeout_ms, "connect time-out", NO_TIMEOUT);
        self.check_number(
            &request.response_timeout_ms,
            "response time-out",
            NO_TIMEOUT,
        );
    }

    /// A text as it will be; what is wrong with it is told elsewhere.
    fn seen(&mut self, template: &Template) -> Text {
        let known = self.compiler.problems.len();
        let text = self.compiler.compile(template);
        self.compiler.problems.truncate(known);
        text
    }

    fn check_encoding(&mut self, encoding: &Template) {
        let compiled = self.seen(encoding);
        let Some(name) = compiled.constant().filter(|name| !name.is_empty()) else {
            return;
        };
        let says = match Charset::named(name) {
            Ok(charset) if charset.is_exact() => return,
            Ok(_) => "rare characters may become other bytes than with JMeter",
            Err(_) => "Weir does not know it: what has a body fails, as in JMeter without it",
        };
        let says = format!("the content encoding is \"{name}\": {says}");
        self.compiler.warnings.push(Problem::new(encoding.at, says));
    }

    fn check_timer(&mut self, timer: &TimerKind) {
        match timer {
            TimerKind::Constant { delay_ms } => self.check_number(delay_ms, DELAY, NO_WAIT),
            TimerKind::Uniform { delay_ms, range_ms } => {
                self.check_number(delay_ms, DELAY, NO_WAIT);
                self.check_width(range_ms, "range");
            }
            TimerKind::Gaussian {
                delay_ms,
                deviation_ms,
            } => {
                self.check_number(delay_ms, DELAY, NO_WAIT);
                self.check_width(deviation_ms, "deviation");
            }
            TimerKind::Poisson {
                delay_ms,
                lambda_ms,
            } => {
                self.check_number(delay_ms, DELAY, NO_WAIT);
                self.check_width(lambda_ms, "lambda");
            }
            TimerKind::Script(_) => {}
            scheduled => self.check_scheduled(scheduled),
        }
    }

    /// JMeter evaluates a delay once in an iteration, for all samplers in the timer's scope; here
    /// it is evaluated before each sample. That is the same unless a delay that changes by itself
    /// stands above several samplers.
    fn refuse_shared_random_delays(&mut self, written: &ThreadGroup) {
        let mut seen = BTreeSet::new();
        let mut timers: Vec<&Timer> = Vec::new();
        gather_timers(&written.nodes, &mut timers);
        for timer in timers {
            let (TimerKind::Constant { delay_ms }
            | TimerKind::Uniform { delay_ms, .. }
            | TimerKind::Gaussian { delay_ms, .. }
            | TimerKind::Poisson { delay_ms, .. }) = &timer.kind
            else {
                continue;
            };
            if !seen.insert(delay_ms.at)
                && delay_ms.at != Position::default()
                && self.compiler.compile(delay_ms).changes_by_itself()
            {
                let says = format!(
                    "the delay \"{}\" changes by itself and is shared by several samplers",
                    delay_ms.text
                );
                self.problem(delay_ms.at, says, "give each sampler a timer of its own");
            }
        }
    }
}

const DELAY: &str = "delay in milliseconds";

fn gather_timers<'a>(nodes: &'a [Node], timers: &mut Vec<&'a Timer>) {
    for node in nodes {
        match node {
            Node::Sampler(sampler) => timers.extend(&sampler.timers),
            Node::Controller(controller) => gather_timers(&controller.children, timers),
        }
    }
}
