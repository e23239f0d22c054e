//! JMeter as the engine of a load: found or assembled, its plan looked at, its servers allowed.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_jmeter::{Environment, Home, Java, JmeterError, PlanFacts, PlanFile};
use weir_reach::Reach;
use weir_record::failed_to;
use weir_script::{Properties, Target};

use crate::error::ExpectedError;
use crate::hosts::{self, ANY_HOST, NamedHost};
use crate::progress::Counter;
use crate::{output, places, plan_files};

/// A JMeter that can be started.
pub(crate) struct Jmeter {
    pub(crate) home: Home,
    pub(crate) java: Java,
    /// What JMeter reads by itself.
    pub(crate) own_properties: Properties,
}

/// Finds JMeter, in the home that is named, if one is, or assembles it in the cache.
pub(crate) fn provide(
    named: Option<&Path>,
    interrupted: &AtomicBool,
) -> Result<Jmeter, ExpectedError> {
    let mut environment = environment()?;
    if let Some(home) = named {
        environment.jmeter_home = Some(home.to_owned());
    }
    let home = match Home::find(&environment).map_err(failed)? {
        Some(home) if environment.jmeter_home.is_some() => home,
        Some(home) => {
            places::cache()?;
            places::check_cached(home.root())?;
            home
        }
        None => {
            places::cache()?;
            assemble(&environment, interrupted)?
        }
    };
    let mut own_properties = Properties::new();
    for file in home.property_files() {
        // JMeter does without them too.
        if let Ok(text) = std::fs::read_to_string(file) {
            own_properties.load(&text);
        }
    }
    Ok(Jmeter {
        java: Java::of(&environment),
        home,
        own_properties,
    })
}

fn assemble(environment: &Environment, interrupted: &AtomicBool) -> Result<Home, ExpectedError> {
    output::talk(&format!(
        "JMETER_HOME is not set: assembling JMeter with Maven in {}, once",
        environment.cache.display()
    ));
    let mut fetched = Counter::new("files fetched by Maven");
    let home = weir_jmeter::assemble(&environment.cache, interrupted, &mut |files| {
        fetched.set(files as u64);
    });
    fetched.finish();
    let home = home.map_err(failed)?;
    places::close(home.root())?;
    output::talk(&format!("JMeter is in {}", home.root().display()));
    Ok(home)
}

/// What the user's environment says about JMeter, Java and the cache.
fn environment() -> Result<Environment, ExpectedError> {
    let text = |name: &str| std::env::var(name).ok();
    Ok(Environment {
        jmeter_home: places::named_path("JMETER_HOME"),
        java_home: places::named_path("JAVA_HOME"),
        heap: text("HEAP"),
        jvm_args: text("JVM_ARGS"),
        cache: places::cache_as_named()?,
    })
}

/// Reads a plan that JMeter is going to run.
pub(crate) fn read_plan(path: &Path, properties: &Properties) -> Result<PlanFile, ExpectedError> {
    PlanFile::read(path, properties).map_err(failed)
}

/// Says that nothing keeps a JMeter to some files, and refuses a plan that always names others.
pub(crate) fn check_files(
    path: &Path,
    reach: Reach,
    properties: &Properties,
) -> Result<(), ExpectedError> {
    if reach.is_sandbox() {
        return Err(ExpectedError::Input(
            "--sandbox: Weir cannot keep a JMeter to some files; leave out --sandbox, or let Weir itself run the plan"
                .to_owned(),
        ));
    }
    output::talk(plan_files::OF_JMETER);
    match weir_jmx::read_within(path, reach) {
        Ok(reading) => plan_files::refuse(&reading.plan, properties, true),
        // What cannot be read here a JMeter may read.
        Err(error) => {
            let why = failed_to(&error);
            output::talk(&format!(
                "warning: the files that the plan names are unknown: {why}"
            ));
            Ok(())
        }
    }
}

/// What is known of the plan.
pub(crate) fn facts(plan: &PlanFile, properties: &Properties) -> Result<PlanFacts, ExpectedError> {
    plan.facts(properties).map_err(failed)
}

