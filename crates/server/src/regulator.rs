//! The regulator in a Java server's virtual machine, over its `MBean`: the levels of the factors
//! `regulator.SETTING`.

use std::collections::BTreeMap;

use serde_json::json;
use weir_jvm::{Jolokia, ObjectName, Permission};

use crate::error::TargetError;

/// What factors that set it begin with.
const PREFIX: &str = "regulator.";
const MBEAN: &str = "weir.regulator:type=Regulator,*";

const SETTINGS: &str = "Settings";
const SET: &str = "set(java.lang.String,java.lang.String)";
const UNSET: &str = "unset(java.lang.String)";

/// What an agent has to permit for it.
pub(crate) fn permission() -> Result<Permission, TargetError> {
    Ok(Permission {
        name: MBEAN.parse()?,
        reads: vec![SETTINGS.to_owned()],
        writes: Vec::new(),
        calls: [SET, UNSET].map(str::to_owned).to_vec(),
    })
}

/// Settings of a regulator that stay set until others are wanted.
#[derive(Debug, Default)]
pub(crate) struct RegulatorSettings {
    set: BTreeMap<String, String>,
    /// All settings as they were before the first was set.
    found: Option<BTreeMap<String, String>>,
}

impl RegulatorSettings {
    /// Sets what these levels say; what was set before and is not among them becomes as it was
    /// found.
    pub(crate) fn set(
        &mut self,
        client: &mut Jolokia,
        levels: &BTreeMap<String, String>,
    ) -> Result<(), TargetError> {
        let wanted: BTreeMap<String, String> = levels
            .iter()
            .map(|(name, value)| {
                let setting = name.strip_prefix(PREFIX).unwrap_or(name);
                (setting.to_owned(), value.clone())
            })
            .collect();
        if wanted == self.set {
            return Ok(());
        }
        let mbean = find(client)?;
        let found = match &self.found {
            Some(found) => found,
            None => self.found.insert(settings(client, &mbean)?),
        };
        // Last first, so that a promise goes before the class that it is made to.
        for setting in self.set.keys().rev() {
            if wanted.contains_key(setting) {
                continue;
            }
            match found.get(setting) {
                Some(value) => set(client, &mbean, setting, value)?,
                None => {
                    client.exec(&mbean, UNSET, vec![json!(setting)])?;
                }
            }
        }
        for (setting, value) in &wanted {
            set(client, &mbean, setting, value)?;
        }
        self.set = wanted;
        Ok(())
    }

    /// The server was started anew and knows nothing of what was set.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn set(
    client: &mut Jolokia,
    mbean: &ObjectName,
    setting: &str,
    value: &str,
) -> Result<(), TargetError> {
    client.exec(mbean, SET, vec![json!(setting), json!(value)])?;
    Ok(())
}

/// What is set now.
fn settings(
    client: &mut Jolokia,
    mbean: &ObjectName,
) -> Result<BTreeMap<String, String>, TargetError> {
    let mut read = client.read(mbean, &[SETTINGS])?;
    let settings = read.remove(SETTINGS).unwrap_or_default();
    serde_json::from_value(settings).map_err(|error| TargetError::Jmx {
        says: format!("the settings of {mbean} cannot be read: {error}"),
    })
}

fn find(client: &mut Jolokia) -> Result<ObjectName, TargetError> {
    let found = client.search(&MBEAN.parse()?)?;
    found.into_iter().next().ok_or_else(|| TargetError::Jmx {
        says: "the application has no regulator (no MBean weir.regulator:type=Regulator); put its filter in front".to_owned(),
    })
}
