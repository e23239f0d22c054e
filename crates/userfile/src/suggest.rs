//! "Did you mean": the known name that is closest to a misspelt one.

/// The closest of `known`, when it is close enough to be meant.
pub fn closest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    // A third of the letters may be wrong: `thread` is meant for `threads`, `windw` for `window`;
    // anything further is another word.
    let most = (typed.chars().count() / 3).max(1);
    known
        .iter()
        .map(|name| (distance(typed, name), *name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// The closest name as a hint, else all that would do.
pub fn hint(typed: &str, known: &[&str]) -> String {
    closest(typed, known).map_or_else(
        || format!("known here: {}", known.join(", ")),
        |name| format!("did you mean `{name}`?"),
    )
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment; Damerau 1964).
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_slips_of_the_finger() {
        for (left, right, expected) in [
            ("window", "window", 0),
            ("windw", "window", 1),
            ("wnidow", "window", 1),
            ("users", "threads", 5),
            ("", "abc", 3),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn means_what_is_close_and_nothing_else() {
        let known = ["threads", "pool.db", "connections"];
        assert_eq!(closest("thread", &known), Some("threads"));
        assert_eq!(closest("conections", &known), Some("connections"));
        assert_eq!(closest("heap", &known), None);
        assert_eq!(
            hint("heap", &known),
            "known here: threads, pool.db, connections"
        );
    }
}
