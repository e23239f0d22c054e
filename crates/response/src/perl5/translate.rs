//! From ORO's syntax to `fancy-regex`'s.
//!
//! ORO takes much for plain characters that others refuse or read otherwise: a `{` that begins no
//! count, a `]` that ends no class, an escaped letter without a meaning, `[` and `&&` inside a
//! class. And its `$` also matches before a last line feed.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// The end of the text, or before the line feed that ends it.
const END: &str = "(?:(?=\\n?\\z))";

/// The expression for `fancy-regex`, or what ORO would say against it.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut first = Translation::of(pattern);
    first.run()?;
    // Flags count for the whole expression, wherever they stand, as they do for ORO.
    let mut second = Translation::of(pattern);
    second.multi_line = first.multi_line;
    second.extended = first.extended;
    second.run()?;
    Ok(match second.flags.as_str() {
        "" => second.out,
        flags => format!("(?{flags}){}", second.out),
    })
}

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    /// Capturing groups begun so far.
    groups: u32,
    /// Groups that are not closed.
    open: usize,
    flags: String,
    multi_line: bool,
    extended: bool,
    before: Before,
}

/// What stands before a place, as far as a count there cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that could be repeated.
    Nothing,
    /// Something.
    Atom,
    /// Something that has a count already.
    Counted,
}

