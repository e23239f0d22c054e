//! The steps of a level: samplers, controllers, and what advances with iterations.

use weir_plan::{
    Controller, ControllerKind, CookiePolicy, HttpRequest, IterationElement, Node, Sampler,
    SamplerKind, Template,
};

use super::{CONTROLLERS_MAX, Reader, Tree, kind};
use crate::element::{Branch, Element};
use crate::elements::thread_group::Steps;
use crate::elements::{arguments, controller, data, http_sampler, manager, sampler, script};
use crate::finding::Refusal;
use crate::native::{self, Feature, Kind};
use crate::scope::{Level, Scope};

/// The class of the Parallel Controller.
const PARALLEL: &str = "com.blazemeter.jmeter.controller.ParallelSampler";

impl Reader<'_> {
    /// The steps of a level, and what advances with the iterations of the controller that has
    /// them: the last of the file first, measured on JMeter 5.6.3.
    pub(super) fn steps<'a>(
        &mut self,
        tree: &Tree<'a>,
        branches: &[&Branch<'a>],
        scope: &Scope<'_, 'a>,
    ) -> Steps {
        let mut steps = Steps::default();
        for branch in branches {
            if self.too_much_at.is_some() {
                break;
            }
            match kind(&branch.element) {
                Some(Kind::Controller | Kind::Fragment) => {
                    steps.nodes.extend(self.controller(tree, branch, scope));
                }
                Some(Kind::Sampler) => {
                    let below = self.enabled(&branch.below);
                    let inner = scope.inner(self.level(&below));
                    steps.nodes.extend(self.sampler(&branch.element, &inner));
                    steps.on_iteration.extend(self.below_sampler(&below));
                }
                Some(Kind::Plan | Kind::Group) => self.refuse_place(branch),
                _ => steps.on_iteration.extend(self.leaf(branch)),
            }
        }
        steps.on_iteration.reverse();
        steps
    }

    /// What advances with iterations among these, the last first.
    pub(super) fn iteration_elements(&mut self, branches: &[&Branch<'_>]) -> Vec<IterationElement> {
        let mut read = Vec::new();
        for branch in branches {
            read.extend(self.iteration_element(&branch.element));
        }
        read.reverse();
        read
    }

    fn iteration_element(&mut self, element: &Element<'_>) -> Option<IterationElement> {
        let read = data::read(element)?;
        self.admit(element).map(|_| read)
    }

    /// What stands below a sampler and is more than something that it inherits.
    fn below_sampler(&mut self, branches: &[&Branch<'_>]) -> Vec<IterationElement> {
        let mut on_iteration = Vec::new();
        for branch in branches {
            let element = &branch.element;
            match kind(element) {
                Some(Kind::Sampler | Kind::Controller | Kind::Fragment) => {
                    let says = "JMeter does not run what stands below a sampler";
                    self.findings.ignored(element, says);
                    self.define_below(&branch.below);
                }
                Some(Kind::Plan | Kind::Group) => self.refuse_place(branch),
                _ => on_iteration.extend(self.leaf(branch)),
            }
        }
        on_iteration
    }

    /// An element that has no steps: what it defines, and what of it and of what stands below it
    /// advances with iterations.
    pub(super) fn leaf(&mut self, branch: &Branch<'_>) -> Vec<IterationElement> {
        let element = &branch.element;
        match kind(element) {
            None => {
                self.refuse_unknown(branch);
                return Vec::new();
            }
            Some(Kind::Variables) => {
                if self.admit(element).is_some() {
                    self.define(arguments::variables(element));
                }
            }
            Some(Kind::Nowhere) => {
                self.admit(element);
            }
            Some(_) => {}
        }
        let mut on_iteration = self.below_leaf(&branch.below);
        on_iteration.extend(self.iteration_element(element));
        on_iteration
    }

    /// What stands below an element that has no steps. JMeter 5.6.3, measured: variables are
    /// defined, what advances with iterations does so, the rest is for nobody.
    fn below_leaf(&mut self, branches: &[Branch<'_>]) -> Vec<IterationElement> {
        let mut on_iteration = Vec::new();
        for branch in self.enabled(branches) {
            let element = &branch.element;
            match kind(element) {
                Some(Kind::Plan | Kind::Group) => self.refuse_place(branch),
                None | Some(Kind::Variables | Kind::Iteration | Kind::Nowhere) => {
                    on_iteration.extend(self.leaf(branch));
                }
                Some(kind) => {
                    let says =
                        "JMeter does not use it, because of the element that it stands below";
                    self.findings.ignored(element, says);
                    if kind == Kind::Controller {
                        self.define_below(&branch.below);
                    } else {
                        on_iteration.extend(self.below_leaf(&branch.below));
                    }
                }
            }
        }
        on_iteration
    }

    /// The variables that are defined somewhere below steps that do not run: they count all the
    /// same, measured on JMeter 5.6.3.
    pub(super) fn define_below(&mut self, branches: &[Branch<'_>]) {
        for branch in self.enabled(branches) {
            if kind(&branch.element) == Some(Kind::Variables) {
                self.leaf(branch);
            } else {
                self.define_below(&branch.below);
            }
        }
    }

    /// A controller with what is below it.
    pub(super) fn controller<'a>(
        &mut self,
        tree: &Tree<'a>,
        branch: &Branch<'a>,
        scope: &Scope<'_, 'a>,
    ) -> Option<Node> {
        let element = &branch.element;
        if !self.expand(element, element.bytes()) {
            return None;
        }
        if self.open.len() >= CONTROLLERS_MAX {
            let says = format!("controllers are nested deeper than {CONTROLLERS_MAX}");
            self.refuse(element, says, Kind::Controller, native::ELSEWHERE);
            return None;
        }
        let is_admitted = self.admit(element).is_some();
        let is_native = native::runs(element.class());
        self.open.push(element.id());
        let (kind, steps) = self.inside(tree, branch, scope);
        self.open.pop();
        let kind = kind.filter(|_| is_admitted)?;
        if is_native && matches!(kind, ControllerKind::If { is_text: false, .. }) {
            self.check_condition(element);
        }
        Some(Node::Controller(Box::new(Controller {
            id: element.id(),
            name: element.name_template(),
            kind,
            on_iteration: steps.on_iteration,
            children: steps.nodes,
            at: element.at(),
        })))
    }

    fn inside<'a>(
        &mut self,
        tree: &Tree<'a>,
        branch: &Branch<'a>,
        scope: &Scope<'_, 'a>,
    ) -> (Option<ControllerKind>, Steps) {
        let element = &branch.element;
        match element.class() {
            "ModuleController" => {
                let steps = self.module(tree, branch, scope);
                return (Some(ControllerKind::Simple), steps);
            }
            "IncludeController" => {
                let steps = self.include(branch, scope);
                return (Some(ControllerKind::Simple), steps);
            }
            _ => {}
        }
        let below = self.enabled(&branch.below);
        let inner = scope.inner(self.level(&below));
        let steps = self.steps(tree, &below, &inner);
        if element.class() == PARALLEL {
            let own = self.parallel(branch, steps.nodes.as_slice(), &inner);
            let steps = self.without_iteration_elements(element, steps);
            return (own, steps);
        }
        let mut kind = controller::read(element);
        if let Some(ControllerKind::Transaction(transaction)) = &mut kind
            && self.expand(element, inner.bytes)
        {
            transaction.assertions = inner.assertions_inside_out();
            transaction.on_failure = inner.on_failure();
            transaction.listeners = inner.listeners();
            transaction.script_listeners = inner.script_listeners();
            transaction.scripts_after = scope.scripts_after(element.id());
        }
        (kind, steps)
    }

    /// The sampler that a Parallel Controller is to JMeter, with all that is in scope for it.
    fn parallel(
        &mut self,
        branch: &Branch<'_>,
        children: &[Node],
        scope: &Scope<'_, '_>,
    ) -> Option<ControllerKind> {
        let element = &branch.element;
        if branch.below.iter().any(has_parallel) {
            let says = "Parallel Controllers in each other are not supported: JMeter 5.6.3 does \
                        not run the inner one"
                .to_owned();
            self.refuse(element, says, Kind::Controller, native::ELSEWHERE);
            return None;
        }
        if !self.expand(element, scope.bytes) {
            return None;
        }
        let kind = SamplerKind::Parallel(controller::parallel(element, children));
        let own = sampler_of(element, kind, scope);
        Some(ControllerKind::Parallel(Box::new(own)))
    }

    /// JMeter 5.6.3, measured: what stands directly below a Parallel Controller never advances.
    fn without_iteration_elements(&mut self, element: &Element<'_>, steps: Steps) -> Steps {
        if !steps.on_iteration.is_empty() {
            let says = "data sets, counters and the like directly below it never advance: as in \
                        JMeter, their variables are not set";
            self.findings.warning(element, says);
        }
        Steps {
            on_iteration: Vec::new(),
            ..steps
        }
    }

    fn check_condition(&mut self, element: &Element<'_>) {
        if !native::does(Feature::JavaScript) {
            let refusal = Refusal {
                says: "conditions in JavaScript are not supported yet".to_owned(),
                lost: Kind::Controller.lost(),
                instead: "tick \"Interpret Condition as Variable Expression\" and write \
                          ${__jexl3(…)}, or run the plan with --engine jmeter",
            };
            self.findings.unsupported(element, &refusal);
        }
    }

    fn sampler(&mut self, element: &Element<'_>, scope: &Scope<'_, '_>) -> Option<Node> {
        let admitted = if script::is_script(element.class()) {
            self.admit_script(element)
        } else {
            self.admit(element).is_some()
        };
        if !self.expand(element, element.bytes().saturating_add(scope.bytes)) || !admitted {
            return None;
        }
        let kind = if element.class() == "HTTPSamplerProxy" {
            SamplerKind::Http(Box::new(self.request(element, scope)))
        } else {
            match sampler::read(element) {
                Ok(kind) => kind,
                Err(says) => {
                    if !says.is_empty() {
                        self.refuse(element, says, Kind::Sampler, native::ELSEWHERE);
                    }
                    return None;
                }
            }
        };
        let sampler = sampler_of(element, kind, scope);
        Some(Node::Sampler(Box::new(sampler)))
    }

    fn request(&mut self, element: &Element<'_>, scope: &Scope<'_, '_>) -> HttpRequest {
        let mut request = http_sampler::read(element, scope, &mut self.findings);
        if let Some(cookies) = self.manager(scope, |level| &level.cookies) {
            request.cookies = Some(self.cookies(&cookies));
        }
        if let Some(cache) = self.manager(scope, |level| &level.caches) {
            let list = &mut self.plan.cache_managers;
            request.cache = Some(*self.places.caches.entry(cache.id()).or_insert_with(|| {
                list.push(manager::cache(&cache));
                list.len() - 1
            }));
        }
        if let Some(auth) = self.manager(scope, |level| &level.auths) {
            request.auth = Some(self.auth(&auth));
        }
        if let Some(dns) = self.manager(scope, |level| &level.dns) {
            request.dns = Some(self.dns(&dns));
        }
        request
    }

    fn cookies(&mut self, element: &Element<'_>) -> usize {
        if let Some(place) = self.places.cookies.get(&element.id()) {
            return *place;
        }
        let read = manager::cookies(element);
        let policy = &read.policy.text;
        if !policy.contains("${") && CookiePolicy::named(policy).is_none() {
            let refusal = Refusal {
                says: format!("the cookie policy {policy} is not supported"),
                lost: "other cookies would be kept and sent than it says",
                instead: "take the policy \"standard\", or run the plan with --engine jmeter",
            };
            self.findings
                .unsupported_at(element, read.policy.at, &refusal);
        }
        let handler = element.text_or_empty("CookieManager.implementation").text;
        if !handler.is_empty() && !handler.ends_with(".HC4CookieHandler") {
            let says = format!("JMeter 5.6.3 has no {handler}: its own cookie handler is taken");
            self.findings.warning(element, &says);
        }
        let place = self.plan.cookie_managers.len();
        self.plan.cookie_managers.push(read);
        self.places.cookies.insert(element.id(), place);
        place
    }

    fn auth(&mut self, element: &Element<'_>) -> usize {
        if let Some(place) = self.places.auths.get(&element.id()) {
            return *place;
        }
        let (read, refused) = manager::auth(element);
        for entry in refused {
            let refusal = Refusal {
                says: format!(
                    "the mechanism {} is not supported",
                    entry.text_or_empty("Authorization.mechanism").text
                ),
                lost: "requests would be sent without a password",
                instead: native::ELSEWHERE,
            };
            self.findings.unsupported_at(element, entry.at(), &refusal);
        }
        let place = self.plan.auth_managers.len();
        self.plan.auth_managers.push(read);
        self.places.auths.insert(element.id(), place);
        place
    }

    fn dns(&mut self, element: &Element<'_>) -> usize {
        if let Some(place) = self.places.dns.get(&element.id()) {
            return *place;
        }
        if manager::has_name_servers(element) {
            let refusal = Refusal {
                says: "asking other name servers is not supported".to_owned(),
                lost: "requests could go to other addresses",
                instead: "name the hosts and their addresses in it, or run the plan with \
                          --engine jmeter",
            };
            self.findings.unsupported(element, &refusal);
        }
        let place = self.plan.dns_caches.len();
        self.plan.dns_caches.push(manager::dns(element));
        self.places.dns.insert(element.id(), place);
        place
    }

    /// The manager of a kind that counts: JMeter 5.6.3, measured, lets each one supersede those
    /// that are nearer, and of one level the last.
    fn manager<'a>(
        &mut self,
        scope: &Scope<'_, 'a>,
        of: impl for<'l> Fn(&'l Level<'a>) -> &'l Vec<Element<'a>>,
    ) -> Option<Element<'a>> {
        let mut managers = scope.nearest_first(of);
        let counts = managers.pop()?;
        for superseded in managers {
            if !self.superseded.insert(superseded.id()) {
                continue;
            }
            let says = format!(
                "it is superseded by \"{}\" in line {}: JMeter takes the outermost one, and of \
                 one level the last",
                counts.name(),
                counts.at().line
            );
            self.findings.warning(&superseded, &says);
        }
        Some(counts)
    }
}

