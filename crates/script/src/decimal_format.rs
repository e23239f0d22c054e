//! `java.text.DecimalFormat` for whole numbers: counters, random variables, numbered files.
//!
//! Prefix, suffix, quotes, grouping, least digits before and after the point, a pattern for
//! negative numbers, per cent and per mille are as in Java with English symbols. A pattern with an
//! exponent or that Java refuses gives the plain number, as JMeter does for a refused one.

/// Writes a number as a Java pattern says, such as `000` or `#,##0.00`.
///
/// ```
/// assert_eq!(weir_script::java_decimal_format("000", 5), "005");
/// assert_eq!(weir_script::java_decimal_format("#,##0.00 EUR", -1234), "-1,234.00 EUR");
/// ```
pub fn java_decimal_format(pattern: &str, number: i64) -> String {
    match Format::parse(pattern) {
        Some(format) => format.write(number),
        None => number.to_string(),
    }
}

/// Most digits that a pattern may ask for.
const DIGITS_MAX: usize = 1_000;

#[derive(Debug, Default)]
struct Format {
    positive: Affixes,
    /// A minus before the positive ones when it is not there.
    negative: Option<Affixes>,
    digits_min: usize,
    /// Digits after the point, all of them 0.
    decimals: usize,
    point_always: bool,
    /// Digits in a group; 0: no groups.
    group: usize,
    /// Zeros that per cent and per mille add.
    scale: usize,
}

#[derive(Debug, Default)]
struct Affixes {
    prefix: String,
    suffix: String,
}

/// A part of a pattern between two `;`.
#[derive(Debug, Default)]
struct Part {
    affixes: Affixes,
    body: String,
    scale: usize,
}

impl Format {
    fn parse(pattern: &str) -> Option<Self> {
        // Java's default pattern for a locale.
        let pattern = if pattern.is_empty() {
            "#,##0.###"
        } else {
            pattern
        };
        let (first, rest) = Part::read(pattern)?;
        let second = match rest {
            Some(rest) => Some(Part::read(rest)?.0),
            None => None,
        };
        let mut format = Self {
            positive: first.affixes,
            negative: second.map(|part| part.affixes),
            scale: first.scale,
            ..Self::default()
        };
        format.read_body(&first.body)?;
        Some(format)
    }

    fn read_body(&mut self, body: &str) -> Option<()> {
        let (whole, fraction) = match body.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (body, None),
        };
        let digits: String = whole.chars().filter(|c| *c != ',').collect();
        let zeros = digits.trim_start_matches('#');
        self.digits_min = zeros.len();
        let fraction_digits = fraction.unwrap_or_default();
        let decimals = fraction_digits.trim_end_matches('#');
        self.decimals = decimals.len();
        let legal = zeros.bytes().chain(decimals.bytes()).all(|b| b == b'0');
        if !legal || zeros.len().max(decimals.len()) > DIGITS_MAX {
            return None;
        }
        self.point_always = fraction == Some("");
        // `#.##` leaves nothing before the point but what there is; `#` alone is one digit.
        if zeros.is_empty() && fraction.is_none_or(str::is_empty) && !digits.is_empty() {
            self.digits_min = 1;
        }
        if zeros.is_empty() && decimals.is_empty() {
            self.digits_min = 1;
        }
        self.group = whole.rsplit_once(',').map_or(0, |(_, group)| group.len());
        Some(())
    }

    fn write(&self, number: i64) -> String {
        let mut digits = number.unsigned_abs().to_string();
        if number == 0 {
            digits.clear();
        } else {
            digits.extend(std::iter::repeat_n('0', self.scale));
        }
        let missing = self.digits_min.saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
        let mut out = String::new();
        let affixes = match (&self.negative, number < 0) {
            (Some(negative), true) => negative,
            (None, true) => {
                out.push('-');
                &self.positive
            }
            (_, false) => &self.positive,
        };
        out.push_str(&affixes.prefix);
        for (index, digit) in digits.char_indices() {
            let left = digits.len() - index;
            if index > 0 && self.group > 0 && left.is_multiple_of(self.group) {
                out.push(',');
            }
            out.push(digit);
        }
        if self.decimals > 0 || self.point_always {
            out.push('.');
        }
        out.push_str(&"0".repeat(self.decimals));
        out.push_str(&affixes.suffix);
        out
    }
}

