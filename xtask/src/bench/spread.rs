//! The middle and the range of the figures of several rounds.

/// The least, the median (of an even number the mean of the two in the middle) and the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    low: f64,
    pub(crate) median: f64,
    high: f64,
    count: usize,
}

impl Spread {
    /// `None` of nothing.
    pub(crate) fn of(mut sorted: Vec<f64>) -> Option<Self> {
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        Some(Self {
            low: *sorted.first()?,
            median: f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
            high: *sorted.last()?,
            count,
        })
    }

    /// With so many digits behind the point; the range only of more than one figure.
    pub(crate) fn text(self, digits: usize) -> String {
        let Self {
            low, median, high, ..
        } = self;
        if self.count == 1 {
            return format!("{median:.digits$}");
        }
        format!("{median:.digits$} ({low:.digits$}–{high:.digits$})")
    }
}

/// The spread of figures that there may be none of.
pub(crate) fn spread(values: Vec<f64>, digits: usize) -> String {
    Spread::of(values).map_or_else(|| "–".to_owned(), |spread| spread.text(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 9.0], 1), "3.0 (1.0–9.0)");
        assert_eq!(spread(vec![3.0, 1.0, 2.0], 0), "2 (1–3)");
        assert_eq!(spread(vec![2.5], 1), "2.5");
        assert_eq!(spread(Vec::new(), 1), "–");
    }
}
