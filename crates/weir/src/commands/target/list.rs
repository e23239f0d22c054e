//! `weir target list`: what can be had, and what is there.

use weir_server::KINDS;
use weir_shelf::{OnShelf, POSTGRESQL, installed_postgresql};

use crate::error::ExpectedError;
use crate::{output, shelf};

pub(crate) fn run() -> Result<u8, ExpectedError> {
    let shelf = shelf::open()?;
    output::data(&row(["NAME", "VERSION", "IN CACHE", "WHAT"]));
    for on_shelf in shelf.list() {
        output::data(&line(&on_shelf));
    }
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    output::talk(&format!(
        "kinds of server, as `weir target show KIND` describes them: {}",
        kinds.join(", ")
    ));
    output::talk(&format!("the cache is {}", shelf.cache().display()));
    let search_path = std::env::var_os("PATH");
    if let Some(programs) = installed_postgresql(search_path.as_deref()) {
        output::talk(&format!(
            "{} is installed in {} and is used from there",
            POSTGRESQL.name,
            programs.bin.display()
        ));
    }
    Ok(0)
}

fn line(on_shelf: &OnShelf) -> String {
    let package = on_shelf.package;
    let version = match &on_shelf.there {
        Some((_, receipt)) => receipt.version.as_str(),
        None => package.version().unwrap_or("the distribution's"),
    };
    let size = match on_shelf.there {
        Some(_) => format!("{} MB", on_shelf.bytes.div_ceil(1_000_000)),
        None => "-".to_owned(),
    };
    row([package.name, version, &size, package.what])
}

fn row([name, version, size, what]: [&str; 4]) -> String {
    format!("{name:<16} {version:<20} {size:>8}  {what}")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_shelf::{Shelf, TOMCAT_11};

    use super::*;

    #[test]
    fn what_is_not_there_has_its_version_and_no_size() {
        let place = tempfile::tempdir().unwrap();
        let listed = Shelf::new(place.path()).list();
        let tomcat = listed
            .iter()
            .find(|on_shelf| *on_shelf.package == TOMCAT_11);
        assert_eq!(
            line(tomcat.unwrap()),
            "tomcat-11        11.0.24                     -  Apache Tomcat 11"
        );
    }
}
