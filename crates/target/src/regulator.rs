//! The regulator in a Java server's virtual machine, over its `MBean`: the levels of the factors `regulator.SETTING`.

use std::collections::BTreeMap;

use serde_json::json;
use weir_jvm::{Jolokia, ObjectName};

use crate::error::TargetError;

/// What factors that set it begin with.
const PREFIX: &str = "regulator.";
const MBEAN: &str = "weir.regulator:type=Regulator,*";

/// Settings of a regulator that stay set until others are wanted.
#[derive(Debug, Default)]
pub(crate) struct RegulatorSettings {
    set: BTreeMap<String, String>,
}

impl RegulatorSettings {
    /// Sets what these levels say and takes back what was set before and is not among them.
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
        // Last first, so that a promise goes before the class that it is made to.
        for setting in self.set.keys().rev() {
            if !wanted.contains_key(setting) {
                client.exec(&mbean, "unset(java.lang.String)", vec![json!(setting)])?;
            }
        }
        for (setting, value) in &wanted {
            client.exec(
                &mbean,
                "set(java.lang.String,java.lang.String)",
                vec![json!(setting), json!(value)],
            )?;
        }
        self.set = wanted;
        Ok(())
    }

    /// The server was started anew and knows nothing of what was set.
    pub(crate) fn forget(&mut self) {
        self.set.clear();
    }
}

fn find(client: &mut Jolokia) -> Result<ObjectName, TargetError> {
    let found = client.search(&MBEAN.parse()?)?;
    found.into_iter().next().ok_or_else(|| TargetError::Jmx {
        says: "the application has no regulator (no MBean weir.regulator:type=Regulator); put its filter in front".to_owned(),
    })
}