impl Part {
    /// Reads up to a `;` outside quotes; the answer's second half is what follows it.
    fn read(pattern: &str) -> Option<(Self, Option<&str>)> {
        let mut part = Self::default();
        let mut quoted = false;
        let mut ended = false;
        let mut rest = pattern.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            let in_body = !part.body.is_empty() && !ended;
            match c {
                '\'' if rest.peek().is_some_and(|(_, next)| *next == '\'') => {
                    rest.next();
                    part.affix().push('\'');
                    ended |= in_body;
                }
                '\'' => {
                    quoted = !quoted;
                    ended |= in_body;
                }
                _ if quoted => part.affix().push(c),
                ';' => return Some((part, Some(&pattern[at + 1..]))),
                '0' | '#' | ',' | '.' if !ended => {
                    // A second point is refused.
                    if c == '.' && part.body.contains('.') {
                        return None;
                    }
                    part.body.push(c);
                }
                '0' | '#' | ',' | '.' => return None,
                'E' if in_body => return None,
                _ => {
                    ended |= in_body;
                    match c {
                        '%' => part.scale = 2,
                        '\u{2030}' => part.scale = 3,
                        _ => {}
                    }
                    part.affix().push(c);
                }
            }
        }
        (!quoted).then_some((part, None))
    }

    fn affix(&mut self) -> &mut String {
        if self.body.is_empty() {
            &mut self.affixes.prefix
        } else {
            &mut self.affixes.suffix
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `java.text.DecimalFormat` of Java 17 writes for 0, 5, -5, 1234567 and -1234.
    const JAVA: [(&str, [&str; 5]); 22] = [
        ("000", ["000", "005", "-005", "1234567", "-1234"]),
        ("#", ["0", "5", "-5", "1234567", "-1234"]),
        ("#,##0", ["0", "5", "-5", "1,234,567", "-1,234"]),
        (
            "#,##0.00",
            ["0.00", "5.00", "-5.00", "1,234,567.00", "-1,234.00"],
        ),
        ("0.0", ["0.0", "5.0", "-5.0", "1234567.0", "-1234.0"]),
        ("00000", ["00000", "00005", "-00005", "1234567", "-01234"]),
        (
            "'a'000'b'",
            ["a000b", "a005b", "-a005b", "a1234567b", "-a1234b"],
        ),
        ("#.##", ["0", "5", "-5", "1234567", "-1234"]),
        ("000.", ["000.", "005.", "-005.", "1234567.", "-1234."]),
        ("$#,##0", ["$0", "$5", "-$5", "$1,234,567", "-$1,234"]),
        ("0%", ["0%", "500%", "-500%", "123456700%", "-123400%"]),
        ("0;(0)", ["0", "5", "(5)", "1234567", "(1234)"]),
        ("#,##0;(#)", ["0", "5", "(5)", "1,234,567", "(1,234)"]),
        (
            "seq#.txt",
            [
                "seq0.txt",
                "seq5.txt",
                "-seq5.txt",
                "seq1234567.txt",
                "-seq1234.txt",
            ],
        ),
        ("''0", ["'0", "'5", "-'5", "'1234567", "-'1234"]),
        ("00'0'", ["000", "050", "-050", "12345670", "-12340"]),
        ("0 m", ["0 m", "5 m", "-5 m", "1234567 m", "-1234 m"]),
        ("####,##", ["0", "5", "-5", "1,23,45,67", "-12,34"]),
        ("", ["0", "5", "-5", "1,234,567", "-1,234"]),
        (".00", [".00", "5.00", "-5.00", "1234567.00", "-1234.00"]),
        (",000", ["000", "005", "-005", "1,234,567", "-1,234"]),
        ("x", ["x0", "x5", "-x5", "x1234567", "-x1234"]),
    ];

    #[test]
    fn writes_what_java_writes() {
        for (pattern, expect) in JAVA {
            let written = [0, 5, -5, 1_234_567, -1234].map(|n| java_decimal_format(pattern, n));
            assert_eq!(written, expect, "{pattern}");
        }
        let largest = java_decimal_format("#,##0", i64::MIN);
        assert_eq!(largest, "-9,223,372,036,854,775,808");
    }

    #[test]
    fn what_java_refuses_is_the_plain_number() {
        for pattern in ["#0#", "0.0.0", "a'b"] {
            assert_eq!(java_decimal_format(pattern, -5), "-5", "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_gives_an_answer(pattern in r"([0#,.;%'E-]|\PC){0,20}", number: i64) {
            java_decimal_format(&pattern, number);
        }
    }
}
