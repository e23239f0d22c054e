//! Records of CSV files whose fields may be quoted, read as JMeter reads them: letter by letter, so
//! that what is wrong in a line ends the record there, and the rest of the line is the next one.

/// Where in a field a letter stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// Behind a quote in a quoted field, which another one may follow.
    Quote,
}

/// Reads a record from `rest`, then from further lines with their ends.
///
/// `None` at the end. A record with a quote where none may be has no fields; its unread part is
/// left in `rest`, as is what follows a record.
pub(crate) fn record(
    rest: &mut String,
    mut line: impl FnMut() -> Option<String>,
    delimiter: char,
) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut place = Place::Start;
    let mut is_open = false;
    loop {
        if rest.is_empty() {
            match line() {
                Some(more) => *rest = more,
                None if place == Place::Quoted => return Some(Vec::new()),
                None => {
                    if is_open || place != Place::Start {
                        fields.push(field);
                    }
                    return (!fields.is_empty()).then_some(fields);
                }
            }
        }
        let text = std::mem::take(rest);
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let is_end = matches!(letter, '\n' | '\r');
            place = match (place, letter) {
                (Place::Start | Place::Quote, '"') => {
                    if place == Place::Quote {
                        field.push('"');
                    }
                    Place::Quoted
                }
                (Place::Quoted, '"') => Place::Quote,
                (Place::Quoted, _) => {
                    field.push(letter);
                    Place::Quoted
                }
                (_, _) if is_end || letter == delimiter => {
                    fields.push(std::mem::take(&mut field));
                    if is_end {
                        let after = letters.as_str();
                        let after = after.strip_prefix('\n').filter(|_| letter == '\r');
                        after.unwrap_or(letters.as_str()).clone_into(rest);
                        return Some(fields);
                    }
                    is_open = true;
                    Place::Start
                }
                (Place::Quote, _) | (Place::Plain, '"') => {
                    letters.as_str().clone_into(rest);
                    return Some(Vec::new());
                }
                (Place::Start | Place::Plain, _) => {
                    field.push(letter);
                    Place::Plain
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Vec<String>> {
        let mut lines = text.split_inclusive('\n').map(str::to_owned);
        let mut rest = String::new();
        std::iter::from_fn(|| record(&mut rest, || lines.next(), ',')).collect()
    }

    #[test]
    fn quotes_hold_delimiters_quotes_and_line_ends() {
        assert_eq!(all("a,\"b,c\",d"), [["a", "b,c", "d"]]);
        assert_eq!(all("\"say \"\"x\"\"\",2\r\n"), [["say \"x\"", "2"]]);
        assert_eq!(all("a,,"), [["a", "", ""]]);
        assert_eq!(
            all("\"a\nb\",c\n\nd"),
            [vec!["a\nb", "c"], vec![""], vec!["d"]]
        );
    }

    /// As JMeter 5.6.3 reads them.
    #[test]
    fn a_quote_in_the_wrong_place_ends_a_record() {
        assert_eq!(all("\"a\"x,b\nc"), [vec![], vec!["", "b"], vec!["c"]]);
        assert_eq!(all("a\"x,b\nc"), [vec![], vec!["x", "b"], vec!["c"]]);
        assert_eq!(all("a\n\"b"), [vec!["a"], vec![]]);
    }
}
