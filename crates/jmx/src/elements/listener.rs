//! `ResultCollector`: all of JMeter's graphical listeners, and its writer of result files.

use weir_plan::{Listener, Logged};

use crate::element::Element;

/// The file that a listener writes; without one it does nothing outside JMeter's windows.
pub(crate) fn read(element: &Element<'_>) -> Option<Listener> {
    let file = element
        .text("filename")
        .filter(|file| !file.text.trim().is_empty())?;
    let only = if element.is("ResultCollector.error_logging") {
        Some(Logged::Failed)
    } else {
        element
            .is("ResultCollector.success_only_logging")
            .then_some(Logged::Succeeded)
    };
    Some(Listener {
        id: element.id(),
        name: element.name_template(),
        file,
        only,
        save: element.object("saveConfig"),
    })
}
