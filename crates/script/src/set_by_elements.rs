//! The variables that the elements of a plan set while the test runs.
//!
//! A text may only be fixed before the test on names that nobody sets; this is the one place that
//! knows what elements set, as `settable.rs` knows it of functions.

use weir_plan::{
    ControllerKind, Extractor, IterationElement, LoadPlan, Node, PostProcessor, PreProcessor,
    Sampler, SamplerKind, Template, UserParameters, Variable,
};

use crate::settable::{Changes, Settable};

/// Adds every name; `fixed` says what a text is if it never changes.
pub(crate) fn add(
    plan: &LoadPlan,
    changes: &mut Changes,
    fixed: &mut dyn FnMut(&Template) -> Option<String>,
) {
    plan.for_each_script(&mut |script| {
        changes.variables.add_all();
        changes.add_script(&script.text.text);
    });
    let settable = &mut changes.variables;
    // What JMeter's threads and loops set by themselves.
    settable.add_starting_with("__jm__");
    settable.add_starting_with("JMeterThread.");
    let mut adding = Adding { settable, fixed };
    for group in &plan.groups {
        adding.iteration_elements(&group.on_iteration);
        adding.nodes(&group.nodes);
    }
}

struct Adding<'a> {
    settable: &'a mut Settable,
    fixed: &'a mut dyn FnMut(&Template) -> Option<String>,
}

impl Adding<'_> {
    fn name(&mut self, template: &Template) {
        match (self.fixed)(template) {
            Some(name) => self.settable.add(name.trim()),
            None => self.settable.add_all(),
        }
    }

    /// A name, and all that are made of it with an underscore.
    fn family(&mut self, template: &Template) {
        let Some(names) = (self.fixed)(template) else {
            self.settable.add_all();
            return;
        };
        for name in names.split(';') {
            self.settable.add(name.trim());
            self.settable.add_starting_with(format!("{}_", name.trim()));
        }
    }

    fn iteration_elements(&mut self, elements: &[IterationElement]) {
        for element in elements {
            match element {
                IterationElement::CsvDataSet(csv) => match (self.fixed)(&csv.names) {
                    Some(names) if !names.is_empty() => {
                        names
                            .split(',')
                            .for_each(|name| self.settable.add(name.trim()));
                    }
                    // The names stand in the file.
                    _ => self.settable.add_all(),
                },
                IterationElement::Counter(counter) => self.name(&counter.variable),
                IterationElement::RandomVariable(random) => self.name(&random.variable),
                IterationElement::UserParameters(parameters) => self.parameters(parameters),
            }
        }
    }

    fn parameters(&mut self, parameters: &UserParameters) {
        for name in &parameters.names {
            self.name(name);
        }
    }

    fn variables(&mut self, variables: &[Variable]) {
        for variable in variables {
            self.name(&variable.name);
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Sampler(sampler) => self.sampler(sampler),
                Node::Controller(controller) => {
                    self.iteration_elements(&controller.on_iteration);
                    match &controller.kind {
                        ControllerKind::ForEach { output, .. } => self.name(output),
                        ControllerKind::Parameterized { variables } => self.variables(variables),
                        _ => {}
                    }
                    self.nodes(&controller.children);
                }
            }
        }
    }

    fn sampler(&mut self, sampler: &Sampler) {
        if let SamplerKind::SetVariables(variables) = &sampler.kind {
            self.variables(variables);
        }
        for processor in &sampler.before {
            match processor {
                PreProcessor::UserParameters(parameters) => self.parameters(parameters),
                PreProcessor::Link
                | PreProcessor::FoundParameters(_)
                | PreProcessor::UrlRewriting(_)
                | PreProcessor::Script(_) => {}
            }
        }
        for processor in &sampler.after {
            match processor {
                PostProcessor::Extractor(extractor) => self.extractor(extractor),
                PostProcessor::Debug(_) | PostProcessor::Script(_) => {}
            }
        }
    }

    fn extractor(&mut self, extractor: &Extractor<Template>) {
        self.family(match extractor {
            Extractor::Regex(extractor) => &extractor.variable,
            Extractor::Boundary(extractor) => &extractor.variable,
            Extractor::Json(extractor) => &extractor.variables,
            Extractor::JsonPath(extractor) => &extractor.variable,
            Extractor::JmesPath(extractor) => &extractor.variable,
            Extractor::Css(extractor) => &extractor.variable,
            Extractor::XPath(extractor) => &extractor.variable,
            Extractor::XPath2(extractor) => &extractor.variable,
        });
    }
}
