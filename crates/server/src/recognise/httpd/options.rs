//! The options of an httpd's command line.

use crate::process::ProcessFacts;

/// Options of its command line that have a value (`httpd -h`).
const WITH_VALUE: &str = "DdfCcekE";

/// The values of an option of the command line, in the word itself or in the next one.
pub(super) fn options(facts: &ProcessFacts, letter: char) -> Vec<String> {
    let mut words = facts.words.iter().skip(1);
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        let Some(rest) = word.strip_prefix('-') else {
            continue;
        };
        let Some(named) = rest
            .chars()
            .next()
            .filter(|named| WITH_VALUE.contains(*named))
        else {
            continue;
        };
        let value = match &rest[1..] {
            "" => words.next().map_or("", String::as_str),
            value => value,
        };
        if named == letter {
            values.push(value.to_owned());
        }
    }
    values
}

/// The value of an option that counts once.
pub(super) fn option(facts: &ProcessFacts, letter: char) -> Option<String> {
    options(facts, letter).pop()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognise::java_command::tests::process;

    #[test]
    fn options_are_read_as_httpd_reads_them() {
        let facts = process("/usr/sbin/httpd -DA -D B -k start -f a.conf -f b.conf -c TimeOut -X");
        assert_eq!(options(&facts, 'D'), ["A", "B"]);
        assert_eq!(option(&facts, 'f').as_deref(), Some("b.conf"));
        assert_eq!(options(&facts, 'c'), ["TimeOut"]);
        assert_eq!(option(&facts, 'd'), None);
    }
}
