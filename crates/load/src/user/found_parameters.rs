//! `RegEx User Parameters`: parameters of a request that take their values from what an extractor
//! found.

use std::collections::HashMap;
use std::rc::Rc;

use weir_plan::{FoundParameters, SamplerKind};
use weir_script::Text;

use crate::user::User;
use crate::work::Step;

impl User {
    /// Gives the parameters of a step's request, by their names, the values that were found; of one
    /// name the last counts. Without a match, or without one of the groups in the first, nothing
    /// happens.
    pub(crate) fn give_parameters(&mut self, step: &Step, found: &FoundParameters<Text>) {
        let SamplerKind::Http(planned) = &step.source.kind else {
            return;
        };
        let Some(values) = self.found_values(found) else {
            return;
        };
        let left = self.data.scripts.get_or_insert_default();
        let request = left.request.as_deref().unwrap_or(planned);
        let mut changed = request.clone();
        for argument in &mut changed.arguments {
            // JMeter looks at the value that it replaces, too.
            argument.value.rendered(&mut self.scope);
            if let Some(value) = values.get(&argument.name.rendered(&mut self.scope)) {
                argument.value = Text::literal(value);
            }
        }
        left.request = Some(Rc::new(changed));
    }

    /// The values that an extractor found, by the names that it found with them.
    fn found_values(&mut self, found: &FoundParameters<Text>) -> Option<HashMap<String, String>> {
        let scope = &mut self.scope;
        let variable = found.variable.rendered(scope);
        let (names, values) = (
            found.name_group.rendered(scope),
            found.value_group.rendered(scope),
        );
        let group = |at: u32, group: &str| {
            let name = format!("{variable}_{at}_g{group}");
            scope.variables.get(&name).map(str::to_owned)
        };
        group(1, &names).and(group(1, &values))?;
        let count = scope.variables.get(&format!("{variable}_matchNr"))?;
        let count: u32 = count.trim().parse().ok()?;
        let pair = |at| group(at, &names).zip(group(at, &values));
        Some((1..=count).filter_map(pair).collect())
    }
}