impl<'p> Translation<'p> {
    fn of(pattern: &'p str) -> Self {
        Self {
            rest: pattern.chars().peekable(),
            out: String::with_capacity(pattern.len() + 16),
            groups: 0,
            open: 0,
            flags: String::new(),
            multi_line: false,
            extended: false,
            before: Before::Nothing,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.open()?,
                ')' => {
                    if self.open == 0 {
                        return Err("Unmatched parentheses.".into());
                    }
                    self.open -= 1;
                    self.atom(")");
                }
                '|' => {
                    self.out.push('|');
                    self.before = Before::Nothing;
                }
                '*' | '+' | '?' => self.count(&c.to_string())?,
                '{' if self.before == Before::Nothing => self.literal('{'),
                '{' => match self.counts()? {
                    Some(counts) => self.count(&counts)?,
                    None => self.literal('{'),
                },
                '^' => self.atom("^"),
                '$' if self.multi_line => self.atom("$"),
                '$' => self.atom(END),
                '.' => self.atom("."),
                '#' if self.extended => while self.rest.next_if(|c| *c != '\n').is_some() {},
                c if self.extended && c.is_whitespace() => {}
                c => self.literal(c),
            }
        }
        if self.open == 0 {
            Ok(())
        } else {
            Err("Unmatched parentheses.".into())
        }
    }

    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.before = Before::Atom;
    }

    fn literal(&mut self, c: char) {
        push_literal(&mut self.out, c);
        self.before = Before::Atom;
    }

    /// `*`, `+`, `?` or a count in braces, and a `?` behind it.
    fn count(&mut self, counts: &str) -> Result<(), String> {
        match self.before {
            Before::Nothing => return Err("?+* follows nothing in expression".into()),
            Before::Counted => return Err("Nested repetitions *?+ in expression".into()),
            Before::Atom => {}
        }
        self.out.push_str(counts);
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.before = Before::Counted;
        Ok(())
    }

    /// The rest of `{n}`, `{n,}` or `{n,m}`, if that is what stands here.
    fn counts(&mut self) -> Result<Option<String>, String> {
        let ahead: String = self.rest.clone().take_while(|c| *c != '}').collect();
        let (low, high) = ahead.split_once(',').unwrap_or((&ahead, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let closed = self.rest.clone().nth(ahead.chars().count()) == Some('}');
        if !closed || low.is_empty() || !digits(low) || !digits(high) {
            return Ok(None);
        }
        if let (Ok(low), Ok(high)) = (low.parse::<u32>(), high.parse::<u32>())
            && high < low
        {
            return Err(format!("Invalid interval {{{ahead}}}"));
        }
        for _ in 0..=ahead.len() {
            self.rest.next();
        }
        Ok(Some(format!("{{{ahead}}}")))
    }

    fn open(&mut self) -> Result<(), String> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.groups += 1;
            self.begin("(");
            return Ok(());
        }
        match self.rest.next() {
            Some(c @ (':' | '=' | '!')) => self.begin(&format!("(?{c}")),
            Some('#') => {
                while self.rest.next_if(|c| *c != ')').is_some() {}
                self.rest.next();
            }
            Some(')') => return Err("Unmatched parentheses.".into()),
            Some(flag) if flag == '-' || flag.is_ascii_lowercase() => self.flags(flag)?,
            Some(c) => return Err(format!("Sequence (?{c}...) not recognized")),
            None => return Err("Sequence (?\0...) not recognized".into()),
        }
        Ok(())
    }

    fn begin(&mut self, text: &str) {
        self.out.push_str(text);
        self.open += 1;
        self.before = Before::Nothing;
    }

    /// `(?imsx)`; `g`, `c` and `o` mean nothing here.
    fn flags(&mut self, first: char) -> Result<(), String> {
        let mut flag = Some(first);
        loop {
            match flag {
                Some(c @ ('i' | 's')) => self.flags.push(c),
                Some('m') => {
                    self.flags.push('m');
                    self.multi_line = true;
                }
                Some('x') => self.extended = true,
                Some('g' | 'c' | 'o') => {}
                // What is switched off was not on: nothing more counts.
                Some('-') => while self.rest.next_if(|c| *c != ')').is_some() {},
                // ORO does not see a parenthesis that closes flags and the expression.
                Some(')') if self.rest.peek().is_none() => {
                    return Err("Unmatched parentheses.".into());
                }
                Some(')') => return Ok(()),
                c => {
                    let c = c.unwrap_or_default();
                    return Err(format!("Sequence (?{c}...) not recognized"));
                }
            }
            flag = self.rest.next();
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.rest.next() else {
            return Err("Trailing \\ in expression.".into());
        };
        match c {
            'G' => return Err("\\G is not supported".into()),
            'b' | 'B' | 'A' => {
                let text = format!("\\{c}");
                self.atom(&text);
            }
            'Z' => self.atom(END),
            '1'..='9' => self.reference(c)?,
            c => {
                if let Some(set) = named(c) {
                    self.atom(set);
                } else {
                    let c = self.character(c);
                    self.literal(c);
                }
            }
        }
        Ok(())
    }

    /// `\n`: a group that was begun before, or a character by its octal number.
    fn reference(&mut self, first: char) -> Result<(), String> {
        let mut ahead = self.rest.clone();
        let mut number = first.to_digit(10).unwrap_or_default();
        while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
            number = number.saturating_mul(10);
            number = number.saturating_add(digit.to_digit(10).unwrap_or_default());
        }
        if number <= 9 && number > self.groups {
            return Err(format!("Invalid backreference: \\{number}"));
        }
        if number > self.groups {
            let c = self.octal(first);
            self.literal(c);
        } else {
            self.rest = ahead;
            let text = format!("(?:\\{number})");
            self.atom(&text);
        }
        Ok(())
    }

    /// The character that `\` and `c` stand for; more may follow.
    fn character(&mut self, c: char) -> char {
        match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\u{c}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'x' => self.number(16, 2, 0),
            'c' => {
                let control = self.rest.next().unwrap_or_default();
                char::from((control.to_ascii_uppercase() as u8) ^ 64)
            }
            '0'..='7' => self.octal(c),
            c => c,
        }
    }

    fn octal(&mut self, first: char) -> char {
        let first = first.to_digit(8).unwrap_or_default();
        self.number(8, 2, first)
    }

    /// A character by a number of at most so many more digits.
    fn number(&mut self, radix: u32, digits: usize, first: u32) -> char {
        let mut number = first;
        for _ in 0..digits {
            let Some(digit) = self.rest.next_if(|c| c.is_digit(radix)) else {
                break;
            };
            number = number * radix + digit.to_digit(radix).unwrap_or_default();
        }
        char::from_u32(number).unwrap_or_default()
    }

    /// A class in brackets; the opening one is behind us.
    fn class(&mut self) -> Result<(), String> {
        let mut class = String::from("[");
        if self.rest.next_if_eq(&'^').is_some() {
            class.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.rest.next() else {
                return Err("Unmatched [] in expression.".into());
            };
            if c == ']' && !first {
                break;
            }
            first = false;
            match self.member(c) {
                Member::Set(set) => class.push_str(&set),
                Member::Character(low) => self.range(low, &mut class)?,
            }
        }
        class.push(']');
        self.atom(&class);
        Ok(())
    }

    /// `low`, or a range that begins with it.
    fn range(&mut self, low: char, class: &mut String) -> Result<(), String> {
        push_literal(class, low);
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') {
            return Ok(());
        }
        let Some(end) = ahead.next().filter(|end| *end != ']') else {
            return Ok(());
        };
        self.rest = ahead;
        match self.member(end) {
            Member::Character(high) if low <= high => {
                class.push('-');
                push_literal(class, high);
            }
            _ => return Err("Invalid [] range in expression.".into()),
        }
        Ok(())
    }

    fn member(&mut self, c: char) -> Member {
        match c {
            '[' => match self.named_class() {
                Some(set) => Member::Set(set),
                None => Member::Character('['),
            },
            '\\' => match self.rest.next() {
                Some('b') => Member::Character('\u{8}'),
                Some(c) => match named(c) {
                    Some(set) => Member::Set(set.to_owned()),
                    None => Member::Character(self.character(c)),
                },
                None => Member::Character('\\'),
            },
            c => Member::Character(c),
        }
    }

    /// The rest of `[:name:]` or `[:^name:]`, if that is what stands here.
    fn named_class(&mut self) -> Option<String> {
        const NAMED: [(&str, &str); 14] = [
            ("alnum", "\\p{L}\\p{Nd}"),
            ("alpha", "\\p{L}"),
            ("ascii", "\\x00-\\x7f"),
            ("blank", "\\p{Zs}\\t"),
            ("cntrl", "\\p{Cc}"),
            ("digit", "\\p{Nd}"),
            ("graph", "\\p{L}\\p{N}\\p{P}\\p{S}"),
            ("lower", "\\p{Ll}"),
            ("print", "\\p{L}\\p{N}\\p{P}\\p{S}\\p{Zs}"),
            ("punct", "\\p{P}\\p{S}"),
            ("space", SPACE),
            ("upper", "\\p{Lu}"),
            ("word", WORD),
            ("xdigit", "0-9a-fA-F"),
        ];
        let ahead: String = self.rest.clone().take(11).collect();
        let inside = ahead.strip_prefix(':')?;
        let (inside, not) = match inside.strip_prefix('^') {
            Some(inside) => (inside, "^"),
            None => (inside, ""),
        };
        let (name, _) = inside.split_once(":]")?;
        let (_, set) = NAMED.iter().find(|(known, _)| *known == name)?;
        for _ in 0..name.len() + not.len() + 3 {
            self.rest.next();
        }
        Some(format!("[{not}{set}]"))
    }
}

/// Java's white space: no no-break space, but the ASCII separators.
const SPACE: &str = "\\t-\\r\\x1c-\\x20\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}";

/// Java's letters and digits, and the underscore.
const WORD: &str = "\\p{L}\\p{Nd}_";

/// The set of characters that an escaped letter stands for.
fn named(c: char) -> Option<&'static str> {
    Some(match c {
        'w' => "[\\p{L}\\p{Nd}_]",
        'W' => "[^\\p{L}\\p{Nd}_]",
        'd' => "\\p{Nd}",
        'D' => "\\P{Nd}",
        's' => {
            "[\\t-\\r\\x1c-\\x20\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}]"
        }
        'S' => {
            "[^\\t-\\r\\x1c-\\x20\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}]"
        }
        _ => return None,
    })
}

/// A member of a class.
enum Member {
    Character(char),
    Set(String),
}

/// The character and nothing else, inside and outside of classes.
fn push_literal(out: &mut String, c: char) {
    if c.is_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{:02x}", u32::from(c));
    }
}
