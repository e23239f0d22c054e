//! The named characters of HTML 4.01, and escaping for HTML and XML.
//!
//! JMeter leaves this to Apache Commons Text, which escapes exactly the entities of HTML 4.01
//! (section 24) and wants their semicolon; libraries for HTML 5 know other names and rules.

/// The entities beside `&quot;`, `&amp;`, `&lt;` and `&gt;`, by their characters.
const ENTITIES: [(char, &str); 248] = [
    ('\u{a0}', "nbsp"),
    ('\u{a1}', "iexcl"),
    ('\u{a2}', "cent"),
    ('\u{a3}', "pound"),
    ('\u{a4}', "curren"),
    ('\u{a5}', "yen"),
    ('\u{a6}', "brvbar"),
    ('\u{a7}', "sect"),
    ('\u{a8}', "uml"),
    ('\u{a9}', "copy"),
    ('\u{aa}', "ordf"),
    ('\u{ab}', "laquo"),
    ('\u{ac}', "not"),
    ('\u{ad}', "shy"),
    ('\u{ae}', "reg"),
    ('\u{af}', "macr"),
    ('\u{b0}', "deg"),
    ('\u{b1}', "plusmn"),
    ('\u{b2}', "sup2"),
    ('\u{b3}', "sup3"),
    ('\u{b4}', "acute"),
    ('\u{b5}', "micro"),
    ('\u{b6}', "para"),
    ('\u{b7}', "middot"),
    ('\u{b8}', "cedil"),
    ('\u{b9}', "sup1"),
    ('\u{ba}', "ordm"),
    ('\u{bb}', "raquo"),
    ('\u{bc}', "frac14"),
    ('\u{bd}', "frac12"),
    ('\u{be}', "frac34"),
    ('\u{bf}', "iquest"),
    ('\u{c0}', "Agrave"),
    ('\u{c1}', "Aacute"),
    ('\u{c2}', "Acirc"),
    ('\u{c3}', "Atilde"),
    ('\u{c4}', "Auml"),
    ('\u{c5}', "Aring"),
    ('\u{c6}', "AElig"),
    ('\u{c7}', "Ccedil"),
    ('\u{c8}', "Egrave"),
    ('\u{c9}', "Eacute"),
    ('\u{ca}', "Ecirc"),
    ('\u{cb}', "Euml"),
    ('\u{cc}', "Igrave"),
    ('\u{cd}', "Iacute"),
    ('\u{ce}', "Icirc"),
    ('\u{cf}', "Iuml"),
    ('\u{d0}', "ETH"),
    ('\u{d1}', "Ntilde"),
    ('\u{d2}', "Ograve"),
    ('\u{d3}', "Oacute"),
    ('\u{d4}', "Ocirc"),
    ('\u{d5}', "Otilde"),
    ('\u{d6}', "Ouml"),
    ('\u{d7}', "times"),
    ('\u{d8}', "Oslash"),
    ('\u{d9}', "Ugrave"),
    ('\u{da}', "Uacute"),
    ('\u{db}', "Ucirc"),
    ('\u{dc}', "Uuml"),
    ('\u{dd}', "Yacute"),
    ('\u{de}', "THORN"),
    ('\u{df}', "szlig"),
    ('\u{e0}', "agrave"),
    ('\u{e1}', "aacute"),
    ('\u{e2}', "acirc"),
    ('\u{e3}', "atilde"),
    ('\u{e4}', "auml"),
    ('\u{e5}', "aring"),
    ('\u{e6}', "aelig"),
    ('\u{e7}', "ccedil"),
    ('\u{e8}', "egrave"),
    ('\u{e9}', "eacute"),
    ('\u{ea}', "ecirc"),
    ('\u{eb}', "euml"),
    ('\u{ec}', "igrave"),
    ('\u{ed}', "iacute"),
    ('\u{ee}', "icirc"),
    ('\u{ef}', "iuml"),
    ('\u{f0}', "eth"),
    ('\u{f1}', "ntilde"),
    ('\u{f2}', "ograve"),
    ('\u{f3}', "oacute"),
    ('\u{f4}', "ocirc"),
    ('\u{f5}', "otilde"),
    ('\u{f6}', "ouml"),
    ('\u{f7}', "divide"),
    ('\u{f8}', "oslash"),
    ('\u{f9}', "ugrave"),
    ('\u{fa}', "uacute"),
    ('\u{fb}', "ucirc"),
    ('\u{fc}', "uuml"),
    ('\u{fd}', "yacute"),
    ('\u{fe}', "thorn"),
    ('\u{ff}', "yuml"),
    ('\u{152}', "OElig"),
    ('\u{153}', "oelig"),
    ('\u{160}', "Scaron"),
    ('\u{161}', "scaron"),
    ('\u{178}', "Yuml"),
    ('\u{192}', "fnof"),
    ('\u{2c6}', "circ"),
    ('\u{2dc}', "tilde"),
    ('\u{391}', "Alpha"),
    ('\u{392}', "Beta"),
    ('\u{393}', "Gamma"),
    ('\u{394}', "Delta"),
    ('\u{395}', "Epsilon"),
    ('\u{396}', "Zeta"),
    ('\u{397}', "Eta"),
    ('\u{398}', "Theta"),
    ('\u{399}', "Iota"),
    ('\u{39a}', "Kappa"),
    ('\u{39b}', "Lambda"),
    ('\u{39c}', "Mu"),
    ('\u{39d}', "Nu"),
    ('\u{39e}', "Xi"),
    ('\u{39f}', "Omicron"),
    ('\u{3a0}', "Pi"),
    ('\u{3a1}', "Rho"),
    ('\u{3a3}', "Sigma"),
    ('\u{3a4}', "Tau"),
    ('\u{3a5}', "Upsilon"),
    ('\u{3a6}', "Phi"),
    ('\u{3a7}', "Chi"),
    ('\u{3a8}', "Psi"),
    ('\u{3a9}', "Omega"),
    ('\u{3b1}', "alpha"),
    ('\u{3b2}', "beta"),
    ('\u{3b3}', "gamma"),
    ('\u{3b4}', "delta"),
    ('\u{3b5}', "epsilon"),
    ('\u{3b6}', "zeta"),
    ('\u{3b7}', "eta"),
    ('\u{3b8}', "theta"),
    ('\u{3b9}', "iota"),
    ('\u{3ba}', "kappa"),
    ('\u{3bb}', "lambda"),
    ('\u{3bc}', "mu"),
    ('\u{3bd}', "nu"),
    ('\u{3be}', "xi"),
    ('\u{3bf}', "omicron"),
    ('\u{3c0}', "pi"),
    ('\u{3c1}', "rho"),
    ('\u{3c2}', "sigmaf"),
    ('\u{3c3}', "sigma"),
    ('\u{3c4}', "tau"),
    ('\u{3c5}', "upsilon"),
    ('\u{3c6}', "phi"),
    ('\u{3c7}', "chi"),
    ('\u{3c8}', "psi"),
    ('\u{3c9}', "omega"),
    ('\u{3d1}', "thetasym"),
    ('\u{3d2}', "upsih"),
    ('\u{3d6}', "piv"),
    ('\u{2002}', "ensp"),
    ('\u{2003}', "emsp"),
    ('\u{2009}', "thinsp"),
    ('\u{200c}', "zwnj"),
    ('\u{200d}', "zwj"),
    ('\u{200e}', "lrm"),
    ('\u{200f}', "rlm"),
    ('\u{2013}', "ndash"),
    ('\u{2014}', "mdash"),
    ('\u{2018}', "lsquo"),
    ('\u{2019}', "rsquo"),
    ('\u{201a}', "sbquo"),
    ('\u{201c}', "ldquo"),
    ('\u{201d}', "rdquo"),
    ('\u{201e}', "bdquo"),
    ('\u{2020}', "dagger"),
    ('\u{2021}', "Dagger"),
    ('\u{2022}', "bull"),
    ('\u{2026}', "hellip"),
    ('\u{2030}', "permil"),
    ('\u{2032}', "prime"),
    ('\u{2033}', "Prime"),
    ('\u{2039}', "lsaquo"),
    ('\u{203a}', "rsaquo"),
    ('\u{203e}', "oline"),
    ('\u{2044}', "frasl"),
    ('\u{20ac}', "euro"),
    ('\u{2111}', "image"),
    ('\u{2118}', "weierp"),
    ('\u{211c}', "real"),
    ('\u{2122}', "trade"),
    ('\u{2135}', "alefsym"),
    ('\u{2190}', "larr"),
    ('\u{2191}', "uarr"),
    ('\u{2192}', "rarr"),
    ('\u{2193}', "darr"),
    ('\u{2194}', "harr"),
    ('\u{21b5}', "crarr"),
    ('\u{21d0}', "lArr"),
    ('\u{21d1}', "uArr"),
    ('\u{21d2}', "rArr"),
    ('\u{21d3}', "dArr"),
    ('\u{21d4}', "hArr"),
    ('\u{2200}', "forall"),
    ('\u{2202}', "part"),
    ('\u{2203}', "exist"),
    ('\u{2205}', "empty"),
    ('\u{2207}', "nabla"),
    ('\u{2208}', "isin"),
    ('\u{2209}', "notin"),
    ('\u{220b}', "ni"),
    ('\u{220f}', "prod"),
    ('\u{2211}', "sum"),
    ('\u{2212}', "minus"),
    ('\u{2217}', "lowast"),
    ('\u{221a}', "radic"),
    ('\u{221d}', "prop"),
    ('\u{221e}', "infin"),
    ('\u{2220}', "ang"),
    ('\u{2227}', "and"),
    ('\u{2228}', "or"),
    ('\u{2229}', "cap"),
    ('\u{222a}', "cup"),
    ('\u{222b}', "int"),
    ('\u{2234}', "there4"),
    ('\u{223c}', "sim"),
    ('\u{2245}', "cong"),
    ('\u{2248}', "asymp"),
    ('\u{2260}', "ne"),
    ('\u{2261}', "equiv"),
    ('\u{2264}', "le"),
    ('\u{2265}', "ge"),
    ('\u{2282}', "sub"),
    ('\u{2283}', "sup"),
    ('\u{2284}', "nsub"),
    ('\u{2286}', "sube"),
    ('\u{2287}', "supe"),
    ('\u{2295}', "oplus"),
    ('\u{2297}', "otimes"),
    ('\u{22a5}', "perp"),
    ('\u{22c5}', "sdot"),
    ('\u{2308}', "lceil"),
    ('\u{2309}', "rceil"),
    ('\u{230a}', "lfloor"),
    ('\u{230b}', "rfloor"),
    ('\u{2329}', "lang"),
    ('\u{232a}', "rang"),
    ('\u{25ca}', "loz"),
    ('\u{2660}', "spades"),
    ('\u{2663}', "clubs"),
    ('\u{2665}', "hearts"),
    ('\u{2666}', "diams"),
];

