//! Pre-processors that change the request.

use weir_plan::{FoundParameters, SessionIdPlace, UrlRewriting};

use crate::element::Element;

/// `RegExUserParameters`.
pub(crate) fn found_parameters(element: &Element<'_>) -> FoundParameters {
    let text = |name: &str| element.text_or_empty(&format!("RegExUserParameters.{name}"));
    FoundParameters {
        variable: text("regex_ref_name"),
        name_group: text("param_names_gr_nr"),
        value_group: text("param_values_gr_nr"),
    }
}

/// `URLRewritingModifier`.
pub(crate) fn url_rewriting(element: &Element<'_>) -> UrlRewriting {
    let path = SessionIdPlace::Path {
        equals: !element.is("path_extension_no_equals"),
        ends_at_query: element.is("path_extension_no_questionmark"),
    };
    UrlRewriting {
        argument: element.text_or_empty("argument_name"),
        place: if element.is("path_extension") {
            path
        } else {
            SessionIdPlace::Argument
        },
        keeps: element.flag("cache_value").unwrap_or(true),
        encodes: element.is("encode"),
        id: element.id(),
    }
}
