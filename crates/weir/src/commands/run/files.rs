//! The files that a plan may touch because the user named them on the command line.

use std::path::Path;

use weir_reach::Reach;

use super::grammar::PlanArguments;

/// The plan's reach: what is beside it, what is allowed, and what other options name.
///
/// A value of `-J` may be a path. Then it is the user's own, as a file and not as a folder: `/` is
/// the path of a URL more often than it is everything.
pub(super) fn reach(plan: &Path, arguments: &PlanArguments) -> Reach {
    let files = [
        arguments.property_file.as_slice(),
        arguments.main_properties.as_slice(),
        arguments.system_property_file.as_slice(),
        arguments.log_file.as_slice(),
        arguments.run_log.as_slice(),
        arguments.report_folder.as_slice(),
    ];
    let files = files.into_iter().flatten().map(|file| &**file);
    let given = [
        &arguments.property,
        &arguments.global_property,
        &arguments.system_property,
    ];
    let values = given.into_iter().flatten();
    let values = values.filter_map(|given| Some(Path::new(given.split_once('=')?.1)));
    let reach = arguments.files.reach(plan);
    files.chain(values).fold(reach, Reach::allow_file)
}
