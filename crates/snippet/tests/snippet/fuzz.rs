//! Scripts that nobody should write: reading them does not panic, and comes to an end.

use weir_fuzz::Target;
use weir_snippet::{Language, Script};

const GROOVY: &[u8] = b"import java.util.*\ndef f = { a, b = 2 -> a * b }\n\
    for (x in [1, 2, 3]) { vars.put(\"v${x}\", f(x).toString()) }\n\
    try { new File('x').text } catch (Exception e) { log.info(e.message) } finally { }\n\
    switch (x) { case 1: break; default: assert x ?: y }\nString s = '''a\n b'''\n\
    if (s =~ /a.b/ && !(s ==~ ~/c/)) return s[1..-2] as int";
const BEANSHELL: &[u8] = b"int n = Integer.parseInt(vars.get(\"n\"));\n\
    while (n-- > 0) { StringBuilder b = new StringBuilder(); b.append(n); }\n\
    String[] parts = a.split(\",\"); return (parts.length > 1) ? parts[0] : null; // end";
const JEXL: &[u8] = b"x = size(a) > 2 and b =~ 'c' ? vars.get('d') : empty(e) || [1, {'k': 2}];\n\
    for (i : 1..3) { y = y + i }";

#[test]
fn fuzz_scripts() {
    let target = Target {
        name: "scripts",
        seeds: &[GROOVY, BEANSHELL, JEXL],
        words: &[
            b"((((",
            b"[[[[",
            b"{{{{",
            b"\"${",
            b"'''",
            b"/*",
            b"->",
            b"?.",
            b"..",
            b"new ",
            b"1e999",
            b"\xf0\x9f\x98\x80",
            b"\x00",
        ],
        length_max: 8 * 1024,
    };
    let languages = [
        Language::Groovy,
        Language::BeanShell,
        Language::Jexl2,
        Language::Jexl3,
    ];
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        for language in languages {
            match Script::read(&text, language) {
                Ok(script) => drop(script.files()),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    });
}
