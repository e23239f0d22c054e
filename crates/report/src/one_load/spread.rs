//! How response times lie: bars of equal width on a logarithmic axis.

use weir_metric::SignalUnit;

/// Bars of the picture.
const BARS: usize = 32;
/// Its size.
const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 200.0;
const FLOOR: f64 = 170.0;

/// The picture, and its figures as a table.
#[derive(Debug)]
pub(super) struct Spread {
    pub(super) bars: Vec<Bar>,
    /// Where the axis says what.
    pub(super) ticks: Vec<(String, String)>,
    /// What the picture shows, for those who do not see it.
    pub(super) says: String,
}

/// One bar.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) width: String,
    pub(super) height: String,
    /// From which response time to which.
    pub(super) range: String,
    pub(super) count: u64,
    pub(super) share: String,
}

impl Spread {
    /// `None` of no responses.
    pub(super) fn of(response_us: &[(u64, u64)]) -> Option<Self> {
        let (first, last) = (response_us.first()?.0.max(1), response_us.last()?.0.max(1));
        let (low, high) = ((first as f64).ln(), (last as f64).ln() + 1e-9);
        let step = ((high - low) / BARS as f64).max(1e-3);
        let mut counts = [0_u64; BARS];
        for (value, count) in response_us {
            let at = ((*value).max(1) as f64).ln() - low;
            counts[((at / step) as usize).min(BARS - 1)] += count;
        }
        let all: u64 = counts.iter().sum();
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let edge = |at: usize| (low + step * at as f64).exp() / 1e3;
        let width = WIDTH / BARS as f64;
        let unit = SignalUnit::Milliseconds;
        let bars = counts.iter().enumerate().map(|(at, count)| {
            let height = (FLOOR - 10.0) * *count as f64 / most as f64;
            Bar {
                x: format!("{:.1}", width * at as f64 + 1.0),
                y: format!("{:.1}", FLOOR - height),
                width: format!("{:.1}", width - 2.0),
                height: format!("{height:.1}"),
                range: format!("{} to {}", unit.text(edge(at)), unit.text(edge(at + 1))),
                count: *count,
                share: SignalUnit::Share.text(*count as f64 / all as f64),
            }
        });
        let ticks = (0..=BARS).step_by(8).map(|at| {
            let x = (width * at as f64).clamp(24.0, WIDTH - 24.0);
            (format!("{x:.0}"), unit.text(edge(at)))
        });
        let peak = counts.iter().position(|count| *count == most)?;
        Some(Self {
            says: format!(
                "Response times from {} to {}; most often {} to {}",
                unit.text(edge(0)),
                unit.text(edge(BARS)),
                unit.text(edge(peak)),
                unit.text(edge(peak + 1))
            ),
            bars: bars.collect(),
            ticks: ticks.collect(),
        })
    }

    /// The size of the picture and where its bars stand.
    pub(super) fn frame() -> (f64, f64, f64) {
        (WIDTH, HEIGHT, FLOOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_response_is_in_a_bar() {
        let spread = Spread::of(&[(1_000, 10), (2_000, 80), (64_000, 10)]).expect("responses");
        assert_eq!(spread.bars.iter().map(|bar| bar.count).sum::<u64>(), 100);
        let tallest = spread.bars.iter().max_by_key(|bar| bar.count);
        assert_eq!(tallest.map(|bar| bar.share.as_str()), Some("80.0 %"));
        assert!(
            spread.says.contains("from 1 ms to 64 ms"),
            "{}",
            spread.says
        );
    }

    #[test]
    fn equal_responses_are_one_bar_and_none_are_no_picture() {
        let spread = Spread::of(&[(5_000, 7)]).expect("responses");
        assert_eq!(spread.bars[0].count, 7);
        assert!(Spread::of(&[]).is_none());
    }
}
