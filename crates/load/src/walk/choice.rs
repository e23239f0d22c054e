//! Which child: by value, and by chance.

use weir_script::Text;

use super::values::draw;
use super::{Outside, Walk};

impl Walk {
    pub(super) fn selected(&mut self, at: u32, value: &Text, outside: &mut Outside<'_>) -> u32 {
        let tree = outside.tree;
        let value = value.rendered(outside.scope);
        let value = value.trim();
        if value.is_empty() {
            return 0;
        }
        let count = self.children(tree, at);
        if value.chars().all(char::is_numeric)
            && let Ok(index) = value.parse::<i32>()
        {
            let index = usize::try_from(index).unwrap_or(0);
            return if index < count { index as u32 } else { 0 };
        }
        let mut otherwise = u32::MAX;
        for index in 0..count {
            let place = match &self.states[at as usize].order {
                Some(order) => order[index] as usize,
                None => index,
            };
            let child = tree.controllers[at as usize].children[place];
            let name = tree.name_of(child).rendered(outside.scope);
            if name == value {
                return index as u32;
            }
            if name.eq_ignore_ascii_case("default") {
                otherwise = index as u32;
            }
        }
        otherwise
    }

    pub(super) fn shuffle(&mut self, at: u32, outside: &mut Outside<'_>) {
        let count = outside.tree.controllers[at as usize].children.len() as u32;
        let state = self.state(at);
        let order = state.order.get_or_insert_with(|| (0..count).collect());
        for last in (1..order.len()).rev() {
            order.swap(last, draw(last + 1, outside.scope) as usize);
        }
    }
}
