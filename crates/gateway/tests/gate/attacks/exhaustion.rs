//! More connections than there is room for.

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, stands};

#[test]
fn without_room_clients_wait_in_the_backlog() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "max-connections = 3\n");
    let mut held: Vec<Client> = (0..3).map(|_| Client::connect(front(&gate))).collect();
    for client in &mut held {
        assert_eq!(client.get("/held").status, 200);
    }
    let mut waiting = Client::with(front(&gate), "GET /waits HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(held[0].get("/again").status, 200, "those that are in go on");
    assert!(!backend.targets().contains(&"/waits".to_owned()));
    held.remove(1);
    assert_eq!(waiting.answer().status, 200);
}

/// Connections that never ask for anything make room by themselves.
#[test]
fn idle_connections_do_not_keep_others_out() {
    let backend = Recorder::ok();
    let gate = gate(
        &backend,
        "max-connections = 2\n[timeouts]\nidle = \"50ms\"\n",
    );
    let _idle: Vec<Client> = (0..20).map(|_| Client::connect(front(&gate))).collect();
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    stands(&gate, "no more than two are open", |status| {
        status.connections.open <= 2 && status.connections.full > 0
    });
}
