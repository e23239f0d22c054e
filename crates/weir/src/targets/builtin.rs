//! The sample server of a study, started.

use std::sync::Arc;

use weir_record::WhenFull;
use weir_server::{Builtin, BuiltinOptions, Server};
use weir_study::BuiltinSpec;

use crate::error::ExpectedError;
use crate::places;

use super::{Place, failed};

pub(super) fn start(
    spec: &BuiltinSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let server = Builtin::start(BuiltinOptions {
        program: places::own_program()?,
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        when_connections_full: spec.when_full.unwrap_or(WhenFull::Wait),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}
