//! What the samplers below a level inherit from it.

use weir_plan::{
    Assertion, DebugParts, DebugPostProcessor, Listener, OnSampleError, PostProcessor,
    PreProcessor, ResultAction,
};

use super::Reader;
use crate::element::{Branch, Element};
use crate::elements::{assertion, data, extractor, listener, modifier, script, timer};
use crate::native::{self, Kind, Runs};
use crate::scope::Level;

/// The windows whose settings JMeter hands to HTTP samplers, and to no others: it goes by the
/// `guiclass`, measured on 5.6.3.
const WINDOWS: [&str; 10] = [
    "AuthPanel",
    "CacheManagerGui",
    "CookiePanel",
    "DNSCachePanel",
    "HeaderPanel",
    "HttpDefaultsGui",
    "LoginConfigGui",
    "SimpleConfigGui",
    "TestBeanGUI",
    "UrlConfigGui",
];

impl Reader<'_> {
    /// The elements of a level that samplers inherit. What else stands there is for
    /// [`Reader::steps`].
    pub(super) fn level<'a>(&mut self, branches: &[&Branch<'a>]) -> Level<'a> {
        let mut level = Level::default();
        for branch in branches {
            let element = &branch.element;
            let Some(known) = native::element(element.class()) else {
                continue;
            };
            match known.kind {
                Kind::Config => self.config(element, &mut level),
                Kind::Timer => {
                    if script::is_script(element.class()) {
                        if self.admit_script(element) {
                            level.timers.push(script::timer(element));
                        }
                    } else if self.admit(element).is_some() {
                        level.timers.extend(timer::read(element));
                    }
                }
                Kind::Before => self.before(element, &mut level),
                Kind::Iteration if element.class() == "UserParameters" => {
                    self.user_parameters(element, &mut level);
                }
                Kind::After => self.after(element, &mut level),
                Kind::Assertion => self.assertion(element, &mut level),
                Kind::Listener => self.listener(element, &mut level),
                Kind::Controller => {
                    let scripts = level.script_listeners.len();
                    level.controllers.insert(element.id(), scripts);
                    continue;
                }
                _ => continue,
            }
            // Samplers hold a copy of all but these, of which they hold the place.
            let is_shared = matches!(
                element.class(),
                "CookieManager" | "CacheManager" | "AuthManager" | "DNSCacheManager"
            );
            if known.kind != Kind::Listener && !is_shared {
                level.bytes = level.bytes.saturating_add(element.bytes());
            }
        }
        level
    }

    fn config<'a>(&mut self, element: &Element<'a>, level: &mut Level<'a>) {
        let window = element.gui_class();
        let known = native::element(element.class());
        if known.is_some_and(|known| matches!(known.runs, Runs::InVain(_))) {
            self.admit(element);
            return;
        }
        if element.class() == "ConfigTestElement" && !WINDOWS.contains(&window) {
            let says = "its settings are not for HTTP requests";
            return self.findings.ignored(element, says);
        }
        if !WINDOWS.contains(&window) {
            let says = "JMeter does not give its settings to HTTP requests, because its guiclass \
                        is none of its own; neither does Weir";
            return self.findings.warning(element, says);
        }
        if self.admit(element).is_none() {
            return;
        }
        match element.class() {
            "HeaderManager" => level.headers.push(*element),
            "CookieManager" => level.cookies.push(*element),
            "CacheManager" => level.caches.push(*element),
            "AuthManager" => level.auths.push(*element),
            "DNSCacheManager" => level.dns.push(*element),
            "ConfigTestElement" => level.defaults.push(*element),
            _ => {}
        }
    }

    fn before(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if script::is_script(element.class()) {
            if self.admit_script(element) {
                let script = Box::new(script::read(element));
                level.before.push(PreProcessor::Script(script));
            }
        } else if self.admit(element).is_some() {
            match element.class() {
                "AnchorModifier" => level.before.push(PreProcessor::Link),
                "RegExUserParameters" => {
                    let found = Box::new(modifier::found_parameters(element));
                    level.before.push(PreProcessor::FoundParameters(found));
                }
                "URLRewritingModifier" => {
                    let rewriting = Box::new(modifier::url_rewriting(element));
                    level.before.push(PreProcessor::UrlRewriting(rewriting));
                }
                _ => {}
            }
        }
    }

    fn user_parameters(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if !data::is_per_iteration(element) && self.admit(element).is_some() {
            let parameters = data::user_parameters(element);
            level.before.push(PreProcessor::UserParameters(parameters));
        }
    }

    fn after(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        let class = element.class();
        if script::is_script(class) {
            if self.admit_script(element) {
                let script = Box::new(script::read(element));
                level.after.push(PostProcessor::Script(script));
            }
            return;
        }
        if self.admit(element).is_none() {
            return;
        }
        match class {
            "ResultAction" => {
                let scripts = level.script_listeners.len();
                level.on_failure.push((result_action(element), scripts));
            }
            "DebugPostProcessor" => {
                let debug = DebugPostProcessor {
                    name: element.name_template(),
                    parts: debug_parts(element),
                };
                level.after.push(PostProcessor::Debug(Box::new(debug)));
            }
            _ => match extractor::read(element) {
                Ok(extractor) => level
                    .after
                    .push(PostProcessor::Extractor(Box::new(extractor))),
                Err(says) => {
                    self.refuse(element, says.to_owned(), Kind::After, native::ELSEWHERE);
                }
            },
        }
    }

    fn assertion(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if script::is_script(element.class()) {
            if self.admit_script(element) {
                let script = Box::new(script::read(element));
                level.assertions.push(Assertion::Script(script));
            }
            return;
        }
        if self.admit(element).is_none() {
            return;
        }
        match assertion::read(element) {
            Ok(assertion) => {
                if element.class() == assertion::OF_PLUGIN {
                    let says = "it runs as JMeter's own JSON Assertion, which is made from it: \
                                what it says of failures has other words";
                    self.findings.warning(element, says);
                }
                level.assertions.push(assertion);
            }
            Err(says) => {
                self.refuse(element, says.to_owned(), Kind::Assertion, native::ELSEWHERE);
            }
        }
    }

    fn listener(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if element.class() == "kg.apc.jmeter.reporters.AutoStop" {
            return self.auto_stop(element, level);
        }
        if script::is_script(element.class()) {
            return self.script_listener(element, level);
        }
        if element.class() == "BackendListener" {
            match listener::backend(element) {
                Ok(read) => self.place_listener(element, read, level),
                Err(says) => self.findings.warning(element, says),
            }
            return;
        }
        let writes_results = matches!(
            element.class(),
            "ResultCollector" | "kg.apc.jmeter.vizualizers.CorrectedResultCollector"
        );
        if !writes_results {
            self.admit(element);
            return;
        }
        let Some(read) = listener::read(element) else {
            let says = "it only shows results in JMeter's window";
            return self.findings.ignored(element, says);
        };
        if self.admit(element).is_none() {
            return;
        }
        self.place_listener(element, read, level);
    }

    fn place_listener(&mut self, element: &Element<'_>, read: Listener, level: &mut Level<'_>) {
        let listeners = &mut self.plan.listeners;
        let place = *self
            .places
            .listeners
            .entry(element.id())
            .or_insert_with(|| {
                listeners.push(read);
                listeners.len() - 1
            });
        level.listeners.push(place);
    }

    fn script_listener(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if !self.admit_script(element) {
            return;
        }
        let list = &mut self.plan.script_listeners;
        let place = self.places.script_listeners.entry(element.id());
        level.script_listeners.push(*place.or_insert_with(|| {
            list.push(script::read(element));
            list.len() - 1
        }));
    }

    fn auto_stop(&mut self, element: &Element<'_>, level: &mut Level<'_>) {
        if self.admit(element).is_none() {
            return;
        }
        for says in listener::beyond_auto_stop(element) {
            self.refuse(element, says, Kind::Listener, native::ELSEWHERE);
        }
        let list = &mut self.plan.auto_stops;
        let place = self.places.auto_stops.entry(element.id());
        level.auto_stops.push(*place.or_insert_with(|| {
            list.push(listener::auto_stop(element));
            list.len() - 1
        }));
    }

    /// As [`Reader::admit`], for a script, which is named by its language. One that is
    /// empty does nothing.
    pub(super) fn admit_script(&mut self, element: &Element<'_>) -> bool {
        let script = script::read(element);
        let is_empty = script.text.text.trim().is_empty() && script.file.text.trim().is_empty();
        let Some(known) = native::element(element.class()) else {
            return false;
        };
        if is_empty && known.kind != Kind::Sampler {
            self.findings.ignored(element, "its script is empty");
            return false;
        }
        self.admit(element).is_some()
    }
}

fn result_action(element: &Element<'_>) -> ResultAction {
    match element.number("OnError.action").unwrap_or(0) {
        1 => ResultAction::As(OnSampleError::StopThread),
        2 => ResultAction::As(OnSampleError::StopTest),
        3 => ResultAction::As(OnSampleError::StopTestNow),
        4 => ResultAction::As(OnSampleError::StartNextLoop),
        5 => ResultAction::StartNextLoop,
        6 => ResultAction::BreakLoop,
        _ => ResultAction::As(OnSampleError::Continue),
    }
}

fn debug_parts(element: &Element<'_>) -> DebugParts {
    DebugParts {
        sampler: element.is("displaySamplerProperties"),
        variables: element.is("displayJMeterVariables"),
        properties: element.is("displayJMeterProperties"),
    }
}