/// Whether this is a Parallel Controller, or has one inside.
fn has_parallel(branch: &Branch<'_>) -> bool {
    let is_parallel = branch.element.class() == PARALLEL;
    branch.element.is_enabled() && (is_parallel || branch.below.iter().any(has_parallel))
}

/// The sampler's name; an HTTP request without one has that of the nearest defaults (JMeter, which
/// hands it on like every other field that is empty).
fn name_of(element: &Element<'_>, kind: &SamplerKind, scope: &Scope<'_, '_>) -> Template {
    let own = element.name_template();
    if !own.text.is_empty() || !matches!(kind, SamplerKind::Http(_)) {
        return own;
    }
    let defaults = scope.nearest_first(|level| &level.defaults);
    let mut names = defaults.iter().map(Element::name_template);
    names.find(|name| !name.text.is_empty()).unwrap_or(own)
}

/// A sampler with all that is in scope for it.
fn sampler_of(element: &Element<'_>, kind: SamplerKind, scope: &Scope<'_, '_>) -> Sampler {
    Sampler {
        label: name_of(element, &kind, scope),
        kind,
        before: scope.before(),
        timers: scope.timers(),
        after: scope.after(),
        assertions: scope.assertions(),
        on_failure: scope.on_failure(),
        listeners: scope.listeners(),
        auto_stops: scope.auto_stops(),
        script_listeners: scope.script_listeners(),
        at: element.at(),
    }
}
