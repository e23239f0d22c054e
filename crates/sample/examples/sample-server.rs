//! Starts the sample server by hand: `cargo run -p weir-sample --example sample-server -- --threads
//! 20`.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: weir_sample::Options,
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]
fn main() -> ExitCode {
    let served = weir_sample::serve(&Arguments::parse().options, |addresses| {
        println!(
            "listening on http://{}, admin on http://{}",
            addresses.listen, addresses.admin
        );
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = std::error::Error::source(&error)
                .map(|cause| format!(": {cause}"))
                .unwrap_or_default();
            eprintln!("sample-server: failed to {error}{cause}");
            ExitCode::from(3)
        }
    }
}
