//! A real Apache httpd with a configuration of the user's: run as a copy, changed, and the answer
//! written.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_record::CpuScope;
use weir_server::{Httpd, HttpdInstallation, HttpdOptions, Journal, Mpm, Server};

pub(crate) fn installation() -> Option<HttpdInstallation> {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs an Apache httpd; WEIR_SYSTEM_TESTS=1 runs it");
        return None;
    }
    let found = match std::env::var_os("HTTPD_HOME") {
        Some(home) => HttpdInstallation::below(Path::new(&home)),
        None => HttpdInstallation::installed(&[PathBuf::from("/usr/sbin")]),
    };
    Some(found.expect("an Apache httpd is installed (Debian: apache2-bin)"))
}

fn start(installation: &HttpdInstallation, place: &Path) -> Box<Httpd> {
    Box::new(
        Httpd::start(HttpdOptions {
            installation: installation.clone(),
            mpm: Mpm::Prefork,
            configuration: Some(place.join("httpd.conf")),
            port: 0,
            interrupted: Arc::default(),
            cpus: None,
            settings: BTreeMap::new(),
            documents: None,
            folder: place.join("run"),
            spare: place.to_owned(),
            log: place.join("target.log"),
            journal: Journal::new(place.join("state")),
        })
        .unwrap(),
    )
}

fn threads(server: &dyn Server) -> f64 {
    let facts = server.facts(1, CpuScope::SharedCpus);
    facts.stage("threads").unwrap().limit.unwrap()
}

fn page(server: &dyn Server) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(b"GET /page.html HTTP/1.0\r\nHost: shop\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_users_configuration_runs_as_a_copy_and_gets_the_answer() {
    let Some(installation) = installation() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    fs::set_permissions(place, Permissions::from_mode(0o711)).unwrap();
    let modules = installation.modules.display();
    let main = format!(
        "ServerRoot \"{}\"\nListen 80\nPidFile ${{RUN}}/httpd.pid\nErrorLog ${{RUN}}/error.log\nUser nobody\nServerName shop\n\
         Include mods/*.load\nInclude mods/*.conf\nInclude site.conf",
        place.display()
    );
    let mpm = "<IfModule mpm_event_module>\r\n\tMaxRequestWorkers\t50 \r\n\tThreadsPerChild 25\r\n</IfModule>";
    fs::create_dir_all(place.join("mods")).unwrap();
    fs::create_dir_all(place.join("pages")).unwrap();
    let load = ["mpm_event", "authz_core"].map(|name| {
        let words = format!("LoadModule {name}_module {modules}/mod_{name}.so");
        if installation
            .modules
            .join(format!("mod_{name}.so"))
            .is_file()
        {
            words
        } else {
            String::new()
        }
    });
    for (name, text) in [
        ("httpd.conf", main.as_str()),
        ("envvars", "export RUN=/nowhere/at/all\n"),
        ("mods/all.load", &load.join("\n")),
        ("mods/mpm.conf", mpm),
        (
            "site.conf",
            &format!(
                "<VirtualHost *:80>\n  DocumentRoot \"{}/pages\"\n</VirtualHost>\n<VirtualHost *:81>\n</VirtualHost>\n",
                place.display()
            ),
        ),
        ("pages/page.html", "the shop\n"),
    ] {
        fs::write(place.join(name), text).unwrap();
    }
    let mut server = start(&installation, place);
    assert!((threads(server.as_ref()) - 50.0).abs() < 1e-9);
    assert!(page(server.as_ref()).ends_with("\r\n\r\nthe shop\n"));
    // More than the ServerLimit allows that it has: 16 processes with 25 threads.
    let limits = BTreeMap::from([("threads".to_owned(), 800.0), ("backlog".to_owned(), 64.0)]);
    server.apply(&limits).unwrap();
    assert!(page(server.as_ref()).ends_with("the shop\n"));
    server.apply(&BTreeMap::new()).unwrap();
    let changes = server.configuration(&limits).unwrap();
    assert!(changes.iter().all(|change| change.of_user));
    server.stop().unwrap();
    assert_eq!(fs::read_to_string(place.join("httpd.conf")).unwrap(), main);
    assert_eq!(
        fs::read_to_string(place.join("mods/mpm.conf")).unwrap(),
        mpm
    );

    let [change] = &changes[..] else {
        panic!("one file: {changes:?}");
    };
    change.write().unwrap();
    assert_eq!(
        fs::read_to_string(place.join("mods/mpm.conf")).unwrap(),
        "<IfModule mpm_event_module>\r\n\tMaxRequestWorkers\t800 \r\n\tThreadsPerChild 25\r\n\tListenBacklog 64\r\n\
         \tServerLimit 32\r\n</IfModule>"
    );
    let server = start(&installation, place);
    assert!((threads(server.as_ref()) - 800.0).abs() < 1e-9);
    assert!(page(server.as_ref()).ends_with("the shop\n"));
    assert_eq!(server.configuration(&limits).unwrap(), []);
    server.stop().unwrap();
}
