//! `ResultCollector`: all of JMeter's graphical listeners, and its writer of result files.

use crate::element::Element;
use crate::finding::Findings;

/// A listener without a file does nothing outside the graphical interface.
pub(crate) fn read(element: &Element<'_>, findings: &mut Findings) {
    let file = element.text_or_empty("filename");
    if file.text.trim().is_empty() {
        findings.ignored(element, "it only shows results in JMeter's window");
    } else {
        let says = format!("writing results to {} is not supported", file.text);
        let instead = "use -l for a result file, and empty the listener's file name";
        findings.unsupported_at(element, file.at, says, instead);
    }
}
