//! Evaluating expressions, with errors in the words of JMeter's libraries.

use super::tree::{Node, Tree};
use super::xpath::{Evaluation, Trouble, Value, evaluate, is_function, number_text, parse};

/// How deep brackets may stand in each other in an expression.
const DEPTH: usize = 50;

/// How long an expression may be, in bytes.
const LENGTH: usize = 10_000;

/// What an expression is.
#[derive(Debug)]
pub(crate) enum Searched<'d> {
    Nodes(Vec<Node<'d>>),
    Boolean(bool),
    /// A number or a text, as text.
    Text(String),
}

/// Which functions an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Those of XPath 1.0.
    One,
    /// Some of XPath 2.0 too.
    Two,
}

/// Whether an expression of an XPath 2 element can be evaluated.
pub(crate) fn is_understood(query: &str) -> bool {
    if query.is_empty() {
        return true;
    }
    if query.len() > LENGTH || is_too_deep(query) {
        return false;
    }
    parse(query).is_some() && calls(query).into_iter().all(may_be_called)
}

/// Whether this can stand before a parenthesis.
fn may_be_called(name: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "node",
        "text",
        "comment",
        "processing-instruction",
        "and",
        "or",
        "div",
        "mod",
        "lang",
    ];
    OTHERS.contains(&name) || is_function(name)
}

/// The names before parentheses, outside of texts.
fn calls(query: &str) -> Vec<&str> {
    let names = names(query);
    let calls = names.into_iter().filter(|(_, rest)| rest.starts_with('('));
    calls.map(|(name, _)| name).collect()
}

/// The prefixes that an expression uses.
fn prefixes(query: &str) -> Vec<&str> {
    let names = names(query);
    let prefixes = names
        .into_iter()
        .filter(|(_, rest)| rest.starts_with(':') && !rest.starts_with("::"));
    prefixes.map(|(name, _)| name).collect()
}

/// The names outside of texts, each with what follows it.
fn names(query: &str) -> Vec<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c) || !c.is_ascii();
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '\'') {
            rest = rest[1..].split_once(c).map_or("", |(_, after)| after);
            continue;
        }
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(length);
        if name.is_empty() {
            rest = &rest[c.len_utf8()..];
        } else {
            found.push((name, after));
            rest = after;
        }
    }
    found
}

/// Evaluates an expression on a document.
pub(crate) fn search<'d>(
    query: &str,
    document: &'d Tree,
    namespaces: &[(String, String)],
    dialect: Dialect,
) -> Result<Searched<'d>, Trouble> {
    if query.len() > LENGTH || is_too_deep(query) {
        return Err(Trouble::TooLong);
    }
    if query.is_empty() {
        return Err(Trouble::Empty);
    }
    let parsed = parse(query).ok_or(Trouble::NoPath)?;
    let known = |prefix: &&str| namespaces.iter().any(|(known, _)| known == prefix);
    if let Some(prefix) = prefixes(query).iter().find(|prefix| !known(prefix)) {
        return Err(Trouble::Prefix((*prefix).to_owned()));
    }
    let found = evaluate(&parsed, document, namespaces, dialect == Dialect::Two)?;
    Ok(match found {
        Evaluation::Nodes(nodes) => Searched::Nodes(nodes),
        Evaluation::Value(Value::Boolean(value)) => Searched::Boolean(value),
        Evaluation::Value(Value::Number(number)) => Searched::Text(number_text(number)),
        Evaluation::Value(Value::Text(text)) => Searched::Text(text),
        Evaluation::Value(Value::Nodes(_)) => unreachable!("nodes are given as nodes"),
    })
}

