//! Several variables that are set at once, by elements of a plan.

use weir_plan::Variable;
use weir_script::{Scope, Text};

/// Takes all values, then sets the variables; of one name the first counts.
pub(crate) fn set_variables(scope: &mut Scope, variables: &[Variable<Text>]) {
    let mut taken: Vec<(String, String)> = Vec::with_capacity(variables.len());
    for variable in variables {
        let (name, value) = (
            variable.name.rendered(scope),
            variable.value.rendered(scope),
        );
        if !taken.iter().any(|(known, _)| *known == name) {
            taken.push((name, value));
        }
    }
    for (name, value) in &taken {
        scope.variables.set(name, value);
    }
}
