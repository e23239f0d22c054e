//! `TestPlan`: the root element.

use weir_plan::Variable;

use crate::element::Element;
use crate::elements::arguments;
use crate::finding::Findings;

/// The plan's own variables; what else it asks for becomes findings.
pub(crate) fn read(element: &Element<'_>, findings: &mut Findings) -> Vec<Variable> {
    if element.flag("TestPlan.functional_mode") == Some(true) {
        let says = "functional test mode is on, but no response data is saved";
        findings.warning(element, says);
    }
    let classpath = element.text_or_empty("TestPlan.user_define_classpath");
    if !classpath.text.is_empty() {
        findings.warning(
            element,
            "the libraries it adds to the class path are not loaded",
        );
    }
    let variables = element.element("TestPlan.user_defined_variables");
    variables.map_or_else(Vec::new, |variables| arguments::variables(&variables))
}

/// Whether the groups run one after the other; it makes no difference to a single one.
pub(crate) fn check_order(element: &Element<'_>, groups: usize, findings: &mut Findings) {
    if groups > 1 && element.flag("TestPlan.serialize_threadgroups") == Some(true) {
        findings.unsupported(
            element,
            "running thread groups one after the other is not supported",
            "run each group as a plan of its own, or untick \"Run Thread Groups consecutively\"",
        );
    }
}
