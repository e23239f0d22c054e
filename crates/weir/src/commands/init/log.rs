//! An access log, read while it is told how far.

use std::path::Path;

use weir_accesslog::{Missing, Traffic};

use crate::error::ExpectedError;
use crate::progress::Counter;

const MEGABYTE: u64 = 1_000_000;

pub(super) fn read(file: &Path) -> Result<Traffic, ExpectedError> {
    let mut counter = Counter::new("MB of the access log read");
    let read = weir_accesslog::read(file, &mut |bytes| counter.set(bytes / MEGABYTE));
    counter.finish();
    let traffic =
        read.map_err(|error| ExpectedError::Input(format!("{}: {error}", file.display())))?;
    if traffic.lines == 0 {
        return Err(ExpectedError::Input(format!(
            "{}: it is empty",
            file.display()
        )));
    }
    if traffic.requests == 0 {
        let lacks = traffic.broken_lacks.map_or("nothing in it", Missing::says);
        let first = traffic.broken_first.first().copied().unwrap_or(1);
        return Err(ExpectedError::Input(format!(
            "{}: none of its {} lines is a request that is understood: line {first} has {lacks}. Read are the common and \
             combined formats (`%h %l %u %t \"%r\" %>s %b`), HAProxy's, those of AWS's load balancers, and JSON with a time, a method, a path and a \
             status",
            file.display(),
            traffic.lines
        )));
    }
    Ok(traffic)
}
