//! A plan as a tree: rendered for JMeter, and made smaller while it still shows a difference.

/// One element with what stands below it.
#[derive(Clone)]
pub(super) struct Node {
    /// The element's own tag with its properties.
    pub(super) element: String,
    pub(super) children: Vec<Node>,
}

impl Node {
    /// An element with nothing below it.
    pub(super) fn leaf(element: String) -> Self {
        Self {
            element,
            children: Vec::new(),
        }
    }

    /// An element in JMeter's form, of properties that stand in it already rendered.
    pub(super) fn new(tag: &str, gui: &str, name: &str, properties: &[String]) -> Self {
        let name = escaped(name);
        Self::leaf(format!(
            "<{tag} guiclass=\"{gui}\" testclass=\"{tag}\" testname=\"{name}\" enabled=\"true\">{}</{tag}>",
            properties.concat()
        ))
    }

    /// It with these below it.
    pub(super) fn with(mut self, children: Vec<Self>) -> Self {
        self.children = children;
        self
    }

    /// The element and its tree as JMeter stores them.
    pub(super) fn render(&self, into: &mut String) {
        into.push_str(&self.element);
        into.push_str("\n<hashTree>\n");
        for child in &self.children {
            child.render(into);
        }
        into.push_str("</hashTree>\n");
    }

    /// All trees that have one element less: left out with what is below it, or replaced by that.
    pub(super) fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for (at, child) in self.children.iter().enumerate() {
            let instead = |nodes: Vec<Self>| {
                let mut copy = self.clone();
                copy.children.splice(at..=at, nodes);
                copy
            };
            all.push(instead(Vec::new()));
            if !child.children.is_empty() {
                all.push(instead(child.children.clone()));
            }
            all.extend(child.smaller().into_iter().map(|less| instead(vec![less])));
        }
        all
    }

    /// Whether there is something to do.
    pub(super) fn has_sampler(&self) -> bool {
        let tag = self.element.trim_start_matches('<');
        ["HTTPSamplerProxy", "JSR223Sampler", "BeanShellSampler"]
            .iter()
            .any(|sampler| tag.starts_with(sampler))
            || self.children.iter().any(Self::has_sampler)
    }

    /// How many elements there are.
    pub(super) fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }
}

/// A text as it stands in XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}

/// A property that holds a text.
pub(super) fn text(name: &str, value: &str) -> String {
    format!(
        "<stringProp name=\"{name}\">{}</stringProp>",
        escaped(value)
    )
}

/// A property that is on or off.
pub(super) fn flag(name: &str, value: bool) -> String {
    format!("<boolProp name=\"{name}\">{value}</boolProp>")
}

/// A property that holds a whole number.
pub(super) fn number(name: &str, value: u32) -> String {
    format!("<intProp name=\"{name}\">{value}</intProp>")
}

/// A property that holds texts.
pub(super) fn texts(name: &str, values: &[String]) -> String {
    let items = values.iter().enumerate();
    let items: String = items
        .map(|(at, value)| text(&at.to_string(), value))
        .collect();
    format!("<collectionProp name=\"{name}\">{items}</collectionProp>")
}

/// A variable in a list of variables.
pub(super) fn variable(name: &str, value: &str) -> String {
    format!(
        "<elementProp name=\"{name}\" elementType=\"Argument\">{}{}{}</elementProp>",
        text("Argument.name", name),
        text("Argument.value", value),
        text("Argument.metadata", "=")
    )
}
