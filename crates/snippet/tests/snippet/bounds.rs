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
    for text in [
        "def l = ['x' * 1000]; 40.times { l = [l, l] }; l.toString()",
        "def l = ['x' * 1000]; 40.times { l = [l, l] }; l.hashCode()",
        "def l = [1]; 28.times { l = [l, l] }; def m = [1]; 28.times { m = [m, m] }; l == m",
        "def m = [a: 1]; 40.times { m = [a: m, b: m] }; \"${m}\"",
        "def l = [1]; 40.times { l = [l, l] }; groovy.json.JsonOutput.toJson(l)",
        "def s = 'a' * 1000000; def l = (1..200).collect { s }; groovy.json.JsonOutput.toJson(l)",
        "def s = 'a' * 10000000; while (true) { s.contains('b') }",
        "def s = 'a' * 10000000; while (true) { s.length() }",
        "def s = 'ä' * 5000000; while (true) { s.length() }",
        "def s = new StringBuilder('a' * 10000000); while (true) { s.length() }",
        "def l = (1..100000).toList(); while (true) { l.contains(0) }",
        "def l = (1..100000).toList(); while (true) { l.remove(0); l.add(0, 1) }",
        "def l = (1..100000).toList(); while (true) { l.indexOf(0) }",
        "def m = [:]; for (i in 1..1000000) { m[i] = i }",
        "def m = [:]; for (i in 1..1000000) { m.put(i, i) }",
        "def s = [] as Set; for (i in 1..1000000) { s.add(i) }",
        "('a' * 60000000).each { }",
        "('a' * 30000000).split('')",
        "('a' * 30000000).replaceAll('', 'x' * 1000)",
        "('a ' * 15000000).tokenize()",
        "('a\\n' * 15000000).readLines()",
        "('a' * 30000000).findAll(/a/)",
        "String.format('%1$10000d' * 100000, 1)",
        "while (true) { ('a' * 30) =~ /(?=(a+)+b)/ ? 1 : 2 }",
        "def n = 0; while (true) { n++; ('x' + n) ==~ ('(' * 5 + 'a' + n + '){1,99}' * 5) }",
        "while (true) { ('a' * 1000) ==~ /(a|b|ab)*(?=c)/ }",
        "new groovy.json.JsonSlurper().parseText('[' + ('[],' * 15000000) + '1]')",
        "def m = [:]; while (true) { m = [a: m]; m.toString() }",
        "def r = 0; while (true) { r += new Random(1).nextInt(-2147483648, 9223372036854775807) }",
    ] {
        let done = run(text, Language::Groovy);
        let is_stopped = matches!(done, Some(Err(Failure::Bound(_) | Failure::Thrown(_))));
        assert!(is_stopped, "{text}: {done:?}");
    }
    let done = run("int f(int a) { return f(a); } f(1);", Language::BeanShell);
    assert!(matches!(done, Some(Err(Failure::Bound(_)))), "{done:?}");
}

#[test]
fn a_list_in_itself_is_written_to_a_depth() {
    let done = run("def l = []; l << l; l.toString()", Language::Groovy);
    assert!(done.unwrap().unwrap().to_text().starts_with("[[["));
}

/// What is in itself is looked at while it is changed; what is deep in itself is let go of.
#[test]
fn containers_in_themselves_are_no_trap() {
    for text in [
        "def l = []; l << l; l.remove(l)",
        "def m = [:]; m.put(m, 1); m.put(m, 2); m.remove(m)",
        "def m = [:]; m[m] = 1; m[m] = 2; m.size()",
        "def s = [] as Set; s.add(s); s.add(s)",
        "def l = []; l << l; l.contains(l)",
        "def b = new StringBuilder('x'); b.append(b); b.insert(0, b); b.toString()",
        "def l = []; for (i in 1..200000) { l = [l] }; 1",
        "def m = [:]; for (i in 1..200000) { m = [a: m] }; 1",
        "def e = 1; for (i in 1..100000) { for (x in [a: e]) { e = x } }; 1",
        "def e = 1; for (i in 1..100000) { e = [e].iterator() }; 1",
    ] {
        let done = run(text, Language::Groovy);
        let is_bounded = matches!(done, Some(Ok(_) | Err(Failure::Bound(_))));
        assert!(is_bounded, "{text}: {done:?}");
    }
}

/// The ends of what numbers can be: an answer or an exception.
#[test]
fn numbers_at_their_ends_are_no_trap() {
    let least = "-170141183460469231731687303715884105728";
    for text in [
        format!("new BigDecimal('{least}') / -1"),
        format!("new BigDecimal('{least}') % -1"),
        format!("-new BigDecimal('{least}')"),
        format!("new BigDecimal('{least}').abs()"),
        format!("new BigDecimal('{least}').setScale(5, 4)"),
        "new BigDecimal('1e-2147483648')".to_owned(),
        "def d = new BigDecimal('1e-1000'); 40.times { d = d * d }; d + 1".to_owned(),
        "def d = new BigDecimal('1e1000'); 40.times { d = d * d }; d / 3".to_owned(),
        "(-9223372036854775807L - 1).intdiv(-1)".to_owned(),
        "(-9223372036854775807L - 1) % -1".to_owned(),
        "Math.abs(-9223372036854775807L - 1)".to_owned(),
        "(-2147483647 - 1) / -1".to_owned(),
        "(-9223372036854775807L..9223372036854775807L).size()".to_owned(),
        "('b'..<'a').toList()".to_owned(),
        "new Random().nextLong(-9223372036854775807L, 9223372036854775807L)".to_owned(),
        "new Random().nextInt(-2147483647, 2147483647)".to_owned(),
        "1 << 100".to_owned(),
        "1.5d.round(99999999999)".to_owned(),
        "new Date(9223372036854775807L).format('yyyy')".to_owned(),
        "new Date(9223372036854775807L) + 5".to_owned(),
        "sleep(9223372036854775807L); sleep(9223372036854775807L)".to_owned(),
        "'abc'.substring(-1, 9999999999)".to_owned(),
        "'abc'[-9223372036854775807L]".to_owned(),
        "[1][9223372036854775807L]".to_owned(),
        "def l = []; l[2147483647] = 1".to_owned(),
        "'a'.padLeft(2147483647)".to_owned(),
        "[1, 2, 3].subList(2, 1)".to_owned(),
    ] {
        // That it comes back is what is asked.
        let _ = run(&text, Language::Groovy);
    }
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
