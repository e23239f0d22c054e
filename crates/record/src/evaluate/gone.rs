//! Whether the server was gone at the end of a window: nobody took a connection any more.

use std::ops::Range;

use crate::invalid::InvalidReason;
use crate::recording::Recording;
use crate::trial::NO_ANSWER;

/// The class in the code of a sample whose connection was refused, as JMeter and Weir write it.
const REFUSED: &str = "org.apache.http.conn.HttpHostConnectException";
/// So many seconds at the end have to be without an answer, as far as the window has as many: a
/// server that is started anew, or full for a moment, refuses for less.
const SECONDS: usize = 3;

/// From which second on each connection was refused, to the end of the window. Seconds without a
/// sample, in which all users wait to be let in again, count with those beside them.
pub(super) fn nobody_answers(recording: &Recording, window: Range<usize>) -> Option<InvalidReason> {
    let mut since = window.end;
    let mut refused = 0;
    for second in window.clone().rev() {
        let counts = recording.counts(second..second + 1, None);
        let refused_code = format!("{NO_ANSWER}{REFUSED}");
        let of_second = counts.failed_by_code.get(&refused_code);
        let of_second = of_second.copied().unwrap_or(0);
        if of_second < counts.completed {
            break;
        }
        refused += of_second;
        if of_second > 0 {
            since = second;
        }
    }
    let seconds = window.end - since;
    (refused > 0 && seconds >= SECONDS.min(window.len())).then_some(InvalidReason::NobodyAnswers {
        since_s: since as u64,
        refused,
    })
}
