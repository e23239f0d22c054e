//! Sockets of the file system, for clients and for operators.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use weir_gateway::{Gateway, Settings, Status};

use crate::client::Client;
use crate::recorder::Recorder;

fn gate(folder: &Path, backend: &Recorder) -> Gateway {
    let text = format!(
        "listen = [\"unix:{0}/gate.sock\", \"127.0.0.1:0\"]\nadmin = \"unix:{0}/admin.sock\"\n\
         hand-over = \"{0}/hand-over.sock\"\nthreads = 1\nbackends = [\"http://{1}\"]\n\
         [[key]]\nby = \"address\"\nconcurrency = 5\nconnections = 5\n",
        folder.display(),
        backend.address
    );
    let settings = Settings::parse(&text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    Gateway::start(settings, "the page".to_owned()).unwrap()
}

fn rights(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn clients_and_operators_come_over_paths() {
    let folder = tempfile::tempdir().unwrap();
    let (front, admin) = ["gate.sock", "admin.sock"]
        .map(|name| folder.path().join(name))
        .into();
    let backend = Recorder::ok();
    let gate = gate(folder.path(), &backend);
    assert_eq!((rights(&front), rights(&admin)), (0o666, 0o600));
    let mut client = Client::connect_to_path(&front);
    for _ in 0..2 {
        assert_eq!(client.get("/").status, 200);
    }
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.fields("x-forwarded-for"), ["unknown"]);
    assert_eq!(
        arrived.fields("forwarded"),
        ["for=unknown;proto=http;host=test"]
    );
    // A name that a page could have made up does no harm: no page comes here.
    let answer = Client::connect_to_path(&admin).get_of("gate.example", "/status");
    let status: Status = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(status.all.admitted, 2);
    drop(client);
    assert!(gate.drain().has_ended());
    assert!(!front.exists() && !admin.exists(), "they go with it");
}

#[test]
fn a_successor_takes_paths_over() {
    let folder = tempfile::tempdir().unwrap();
    let front = folder.path().join("gate.sock");
    let backend = Recorder::ok();
    let mut first = gate(folder.path(), &backend);
    let succeeded = first.succeeded().unwrap();
    let second = gate(folder.path(), &backend);
    succeeded.recv().unwrap();
    first.end_admin();
    assert!(first.drain().has_ended());
    assert_eq!(Client::connect_to_path(&front).get("/").status, 200);
    assert!(second.drain().has_ended());
}
