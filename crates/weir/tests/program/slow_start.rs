//! Ctrl-C while a server starts that takes its time.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{PATIENCE, Place, names_in, runs, wait_for};

/// Starts a program that never listens, and writes down its process id.
const STUDY: &str = r#"
schema = "weir/study/1"
[target.command]
run = "sh -c 'echo $$ > server.pid; exec sleep 600' {port}"
patience = "10 min"
BEHIND
[load]
url = "/light"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "full"
[sweep.factors]
users = [1, 2]
"#;
/// A server that the one under load needs, started before it.
const BEHIND: &str =
    r#"behind = { run = "sh -c 'echo $$ > server.pid; exec sleep 600' {port}", ready = "/" }"#;

#[test]
fn ctrl_c_while_a_server_starts_ends_it() {
    for behind in ["", BEHIND] {
        let place = Place::new();
        place.write("slow.toml", &STUDY.replace("BEHIND", behind));
        let mut running = place.start(&["sweep", "slow.toml"]);
        let server: u32 = running.wait_for("the server's process", PATIENCE, |_| {
            let text = std::fs::read_to_string(place.path("server.pid")).ok()?;
            text.trim().parse().ok()
        });
        assert!(runs(server));
        let asked = Instant::now();
        running.signal(Signal::INT);
        running.done(PATIENCE).ends(130).says(&["interrupted"]);
        // It would have waited for ten minutes.
        assert!(asked.elapsed() < Duration::from_secs(30));
        wait_for("the end of the server", PATIENCE, || {
            (!runs(server)).then_some(())
        });
        assert!(names_in(&place.state()).is_empty(), "nothing to put back");
    }
}
