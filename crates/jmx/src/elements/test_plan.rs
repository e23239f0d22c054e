//! `TestPlan`: the root element.

use weir_plan::Variable;

use crate::element::Element;
use crate::elements::arguments;
use crate::finding::Findings;

/// The plan's own variables.
pub(crate) fn variables(element: &Element<'_>) -> Vec<Variable> {
    let variables = element.element("TestPlan.user_defined_variables");
    variables.map_or_else(Vec::new, |variables| arguments::variables(&variables))
}

/// Whether the main groups run one after the other.
pub(crate) fn is_serial(element: &Element<'_>) -> bool {
    element.is("TestPlan.serialize_threadgroups")
}

/// Whether tear-down groups run after the test was stopped too.
pub(crate) fn tears_down_on_shutdown(element: &Element<'_>) -> bool {
    element.is("TestPlan.tearDown_on_shutdown")
}

/// What else it asks for.
pub(crate) fn check(element: &Element<'_>, findings: &mut Findings) {
    if element.is("TestPlan.functional_mode") {
        let says = "functional test mode is on, but no response data is saved";
        findings.warning(element, says);
    }
    let classpath = element.text_or_empty("TestPlan.user_define_classpath");
    if !classpath.text.is_empty() {
        let says = "the libraries it adds to the class path are not loaded";
        findings.warning(element, says);
    }
}