fn basic(c: char) -> Option<&'static str> {
    match c {
        '"' => Some("quot"),
        '&' => Some("amp"),
        '<' => Some("lt"),
        '>' => Some("gt"),
        _ => None,
    }
}

pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        let named = || ENTITIES.binary_search_by_key(&c, |(c, _)| *c);
        match basic(c).or_else(|| named().ok().map(|at| ENTITIES[at].1)) {
            Some(name) => out.extend(["&", name, ";"]),
            None => out.push(c),
        }
    }
}

/// XML 1.0: what may not stand in a document is dropped, and the second set of control characters
/// is escaped.
pub(super) fn escape_xml(text: &str, out: &mut String) {
    for c in text.chars() {
        match (basic(c), c) {
            (Some(name), _) => out.extend(["&", name, ";"]),
            (None, '\'') => out.push_str("&apos;"),
            (None, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}') => {
            }
            (None, '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}') => {
                super::push(out, format_args!("&#{};", u32::from(c)));
            }
            (None, c) => out.push(c),
        }
    }
}

/// Puts characters in the place of entities and numbers; what is neither stands as it is.
///
/// # Errors
/// What Java throws for a number above all characters.
pub(super) fn unescape(text: &str, out: &mut String) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = rest[1..].split_once(';').map(|(reference, _)| reference);
        let reference = reference.unwrap_or_default();
        if let Some(c) = character(reference)? {
            out.push(c);
            rest = &rest[reference.len() + 2..];
            continue;
        }
        out.push('&');
        rest = &rest[1..];
    }
    out.push_str(rest);
    Ok(())
}

fn character(reference: &str) -> Result<Option<char>, String> {
    let Some(number) = reference.strip_prefix('#') else {
        return Ok(named(reference));
    };
    let hex = number.strip_prefix(['x', 'X']);
    let (digits, radix) = hex.map_or((number, 10), |digits| (digits, 16));
    // A sign is not a digit, although Rust would take it.
    let digits = digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then_some(digits);
    let code = digits.and_then(|digits| i32::from_str_radix(digits, radix).ok());
    let Some(code) = code.map(i32::cast_unsigned) else {
        return Ok(None);
    };
    if code > u32::from(char::MAX) {
        let says = "java.lang.IllegalArgumentException: Not a valid Unicode code point: 0x";
        return Err(format!("{says}{code:X}"));
    }
    // Half of a pair is sent as a question mark.
    Ok(Some(char::from_u32(code).unwrap_or('?')))
}

fn named(name: &str) -> Option<char> {
    let all = ['"', '&', '<', '>'].into_iter();
    let basic = all.into_iter().find(|c| basic(*c) == Some(name));
    basic.or_else(|| ENTITIES.iter().find(|(_, n)| *n == name).map(|(c, _)| *c))
}