fn is_too_deep(query: &str) -> bool {
    let mut depth = 0_usize;
    query.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::read::{Doctype, Names, read};
    use super::super::write::{Layout, fragment};
    use super::*;

    fn evaluate(query: &str, text: &str) {
        let mut tree = Tree::new();
        if read(text, Doctype::Allowed, Names::Plain, &mut tree).is_ok()
            && let Ok(Searched::Nodes(nodes)) = search(query, &tree, &[], Dialect::Two)
        {
            for node in nodes {
                drop(fragment(node, Layout::AsRead));
                drop(fragment(node, Layout::Indented));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_expression_and_document_do_no_harm(
            query in "\\PC{0,12}",
            text in "\\PC{0,20}",
        ) {
            evaluate(&query, "<r a='1'><b>x</b><!--c--></r>");
            evaluate("//b", &text);
        }

        #[test]
        fn markup_and_expressions_of_special_characters_do_no_harm(
            query in "(/|//|@|\\*|\\[|\\]|\\(|\\)|b|r|1|=|'|,|\\.|\\.\\.|::|:|-|\\$|count|last|not|text|node| or | and | div |self|child|ancestor){0,10}",
            text in "(<|>|/|a|b|<a>|</a>|<b/>|&|;|#|\"|'|=| |<!--|-->|<!\\[CDATA\\[|\\]\\]>|<\\?|\\?>|<!DOCTYPE|\\[|<!ENTITY|é){0,14}",
        ) {
            evaluate(&query, "<r a='1'><b>x</b><!--c--></r>");
            evaluate("//b", &text);
        }
    }

    #[test]
    fn a_document_that_is_too_deep_is_refused() {
        let text = "<a>".repeat(10_000);
        let error = read(&text, Doctype::Allowed, Names::Plain, &mut Tree::new());
        assert!(error.is_err_and(|error| error.says.contains("400 deep")));
    }

    /// A page of many equal elements, and one of elements in each other.
    fn hostile() -> [String; 2] {
        let flat = format!("<r>{}</r>", "<a b='1'><c>x</c><c>y</c></a>".repeat(60_000));
        let deep = "<a>".repeat(390) + &"<b>x</b>".repeat(20_000) + &"</a>".repeat(390);
        [flat, deep]
    }

    #[test]
    fn what_would_take_hours_is_given_up() {
        let long = "1+".repeat(4_900) + "1";
        let negated = "-".repeat(9_000) + "1";
        let again = "/*".to_owned() + &"[.='a' or true()]".repeat(500);
        let queries = [
            "//a[//c]",
            "//c[count(//c[count(//c) > 1]) > 1]",
            "//*[following::*[preceding::*]]",
            "//*/ancestor::*/descendant::*",
            "//*//*//*//*//*",
            "//c[(../c)[1]]",
            "//a[contains(c, 'y')]",
            "//*[. = //*]",
            "//*[string-length(concat(/, /, /, /)) > 1]",
            "//c[translate(/, 'x', 'y') = 'z']",
            "//a[sum(//c) > 1]",
            "//a/namespace::*[//c]",
            &long,
            &negated,
            &again,
        ];
        let [flat, deep] = hostile();
        let on_deep = queries.iter().filter(|query| query.starts_with("//*"));
        let on_deep: Vec<&str> = on_deep.copied().collect();
        for (page, queries) in [(flat, &queries[..]), (deep, &on_deep)] {
            let document = document(&page);
            for &query in queries {
                let began = Instant::now();
                let found = search(query, &document, &[], Dialect::Two);
                if let Err(trouble) = found {
                    assert!(matches!(trouble, Trouble::TooMuch(_)), "{query}: {trouble}");
                }
                assert!(began.elapsed() < Duration::from_secs(30), "{query}");
            }
        }
    }

    #[test]
    fn searches_that_are_long_but_honest_are_not_given_up() {
        let [flat, _] = hostile();
        let document = document(&flat);
        for (query, count) in [
            ("//c", 120_000),
            ("//a[@b = '1']/c[2]", 60_000),
            ("//a[contains(c, 'x')]/c[. = 'y']", 60_000),
            ("//c[. = 'y']/preceding-sibling::c", 60_000),
            ("/r/a[last()]", 1),
        ] {
            match search(query, &document, &[], Dialect::One) {
                Ok(Searched::Nodes(nodes)) => assert_eq!(nodes.len(), count, "{query}"),
                other => panic!("{query}: {other:?}"),
            }
        }
    }

    /// What the crate that was used before finds in its own tree; nothing where it differs from the
    /// standard.
    fn as_sxd(query: &str, text: &str) -> Option<Vec<String>> {
        use sxd_xpath::{Context, Factory, Value};

        let package = sxd_document::parser::parse(text).unwrap();
        let root = package.as_document().root();
        let built = Factory::new().build(query).ok()??;
        Some(match built.evaluate(&Context::new(), root).ok()? {
            Value::Nodeset(nodes) => {
                let nodes = nodes.document_order();
                nodes.into_iter().map(shown_by_sxd).collect()
            }
            Value::Boolean(value) => vec![value.to_string()],
            Value::Number(number) => vec![number_text(number)],
            Value::String(text) => vec![text],
        })
    }

    /// A node by its kind, its name and its text.
    fn shown_by_sxd(node: sxd_xpath::nodeset::Node<'_>) -> String {
        use sxd_xpath::nodeset::Node;

        let kind = match node {
            Node::Root(_) => "root",
            Node::Element(_) => "element",
            Node::Attribute(_) => "attribute",
            Node::Text(_) => "text",
            Node::Comment(_) => "comment",
            Node::Namespace(_) => "namespace",
            Node::ProcessingInstruction(_) => "instruction",
        };
        format!("{kind} {:?} {}", node.prefixed_name(), node.string_value())
    }

    fn shown(node: Node<'_>) -> String {
        let kind = match node {
            Node::Root(_) => "root",
            Node::Element(_) => "element",
            Node::Attribute(_) => "attribute",
            Node::Text(_) => "text",
            Node::Comment(_) => "comment",
            Node::Namespace(_) => "namespace",
            Node::Instruction(_) => "instruction",
        };
        format!("{kind} {:?} {}", node.prefixed_name(), node.text())
    }

    fn document(text: &str) -> Tree {
        let mut tree = Tree::new();
        read(text, Doctype::Allowed, Names::Plain, &mut tree).unwrap();
        tree
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(4_000))]

        #[test]
        fn sxd_xpath_finds_the_same(
            steps in "(/|//)(a|b|c|\\*|@x|text\\(\\)|node\\(\\)|\\.|\\.\\.|(ancestor|ancestor-or-self|descendant|descendant-or-self|following-sibling|preceding-sibling|parent|self|child)::(a|b|\\*|node\\(\\)))(\\[(1|2|last\\(\\)|position\\(\\)=2|b|@x|@x='1'|\\.='t'|count\\(b\\)=1|starts-with\\(\\.,'t'\\))\\])?(/|//)(a|b|c|\\*|@\\*|text\\(\\)|\\.\\.)(\\[(1|last\\(\\)|c or b|not\\(true\\(\\)\\))\\])?",
            wrapped in "(|count|string|boolean|name|local-name|sum|normalize-space|string-length|number)",
        ) {
            let text = "<a x='1'>t<b x='2'>u<c/>v</b><!--k--><b><a><b x='1'>t</b></a><c>w</c></b><?p i?><c x='1'/>t</a>";
            let document = document(text);
            let query = if wrapped.is_empty() { steps } else { format!("{wrapped}({steps})") };
            if let Some(wanted) = as_sxd(&query, text) {
                let found = match search(&query, &document, &[], Dialect::One) {
                    Ok(Searched::Nodes(nodes)) => nodes.into_iter().map(shown).collect(),
                    Ok(Searched::Boolean(value)) => vec![value.to_string()],
                    Ok(Searched::Text(text)) => vec![text],
                    Err(says) => vec![format!("error: {says}")],
                };
                proptest::prop_assert_eq!(found, wanted, "{}", query);
            } else {
                proptest::prop_assert!(false, "{} is not read", query);
            }
        }
    }

    #[test]
    fn values_are_compared_and_computed_as_the_standard_says() {
        let document = document("<r><n>1</n><n>5</n><m>3</m><e/></r>");
        for (query, wanted) in [
            ("//n > //m", "true"),
            ("//n < //m", "true"),
            ("//m > //n", "true"),
            ("//n = 5", "true"),
            ("//n != 5", "true"),
            ("//m != 3", "false"),
            ("//m = //n", "false"),
            ("//m != //n", "true"),
            ("//nothing = //n", "false"),
            ("//nothing != //n", "false"),
            ("//nothing = false()", "true"),
            ("not(//nothing)", "true"),
            ("not(//n)", "false"),
            ("2 + 3 * 4 - 6 div 3", "12"),
            ("7 mod -3", "1"),
            ("- - 2", "2"),
            ("1 div 0", "Infinity"),
            ("-1 div 0", "-Infinity"),
            ("0 div 0", "NaN"),
            ("-0", "0"),
            ("round(-1.5)", "-1"),
            ("substring('12345', 1.5, 2.6)", "234"),
            ("substring('12345', 0, 3)", "12"),
            ("substring('12345', -42, 1 div 0)", "12345"),
            ("translate('-bar-', 'abc-', 'ABC')", "BAr"),
            ("concat('a', 1, true())", "a1true"),
            ("sum(//n)", "6"),
            ("number('x')", "NaN"),
            ("number(' -.5 ')", "-0.5"),
            ("string(//n)", "1"),
            ("count(//n | //m | //n)", "3"),
            ("name(//*[. = 3])", "m"),
            ("count((//n)[2]/preceding::*)", "1"),
            ("count(//m/following::node())", "1"),
            ("string(//n[. > 1])", "5"),
            ("div or mod", "false"),
            ("count(//n[position() = 1.5])", "0"),
        ] {
            let found = match search(query, &document, &[], Dialect::One) {
                Ok(Searched::Boolean(value)) => value.to_string(),
                Ok(Searched::Text(text)) => text,
                other => panic!("{query}: {other:?}"),
            };
            assert_eq!(found, wanted, "{query}");
        }
    }
}
