//! Scripts: JSR223, `BeanShell` and BSF elements.

use weir_plan::{Script, Template, Timer, TimerKind};

use crate::element::Element;

/// Whether a class is one of the script elements.
pub(crate) fn is_script(class: &str) -> bool {
    ["JSR223", "BeanShell", "BSF"]
        .iter()
        .any(|family| class.starts_with(family))
}

/// The script of an element. `BeanShell` elements name their properties in three ways.
pub(crate) fn read(element: &Element<'_>) -> Script {
    let class = element.class();
    let first = |names: &[&str]| -> Template {
        let found = names.iter().find_map(|name| element.text(name));
        found.unwrap_or_else(|| element.text_or_empty(""))
    };
    Script {
        name: element.name_template(),
        language: language(element),
        text: first(&[
            "script",
            &format!("{class}.script"),
            &format!("{class}.query"),
            "BSFSampler.query",
        ]),
        parameters: first(&["parameters", &format!("{class}.parameters")]),
        file: first(&["filename", &format!("{class}.filename")]),
        first_text_stays: class.starts_with("JSR223") && is_compiled_once(element),
        filled_in_at_start: is_filled_in_at_start(class),
        resets: element.is("resetInterpreter") || element.is(&format!("{class}.resetInterpreter")),
        id: element.id(),
        at: element.at(),
    }
}

/// A script as a timer.
pub(crate) fn timer(element: &Element<'_>) -> Timer {
    Timer {
        id: element.id(),
        kind: TimerKind::Script(Box::new(read(element))),
    }
}

/// Whether it is one of the beans whose fields JMeter fills in when it tells all that the test
/// starts: what functions in them count is one further when the first user comes.
fn is_filled_in_at_start(class: &str) -> bool {
    let is_bean = class != "BeanShellSampler" && class != "BeanShellAssertion";
    class.starts_with("JSR223") || (class.starts_with("BeanShell") && is_bean)
}

/// A key for the cache of compiled scripts that is not "false".
fn is_compiled_once(element: &Element<'_>) -> bool {
    let key = element.text_or("cacheKey", "true").text;
    key != "false"
}

/// JSR223 elements without a language are in Groovy; so are, in the windows' text, "groovy (…)".
fn language(element: &Element<'_>) -> String {
    if element.class().starts_with("BeanShell") {
        return "beanshell".to_owned();
    }
    let names = ["scriptLanguage", "BSFSampler.language"];
    let named = names.iter().find_map(|name| element.text(name));
    let named = named.unwrap_or_default().text.trim().to_lowercase();
    match named.split(' ').next() {
        None | Some("") => "groovy".to_owned(),
        // The language without the further names that BeanShell elements have.
        Some("beanshell") if element.class().starts_with("BSF") => "bsh".to_owned(),
        Some(language) => language.to_owned(),
    }
}