/// Prints whom the plan is going to load, and refuses what nobody allowed: public hosts, and hosts
/// that cannot be known before the run.
///
/// A target overrides the servers of HTTP samplers. It also says that the user knows whom scripts
/// load; samplers of other protocols it does not reach.
pub(crate) fn check_hosts(
    facts: &PlanFacts,
    target: Option<&Target>,
    allowed: &[String],
) -> Result<Vec<NamedHost>, ExpectedError> {
    let allows_any = allowed.iter().any(|name| name == ANY_HOST);
    let unknown = facts
        .unknown
        .iter()
        .filter(|unknown| target.is_none() || !unknown.is_overridden);
    if !allows_any {
        let lines: Vec<String> = unknown
            .clone()
            .map(|unknown| format!("{}: {}", unknown.named_in, unknown.sampler))
            .collect();
        if let Some(first) = lines.first() {
            for line in &lines[1..] {
                output::talk(line);
            }
            let instead = if facts.unknown.iter().all(|unknown| unknown.is_overridden) {
                "send the load elsewhere with --target http://127.0.0.1:PORT, or allow any host"
            } else {
                "a target does not reach all of them; allow any host"
            };
            return Err(ExpectedError::Input(format!(
                "{first}: whom it loads is known only when the plan runs ({} sampler(s) like this); {instead} with \
                 --allow-host '{ANY_HOST}'",
                lines.len()
            )));
        }
    }
    let mut named: Vec<NamedHost> = match target {
        Some(target) => vec![named(target, "the command line".to_owned())],
        None => facts
            .servers
            .iter()
            .map(|planned| self::named(&planned.server, planned.named_in.clone()))
            .collect(),
    };
    let proxies = facts.proxies.iter();
    named.extend(proxies.map(|planned| self::named(&planned.server, planned.named_in.clone())));
    hosts::check(&named, allowed)?;
    for unknown in unknown {
        output::talk(&format!(
            "and whoever is loaded by {} ({})",
            unknown.sampler, unknown.named_in
        ));
    }
    Ok(named)
}

fn named(server: &Target, named_in: String) -> NamedHost {
    NamedHost {
        host: server.host.clone(),
        port: server.port,
        named_in,
    }
}

/// An error of the JMeter crate as one of the program.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(crate) fn failed(error: JmeterError) -> ExpectedError {
    let text = failed_to(&error);
    match error {
        JmeterError::Interrupted => ExpectedError::Interrupted,
        JmeterError::Plan { .. }
        | JmeterError::Refused { .. }
        | JmeterError::File { doing: "read", .. } => ExpectedError::Input(text),
        _ => ExpectedError::Environment(text),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const PLAN: &str = r#"<jmeterTestPlan><hashTree><TestPlan testclass="TestPlan"/><hashTree>
<HTTPSamplerProxy testname="known"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp></HTTPSamplerProxy><hashTree/>
ELEMENT
</hashTree></hashTree></jmeterTestPlan>"#;

    #[track_caller]
    fn check(element: &str, target: bool, allowed: &[&str]) -> Result<(), String> {
        let text = PLAN.replace("ELEMENT", element);
        let plan = PlanFile::of_text(Path::new("p.jmx"), text, &Properties::new()).unwrap();
        let facts = facts(&plan, &Properties::new()).unwrap();
        let target: Option<Target> = target.then(|| "http://127.0.0.1:8080".parse().unwrap());
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        check_hosts(&facts, target.as_ref(), &allowed)
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn hosts_that_cannot_be_known_need_a_word() {
        let changing = r#"<HTTPSamplerProxy testname="x"><stringProp name="HTTPSampler.domain">${host}</stringProp></HTTPSamplerProxy><hashTree/>"#;
        let script = r#"<JSR223Sampler testname="s"/><hashTree/>"#;
        let other = r#"<JDBCSampler testname="d"/><hashTree/>"#;
        check("", false, &[]).unwrap();
        for element in [changing, script] {
            let says = check(element, false, &[]).unwrap_err();
            assert!(
                says.contains("p.jmx:3") && says.contains("--target"),
                "{says}"
            );
            check(element, true, &[]).unwrap();
            check(element, false, &["*"]).unwrap();
        }
        let says = check(other, true, &[]).unwrap_err();
        assert!(says.contains("does not reach"), "{says}");
        check(other, true, &["*"]).unwrap();
    }
}
