//! What a loaded agent lets its client do, as Jolokia's access policy (`jolokia-access.xml`) has
//! it.
//!
//! After Jolokia's `PolicyRestrictor`: a command that the policy names is allowed for every MBean,
//! any other one only where an `<allow>` covers it. So only the search for names is named, which
//! tells no value.

use std::fmt::Write as _;

use weir_exchange::Credentials;

use crate::object_name::ObjectName;

/// What may be done with MBeans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The MBean, or a pattern.
    pub name: ObjectName,
    /// Attributes that may be read.
    pub reads: Vec<String>,
    /// Attributes that may be read and written.
    pub writes: Vec<String>,
    /// Operations that may be called, with the types of their parameters where they are called
    /// with them.
    pub calls: Vec<String>,
}

/// The text of a policy that permits this to who asks from this machine, and nothing else to
/// anybody.
pub(crate) fn policy(permissions: &[Permission]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<restrict>\n\
         <remote><host>127.0.0.1</host></remote>\n\
         <http><method>post</method></http>\n\
         <commands><command>search</command></commands>\n\
         <cors><allow-origin>{}</allow-origin><strict-checking/></cors>\n<allow>\n",
        Credentials::ORIGIN
    );
    for permission in by_name(permissions) {
        let _ = writeln!(
            text,
            "<mbean><name>{}</name>",
            escaped(&permission.name.to_string())
        );
        for (start, names, end) in [
            (
                "<attribute mode=\"read\">",
                &permission.reads,
                "</attribute>",
            ),
            ("<attribute>", &permission.writes, "</attribute>"),
            ("<operation>", &permission.calls, "</operation>"),
        ] {
            for name in names {
                let _ = writeln!(text, "{start}{}{end}", escaped(name));
            }
        }
        text.push_str("</mbean>\n");
    }
    text.push_str("</allow>\n</restrict>\n");
    text
}

/// Jolokia takes one entry for a name, the last.
fn by_name(permissions: &[Permission]) -> Vec<Permission> {
    let mut merged: Vec<Permission> = Vec::new();
    for permission in permissions {
        let known = merged
            .iter_mut()
            .find(|known| known.name == permission.name);
        let Some(known) = known else {
            merged.push(permission.clone());
            continue;
        };
        known.reads.extend_from_slice(&permission.reads);
        known.writes.extend_from_slice(&permission.writes);
        known.calls.extend_from_slice(&permission.calls);
    }
    merged
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_what_is_permitted() {
        let name: ObjectName = "a:name=\"<&\",*".parse().unwrap();
        let own = |name: &str| vec![name.to_owned()];
        let reads = Permission {
            name: name.clone(),
            reads: own("Busy"),
            writes: Vec::new(),
            calls: Vec::new(),
        };
        let others = Permission {
            name,
            reads: Vec::new(),
            writes: own("Most"),
            calls: own("unset(java.lang.String)"),
        };
        let text = policy(&[reads, others]);
        let expected = "<mbean><name>a:name=\"&lt;&amp;\",*</name>\n<attribute mode=\"read\">Busy</attribute>\n\
            <attribute>Most</attribute>\n<operation>unset(java.lang.String)</operation>\n</mbean>\n";
        assert!(text.contains(expected), "{text}");
    }
}
