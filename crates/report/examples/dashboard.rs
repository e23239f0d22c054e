//! Writes the dashboard of a result file: `dashboard FILE.jtl PAGE.html`.

use std::error::Error;
use std::fs::{self, File};

use weir_record::JtlReader;
use weir_report::{Dashboard, DashboardSettings};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(page)) = (words.next(), words.next()) else {
        return Err("name a result file and a page".into());
    };
    let mut dashboard = Dashboard::new(DashboardSettings {
        source: file.clone(),
        ..DashboardSettings::default()
    });
    for row in JtlReader::new(File::open(file)?)? {
        dashboard.add(&row?);
    }
    fs::write(page, dashboard.html()?)?;
    Ok(())
}
