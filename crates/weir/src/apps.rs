//! The applications that come with Weir, built when they are first needed.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use weir_apps::{App, AppError};
use weir_record::failed_to;

use crate::error::ExpectedError;
use crate::progress::Counter;
use crate::{output, places};

/// The file of an application, for a server to run.
pub(crate) fn provide(app: App, interrupted: &AtomicBool) -> Result<PathBuf, ExpectedError> {
    let cache = places::cache()?;
    let place = weir_apps::place(app, &cache);
    if place.is_file() {
        // Nor may anybody else put another one there, or have left what is built beside it.
        places::check_cached(place.parent().unwrap_or(&cache))?;
    } else {
        output::talk(&format!("building {} with Maven, once", app.what()));
    }
    let mut fetched = Counter::new("files fetched by Maven");
    let built = weir_apps::build(app, &cache, interrupted, &mut |files| {
        fetched.set(files as u64);
    });
    fetched.finish();
    let built = built.map_err(|error: AppError| {
        if error.is_interrupt() {
            ExpectedError::Interrupted
        } else {
            ExpectedError::Environment(failed_to(&error))
        }
    })?;
    places::close(built.parent().unwrap_or(&built))?;
    Ok(built)
}
