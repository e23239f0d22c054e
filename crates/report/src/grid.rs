//! Rows of cells that line up, in plain text.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use weir_shown::line;

/// On which side the cells of a column line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table of text.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

/// Blanks between two columns.
const GAP: &str = "  ";

impl Grid {
    /// A table with these columns and this heading.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            align: columns.iter().map(|(_, align)| *align).collect(),
            rows: vec![columns.iter().map(|(head, _)| (*head).to_owned()).collect()],
        }
    }

    /// Adds a row; it has as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.align.len(), "a row fills its table");
        // A name must not begin another row.
        let cells = cells.into_iter().map(|cell| line(&cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// The width of the widest line.
    pub(crate) fn width(&self) -> usize {
        self.widths().iter().sum::<usize>() + GAP.len() * (self.align.len().saturating_sub(1))
    }

    /// Makes cells of one column end in an ellipsis so that the table is at most this wide; the
    /// column keeps a width of 8.
    pub(crate) fn shrink(&mut self, column: usize, width: usize) {
        let excess = self.width().saturating_sub(width);
        let keep = self.widths()[column].saturating_sub(excess).max(8);
        for row in &mut self.rows {
            row[column] = cut(&row[column], keep);
        }
    }

    /// The lines, each indented, without blanks at their ends.
    pub(crate) fn lines(&self, indent: &str) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(&widths)
                .zip(&self.align)
                .map(|((cell, width), align)| {
                    let blanks = " ".repeat(width - cell.width());
                    match align {
                        Align::Left => format!("{cell}{blanks}"),
                        Align::Right => format!("{blanks}{cell}"),
                    }
                });
            let line = cells.collect::<Vec<_>>().join(GAP);
            text.push_str(format!("{indent}{line}").trim_end());
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.align.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| row[column].width());
                cells.max().unwrap_or(0)
            })
            .collect()
    }
}

/// The text, ended by an ellipsis when it is wider than that.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if kept.width() >= width {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// The text in lines of at most this width, broken between words; lines after the first begin with
/// `hang`. A word that is wider than a line stands alone.
pub(crate) fn wrap(first: &str, hang: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.width() + 1 + word.width() > width {
            lines.push_str(line.trim_end());
            lines.push('\n');
            hang.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

/// A line in lines of at most this width. It is broken between parts (two spaces) where the line
/// is at least half full then, else between words; what follows stands further to the right.
pub fn in_width(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let hang = " ".repeat(indent + HANG);
    let mut lines = String::new();
    let mut rest = text.trim_end_matches(' ').to_owned();
    while rest.width() > width {
        let room = cut_at(&rest, width);
        let start = rest.len() - rest.trim_start_matches(' ').len();
        if room <= start {
            break;
        }
        let part = rest[start..room].rfind("  ");
        let half = part.filter(|at| rest[..start + at].width() >= width / 2);
        let Some(at) = half.or_else(|| rest[start..room].rfind(' ')) else {
            break;
        };
        let (line, next) = rest.split_at(start + at);
        lines.push_str(line.trim_end_matches(' '));
        lines.push('\n');
        rest = format!("{hang}{}", next.trim_start_matches(' '));
    }
    lines + &rest
}

/// How far lines that go on stand to the right of the first.
const HANG: usize = 4;

/// The end of the longest beginning that is at most so wide, and one more: a space there ends it.
fn cut_at(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, sign) in text.char_indices() {
        used += sign.width().unwrap_or(0);
        if used > width {
            return at + sign.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_is_too_long_goes_on_between_its_parts() {
        let line = "  9 check        69 users  185 /s  threads full  connections 1,883  pool.db 8";
        assert_eq!(in_width(line, 80), line);
        assert_eq!(
            in_width(line, 60),
            "  9 check        69 users  185 /s  threads full\n      connections 1,883  pool.db 8"
        );
        assert_eq!(
            in_width("trial 1 is run again: other processes", 20),
            "trial 1 is run\n    again: other\n    processes"
        );
        assert_eq!(
            in_width("  an_address_without_end", 10),
            "  an_address_without_end"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_in_any_width(text in ".{0,80}", width in 1_usize..60) {
            let words = |text: &str| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            let text = text.replace('\n', " ");
            prop_assert_eq!(words(&in_width(&text, width).replace('\n', " ")), words(&text));
        }
    }

    #[test]
    fn columns_line_up_in_any_script() {
        let mut grid = Grid::new(&[("label", Align::Left), ("n", Align::Right)]);
        grid.row(vec!["検索".into(), "5".into()]);
        grid.row(vec!["top".into(), "12,345".into()]);
        assert_eq!(
            grid.lines("  "),
            "  label       n\n  検索        5\n  top    12,345\n"
        );
        assert_eq!(grid.width(), 13);
    }

    #[test]
    fn cuts_at_a_width_and_not_at_a_count_of_letters() {
        assert_eq!(cut("検索の結果", 7), "検索の…");
        assert_eq!(cut("search", 6), "search");
        assert_eq!(cut("searches", 6), "searc…");
    }

    proptest! {
        #[test]
        fn wrapping_loses_no_word_and_keeps_the_width(text in "([a-z]{1,12} ){0,40}") {
            let wrapped = wrap("* ", "  ", &text, 40);
            prop_assert!(wrapped.lines().all(|line| line.width() <= 40));
            let words: Vec<&str> = wrapped.split_whitespace().skip(1).collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
