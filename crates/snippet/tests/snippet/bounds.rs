//! Any script ends, within its bounds.

use proptest::prelude::*;
use weir_snippet::{Bindings, Failure, Language, Program, State, Value};

use crate::host::World;

const LANGUAGES: [Language; 4] = [
    Language::Groovy,
    Language::BeanShell,
    Language::Jexl2,
    Language::Jexl3,
];

fn run(text: &str, language: Language) -> Option<Result<Value, Failure>> {
    let program = Program::parse(text, language).ok()?;
    let _ = program.unknown();
    let mut world = World::default();
    Some(program.run(&mut world, &mut Bindings::default(), &mut State::default()))
}

#[test]
fn endless_scripts_are_stopped() {
    for text in [
        "while (true) { }",
        "for (;;) { }",
        "def f(n) { f(n + 1) }; f(0)",
        "def c; c = { x -> c(x) }; c(1)",
        "def s = 'x'; while (true) { s = s + s }",
        "def l = []; while (true) { l << 'xxxxxxxxxx' }",
        "def s = 'a' * 1000000000",
        "def l = [1] * 1000000000",
        "(1..2000000000).each { }",
        "1000000000.times { }",
        "def l = []; l << l; l.flatten()",
        "('a' * 40) ==~ /(a+)+b/ ? 1 : { while (true) { } }()",
    ] {
        let done = run(text, Language::Groovy);
        assert!(
            matches!(done, Some(Err(Failure::Bound(_)))),
            "{text}: {done:?}"
        );
    }
    let done = run("int f(int a) { return f(a); } f(1);", Language::BeanShell);
    assert!(matches!(done, Some(Err(Failure::Bound(_)))), "{done:?}");
}

#[test]
fn a_list_in_itself_is_written_to_a_depth() {
    let done = run("def l = []; l << l; l.toString()", Language::Groovy);
    assert!(done.unwrap().unwrap().to_text().starts_with("[[["));
}

#[test]
fn deep_scripts_are_refused() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{ ", "}"), ("-", ""), ("!", "")] {
        let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for language in LANGUAGES {
            assert!(Program::parse(&text, language).is_err(), "{open}");
        }
    }
    let sum = vec!["1"; 10_000].join(" + ");
    assert!(Program::parse(&sum, Language::Groovy).is_err());
    let chain = format!("a{}", ".b()".repeat(10_000));
    assert!(Program::parse(&chain, Language::Groovy).is_err());
    let text = format!("\"{}1{}\"", "${\"".repeat(10_000), "\"}".repeat(10_000));
    assert!(Program::parse(&text, Language::Groovy).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Pieces of scripts in any order: an answer, no panic.
    #[test]
    fn any_pieces_give_an_answer(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "def ", "x", " = ", "1", "\"a${x}\"", "'b'", "(", ")", "{", "}", "[", "]", ",",
                ";", "\n", ".", "?.", "+", "-", "*", "/", "%", "==", "<", "? ", ": ", "->", "if ",
                "else ", "for ", "while ", "in ", "return ", "new ", "ArrayList", "vars", "each",
                "get", "size()", "String ", "int ", "try ", "catch ", "Exception e", "..", "**",
                "<<", "=~", "&&", "!", "++", "as ", "instanceof ", "switch ", "case ", "break",
                "Math", "null", "2.5", "0x1F", "prev", "log", "info", "substring(1)", "split(",
                "[1, 2]", "collect", "it", "true", "\"\"\"t\"\"\"", "//c\n", "println ",
            ]),
            0..40,
        ),
        language in prop::sample::select(LANGUAGES.to_vec()),
    ) {
        let _ = run(&pieces.concat(), language);
    }

    #[test]
    fn any_text_gives_an_answer(
        text in r#"([a-z(){}\[\]"'$\\/.,;:=+*<>!?0-9 \n-]|\PC){0,80}"#,
        language in prop::sample::select(LANGUAGES.to_vec()),
    ) {
        let _ = run(&text, language);
    }
}
