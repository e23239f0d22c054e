//! Which server a running process is, and what bounds it.
//!
//! Everything is read from `/proc`, from the command line and from files; a server is asked nothing
//! but whether it has Spring Boot's actuator, and only on this machine. So what is found is what is
//! *configured*: a limit that somebody has changed in the running server since is not seen before a
//! study reads it.
//!
//! A file per kind of server; each takes the facts of the process and gives what it found, or
//! nothing when the process is something else.

mod found;
mod httpd;
mod java_command;
mod liberty;
mod resources;
mod spring_boot;
mod tomcat;
mod xml_place;

pub use found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, SetWay};

use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::trust::Runner;
use java_command::JavaCommand;

/// What is known of the server that listens on a port.
pub fn recognise(facts: &ProcessFacts, port: u16, machine: &Machine) -> Found {
    let mut found = kind_of(facts, port, machine).unwrap_or_else(|| unknown(facts));
    if found.agent == AgentWay::Loads
        && let Some(why) = machine.why_no_agent(facts)
    {
        found.agent = AgentWay::Not(why);
    }
    if found.agent == AgentWay::Loads && facts.user != Runner::own().user() {
        found.notes.push(format!(
            "the virtual machine belongs to user {}: a study with `jolokia = \"attach\"` loads an agent into it",
            facts.user
        ));
    }
    found
}

fn kind_of(facts: &ProcessFacts, port: u16, machine: &Machine) -> Option<Found> {
    let Some(java) = JavaCommand::of(facts) else {
        return httpd::recognise(facts, port, machine);
    };
    let mut found = tomcat::recognise(facts, &java, port, machine)
        .or_else(|| spring_boot::recognise(facts, &java, port, machine))
        .or_else(|| liberty::recognise(facts, &java, port, machine))
        .unwrap_or_else(|| unknown(facts));
    found.agent = java.agent_way();
    Some(found)
}

fn unknown(facts: &ProcessFacts) -> Found {
    Found {
        pid: facts.pid,
        kind: FoundKind::Unknown,
        name: facts.in_short(),
        limits: Vec::new(),
        metrics: None,
        agent: AgentWay::NoJvm,
        notes: Vec::new(),
    }
}
