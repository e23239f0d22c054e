//! The load of every trial of a study: a plan that Weir runs, or one that JMeter runs.

use std::collections::BTreeMap;

use weir_jmeter::{Changes, Home, Java, Launch, PlanFile};
use weir_metric::CpuSet;
use weir_plan::LoadPlan;
use weir_record::{Levels, Treatment, TrialError, TrialFiles, failed_to};
use weir_script::{Origin, Properties, ResolvedPlan, Target, resolve};

use crate::engine::Engine;
use crate::levels;

/// The load of every trial.
#[derive(Debug)]
pub enum TrialLoad {
    /// Weir's own engine sends it.
    Native(LoadPlan),
    /// A JMeter sends it.
    Jmeter(JmeterLoad),
}

/// A JMeter and the plan that it runs.
#[derive(Debug)]
pub struct JmeterLoad {
    /// The JMeter.
    pub home: Home,
    /// The Java that runs it.
    pub java: Java,
    /// The plan.
    pub plan: PlanFile,
    /// Properties that JMeter reads by itself from its home.
    pub own_properties: Properties,
}

/// What one trial sends, and to whom.
pub(crate) struct TrialSetup<'a> {
    pub(crate) treatment: &'a Treatment,
    pub(crate) properties: &'a Properties,
    /// The properties that factors set, by factor.
    pub(crate) of_factors: &'a BTreeMap<String, String>,
    pub(crate) target: &'a Target,
    pub(crate) files: &'a TrialFiles,
    pub(crate) cpus: &'a CpuSet,
}

impl TrialLoad {
    /// Users of all thread groups at these levels; `None` when that is not known before the trial.
    pub(crate) fn population(
        &self,
        levels: &Levels,
        properties: &Properties,
        of_factors: &BTreeMap<String, String>,
    ) -> Result<Option<u32>, TrialError> {
        let properties = levels::properties(levels, properties, of_factors);
        match self {
            Self::Native(plan) => {
                let plan = resolved(plan, levels, &properties, 0)?;
                Ok(Some(plan.groups.iter().map(|group| group.users).sum()))
            }
            Self::Jmeter(jmeter) => jmeter.population(&properties),
        }
    }

    /// The engine of one trial; a JMeter gets a copy of the plan in the trial's directory.
    pub(crate) fn engine(&self, setup: &TrialSetup<'_>) -> Result<Engine, TrialError> {
        let treatment = setup.treatment;
        let properties = levels::properties(&treatment.levels, setup.properties, setup.of_factors);
        match self {
            Self::Native(plan) => resolved(plan, &treatment.levels, &properties, treatment.seed)
                .map(|plan| Engine::Native(Box::new(plan))),
            Self::Jmeter(jmeter) => jmeter
                .launch(setup, &properties)
                .map(|launch| Engine::Jmeter(Box::new(launch))),
        }
    }
}

impl JmeterLoad {
    fn population(&self, properties: &Properties) -> Result<Option<u32>, TrialError> {
        let facts = self.plan.facts(&self.known(properties));
        facts
            .map(|facts| facts.population)
            .map_err(|error| TrialError::Input(failed_to(&error)))
    }

    fn launch(
        &self,
        setup: &TrialSetup<'_>,
        properties: &Properties,
    ) -> Result<Launch, TrialError> {
        let changes = Changes {
            target: Some(setup.target),
            until_stopped: true,
            arguments: levels::parameters(&setup.treatment.levels),
            properties: self.known(properties),
        };
        let directory = setup.files.directory.clone();
        let plan = self
            .plan
            .copy(&changes, &directory)
            .map_err(|error| TrialError::Storage(failed_to(&error)))?;
        Ok(Launch {
            home: self.home.clone(),
            java: self.java.clone(),
            plan,
            properties: properties
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            system_properties: Vec::new(),
            words: Vec::new(),
            log: None,
            heard: None,
            property_files: Vec::new(),
            samples: setup.files.samples(),
            directory,
            cpus: Some(setup.cpus.clone()),
            planned_end: None,
        })
    }

    /// What JMeter's own files say, and over it what is given.
    fn known(&self, given: &Properties) -> Properties {
        let mut known = self.own_properties.clone();
        for (name, value) in given.iter() {
            known.set(name, value);
        }
        known
    }
}

fn resolved(
    plan: &LoadPlan,
    levels: &Levels,
    properties: &Properties,
    seed: u64,
) -> Result<ResolvedPlan, TrialError> {
    let plan = levels::with_parameters(plan, levels);
    resolve(&plan, properties, Origin { seed, epoch_ms: 0 })
        .map_err(|error| TrialError::Input(failed_to(&error)))
}
