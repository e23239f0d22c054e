//! Files of other tools, taken in: what is read, what is said, what is refused.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod common;
mod monitors;
mod results;

use std::fmt::Write as _;
use std::io::Read;

use common::{RECORDED_LOAD, at, jtl, load};
use jiff::civil::date;
use jiff::tz::TimeZone;
use weir_intake::{
    Ask, Clock, IntakeError, Monitor, MonitorKind, Part, ResultFile, Samples, TakenIn, take_in,
};

const SAR: &[u8] = include_bytes!("recorded/sar.txt");
const SADF: &[u8] = include_bytes!("recorded/sadf.csv");
const NMON: &[u8] = include_bytes!("recorded/nmon.csv");
const DSTAT: &[u8] = include_bytes!("recorded/dstat.csv");

fn clock(zone: &str) -> Clock {
    Clock {
        zone: TimeZone::get(zone).unwrap(),
        words: format!("{zone}, as the test says"),
    }
}

fn ask() -> Ask {
    Ask {
        id: 1,
        name: "shot1".to_owned(),
        dropped_s: None,
        cpus: None,
    }
}

fn samples(text: &str) -> Result<Samples, IntakeError> {
    read(text.as_bytes(), "shot1.jtl")
}

/// The largest test of a file.
fn read(input: impl Read, file: &str) -> Result<Samples, IntakeError> {
    let file = ResultFile::read(input, file, &TimeZone::UTC)?;
    Ok(file.parts(Part::Largest)?.remove(0))
}

fn monitor(text: &str) -> Result<Monitor, IntakeError> {
    Monitor::read(text.as_bytes(), "monitor", date(2026, 11, 22))
}

fn failed(error: &IntakeError) -> String {
    weir_record::failed_to(error)
}

/// A load with what a monitor wrote beside it.
fn beside(samples: &Samples, monitor: &Monitor, zone: &str) -> Result<TakenIn, IntakeError> {
    let (start, end) = samples.span_ms();
    let span = (start / 1000).cast_signed()..=(end / 1000).cast_signed() + 1;
    let aligned = clock(zone).align(monitor, &[span])?;
    take_in(samples, &[aligned], &ask())
}

fn has(texts: &[String], part: &str) -> bool {
    texts.iter().any(|text| text.contains(part))
}

/// JMeter's own summary of this test says 35 samples, of which 6 failed; the file has 49 rows,
/// since it also holds the parts of samples and the sums of transaction controllers. Three
/// transactions are samples themselves ("generate parent sample"), which JMeter's summary leaves
/// out together with what they are made of.
#[test]
fn a_recorded_test_has_as_many_samples_as_jmeter_summed_up() {
    let recorded = include_bytes!("../../record/tests/jmeter/struct.jtl");
    let samples = read(recorded.as_slice(), "struct.jtl").unwrap();
    let taken = take_in(
        &samples,
        &[],
        &Ask {
            dropped_s: Some(0),
            ..ask()
        },
    )
    .unwrap();
    assert_eq!(samples.count(), 35 + 3);
    assert_eq!(taken.record.errors.count, 6);
    assert!(
        has(&taken.record.notes, "transaction controllers"),
        "{:?}",
        taken.record.notes
    );
}

/// One test saved as CSV and as XML by JMeter.
#[test]
fn csv_and_xml_of_one_test_are_the_same_samples() {
    for recorded in ["all.csv", "all.xml"] {
        let path = format!(
            "{}/../record/tests/jmeter/{recorded}",
            env!("CARGO_MANIFEST_DIR")
        );
        let file = std::fs::File::open(path).unwrap();
        let samples = read(file, recorded).unwrap();
        assert!(samples.count() >= 10, "{recorded}: {}", samples.count());
        assert_eq!(samples.users(), Some(1), "{recorded}");
    }
}

#[test]
fn a_load_by_hand_becomes_a_trial() {
    let samples = samples(&jtl(&load(20, 300, 50.0))).unwrap();
    let taken = take_in(&samples, &[], &ask()).unwrap();
    let record = &taken.record;
    assert_eq!((record.population, record.valid), (20, true));
    assert_eq!(record.level("users"), Some(20.0));
    let throughput = record.intervals["throughput_per_s"];
    assert!(throughput.contains(50.0), "{throughput:?}");
    // The ramp of 30 s and its warm-up do not count, nor does the end, where users leave.
    assert!(
        record.warm_up_s >= 30.0 && record.warm_up_s < 150.0,
        "{}",
        record.warm_up_s
    );
    assert!(record.cpu.is_none(), "nobody watched");
    assert!(record.signal_origins["throughput"].contains("shot1.jtl"));
}

#[test]
fn the_beginning_can_be_dropped_by_hand() {
    let samples = samples(&jtl(&load(20, 300, 50.0))).unwrap();
    let cut = |dropped_s| take_in(&samples, &[], &Ask { dropped_s, ..ask() });
    assert!((cut(Some(100)).unwrap().record.warm_up_s - 100.0).abs() < 1e-9);
    let error = failed(&cut(Some(9000)).unwrap_err());
    assert!(error.contains("9000 s that are to be dropped"), "{error}");
}

#[test]
fn samples_of_a_file_in_any_order_are_the_same_trial() {
    let mut rows = load(5, 120, 20.0);
    let straight = take_in(&samples(&jtl(&rows)).unwrap(), &[], &ask()).unwrap();
    rows.reverse();
    let turned = take_in(&samples(&jtl(&rows)).unwrap(), &[], &ask()).unwrap();
    assert_eq!(straight.record.errors, turned.record.errors);
    assert_eq!(
        straight.record.response_time_ms,
        turned.record.response_time_ms
    );
}

#[test]
fn what_is_no_result_file_is_refused_with_its_reason() {
    let refused = |text: &str| failed(&samples(text).unwrap_err());
    let header = jtl(&[]);
    for (text, part) in [
        ("", "it is empty"),
        (
            header.as_str(),
            "it is empty, or has a header and nothing else",
        ),
        (
            "hello\nworld\n",
            "find JMeter's header or a sample of 17 columns",
        ),
        (
            "<?xml version=\"1.0\"?><testResults></testResults>",
            "it is empty",
        ),
        (
            "<?xml version=\"1.0\"?><testResults><sample t=\"x\"/></testResults>",
            "no number",
        ),
    ] {
        let error = refused(text);
        assert!(
            error.contains("shot1.jtl") && error.contains(part),
            "{text}: {error}"
        );
    }
}

/// Rows of another tool under JMeter's positions, and times in another unit, gave figures.
#[test]
fn what_would_give_wrong_figures_is_refused() {
    let refused = |text: &str| failed(&samples(text).unwrap_err());
    let header = "timeStamp,elapsed,label,responseCode,success\n";
    let rows = |times: [&str; 3], success: &str| {
        let rows = times.map(|time| format!("{time},20,home,200,{success}\n"));
        format!("{header}{}", rows.concat())
    };
    let seconds = rows(["1700000000", "1700000001", "1700000002"], "true");
    assert!(refused(&seconds).contains("are seconds since 1970"));
    let micros = rows(["1700000000000000"; 3], "true");
    assert!(refused(&micros).contains("are microseconds since 1970"));
    let words = rows(["1700000000000"; 3], "yes");
    assert!(refused(&words).contains("read `yes` in line 2, column `success`"));
    let history = "1700000000,10,GET,/,5.0,0.0,20,21,22,23,24,25,26,27,28,29,30,50\n";
    let error = refused(&history.repeat(3));
    assert!(error.contains("find JMeter's header"), "{error}");
    // Half a line at the beginning, as of the end of a longer file.
    let all = jtl(&load(5, 120, 20.0));
    let (_, headless) = all.split_once('\n').unwrap();
    let whole = samples(headless).unwrap();
    let cut = samples(&headless[30..]).unwrap();
    assert_eq!(cut.count() + 1, whole.count());
}

#[test]
fn some_broken_lines_are_named_and_many_are_an_error() {
    let mut lines: Vec<String> = jtl(&load(5, 120, 20.0))
        .lines()
        .map(str::to_owned)
        .collect();
    lines[40] = "17952192x,7,home,200".to_owned();
    lines.push("1795219".to_owned());
    let taken = take_in(&samples(&lines.join("\n")).unwrap(), &[], &ask()).unwrap();
    assert!(
        has(&taken.record.notes, "2 lines that cannot be read"),
        "{:?}",
        taken.record.notes
    );
    assert!(
        has(&taken.record.notes, "line 41"),
        "{:?}",
        taken.record.notes
    );
    for line in lines.iter_mut().skip(100).step_by(50) {
        line.truncate(12);
    }
    let error = failed(&samples(&lines.join("\n")).unwrap_err());
    assert!(
        error.contains("more than 1 %") && error.contains("line 41"),
        "{error}"
    );
}

#[test]
fn a_test_of_weeks_is_no_test() {
    let rows = [at(0, 5), at(8 * 86_400_000, 5)];
    let error = failed(&samples(&jtl(&rows)).unwrap_err());
    assert!(error.contains("more than 7 days"), "{error}");
}

/// `sadf` printed the same binary file as `sar`, as other text: semicolons, and times in UTC.
#[test]
fn what_sar_recorded_reads_the_same_from_sadf() {
    let read = |content: &[u8], zone: &str| {
        let monitor = Monitor::read(content, "recorded", date(2026, 11, 22)).unwrap();
        assert!(monitor.cpus().is_none_or(|cpus| cpus == 2));
        let load = samples(&jtl(&RECORDED_LOAD.rows())).unwrap();
        beside(&load, &monitor, zone).unwrap()
    };
    // The recording was made with the clock of Berlin; sadf's times are in UTC.
    let sar = read(SAR, "Europe/Berlin").record;
    let sadf = read(SADF, "America/New_York").record;
    let mut compared = 0;
    for (signal, value) in &sar.signals {
        let Some(other) = sadf.signals.get(signal) else {
            continue;
        };
        assert!(
            (value - other).abs() <= 1e-9 * value.abs().max(1.0),
            "{signal}: {value} {other}"
        );
        compared += 1;
    }
    assert!(compared >= 12, "{:?}", sar.signals.keys());
    let cpu = sar.cpu.unwrap();
    assert!(cpu.total > 0.0 && cpu.total <= 1.0, "{cpu:?}");
    assert!(
        sar.signals.contains_key("tcp.retransmissions"),
        "{:?}",
        sar.signals.keys()
    );
    let origin = &sar.signal_origins["cpu"];
    assert!(origin.starts_with("recorded (sar of "), "{origin}");
    assert!(
        has(&sar.notes, "lie outside of the load and were dropped"),
        "{:?}",
        sar.notes
    );
}

/// nmon and dstat watched the same machine in the same seconds.
#[test]
fn what_nmon_and_dstat_recorded_agrees_with_sar() {
    let cpu = |content: &[u8], kind: MonitorKind| {
        let monitor = Monitor::read(content, "recorded", date(2026, 11, 22)).unwrap();
        assert_eq!(monitor.kind(), kind);
        let load = samples(&jtl(&RECORDED_LOAD.rows())).unwrap();
        let record = beside(&load, &monitor, "Europe/Berlin").unwrap().record;
        assert!(
            record.signals.contains_key("machine.context-switches"),
            "{kind}"
        );
        record.cpu.unwrap().total
    };
    let sar = cpu(SAR, MonitorKind::Sar);
    for (content, kind) in [(NMON, MonitorKind::Nmon), (DSTAT, MonitorKind::Dstat)] {
        let other = cpu(content, kind);
        assert!((other - sar).abs() < 0.05, "{kind}: {other}, sar {sar}");
    }
}

const HEAD: &str = "Linux 6.1.0-18-amd64 (app1)";

/// A load from 23:59:00 to 00:01:00 UTC; sar with a clock of twelve hours, a comma in its numbers,
/// and midnight between.
#[test]
fn sar_of_other_locales_is_read() {
    let samples = samples(&jtl(&common::load_at(
        common::MIDNIGHT_MS - 60_000,
        5,
        120,
        20.0,
    )))
    .unwrap();
    let mut text = format!("{HEAD} \t21/11/26 \t_x86_64_\t(4 CPU)\n\n");
    text.push_str(
        "11:58:59 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n",
    );
    for second in 0..120 {
        let (clock, half) = match second {
            0..60 => (format!("11:59:{second:02}"), "PM"),
            _ => (format!("12:00:{:02}", second - 60), "AM"),
        };
        let line = format!(
            "{clock} {half}     all     40,00      0,00     10,00      0,00      0,00     50,00\n"
        );
        text.push_str(&line);
    }
    text.push_str(
        "Durchschn.:     all     40,00      0,00     10,00      0,00      0,00     50,00\n",
    );
    let read = monitor(&text).unwrap();
    assert_eq!((read.cpus(), read.host()), (Some(4), Some("app1")));
    let record = beside(&samples, &read, "UTC").unwrap().record;
    let cpu = record.cpu.unwrap();
    assert!(
        (cpu.total - 0.5).abs() < 1e-9 && (cpu.user - 0.4).abs() < 1e-9,
        "{cpu:?}"
    );
}

/// What sar wrote of the same seconds in every locale of glibc: it is read as that of `C` is, or
/// refused with what to do instead.
#[test]
fn sar_of_every_locale_is_read_or_refused() {
    let all = include_str!("recorded/sar-locales.txt");
    let begin = 1_795_871_231_000;
    let rows = samples(&jtl(&common::load_at(begin, 5, 7, 20.0))).unwrap();
    let values = |text: &str| {
        let read = monitor(text).map_err(|error| failed(&error))?;
        let taken = beside(&rows, &read, "UTC").map_err(|error| failed(&error))?;
        Ok(taken.recording.timeline.series("cpu", 0..7))
    };
    let (mut read, mut halves, mut refused) = (0, 0, 0);
    let mut expected = None;
    for section in all.split("=== ").skip(1) {
        let (locales, text) = section.split_once('\n').unwrap();
        let found: Result<Vec<Option<f64>>, String> = values(text);
        let expected = expected.get_or_insert_with(|| found.clone().unwrap());
        match found {
            Ok(found) => {
                assert_eq!(found, *expected, "{locales}");
                read += 1;
            }
            // Twelve hours without their half.
            Err(error) if error.contains("12 h later") => halves += 1,
            Err(error) => {
                assert!(error.contains("LC_ALL=C"), "{locales}: {error}");
                refused += 1;
            }
        }
    }
    assert_eq!((read, halves, read + halves + refused), (59, 2, 143));
}

#[test]
fn a_value_stands_for_its_whole_interval_and_for_no_more() {
    let samples = samples(&jtl(&load(5, 120, 20.0))).unwrap();
    let start = (samples.span_ms().0 / 1000).cast_signed();
    let mut text =
        "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n".to_owned();
    for row in 1..=6 {
        let user = 10 * row;
        let _ = writeln!(
            text,
            "app1;10;{};-1;{user};0;0;0;0;{}",
            start + 10 * row,
            100 - user
        );
    }
    let _ = writeln!(
        text,
        "# hostname;interval;timestamp;runq-sz;plist-sz\napp1;10;{};7;90",
        start + 10
    );
    let taken = beside(&samples, &monitor(&text).unwrap(), "UTC").unwrap();
    let series = taken.recording.timeline.series("cpu", 0..62);
    let expected: Vec<Option<f64>> = (0..62)
        .map(|second| (second < 60).then(|| f64::from(second / 10 + 1) / 10.0))
        .collect();
    assert_eq!(series, expected);
    let queue = taken.recording.timeline.series("machine.run-queue", 8..11);
    assert_eq!(queue, [None, Some(7.0), None]);
    assert!(
        has(&taken.record.notes, "the CPU was read in"),
        "{:?}",
        taken.record.notes
    );
    assert!(
        has(&taken.record.notes, "plist-sz"),
        "{:?}",
        taken.record.notes
    );
}

#[test]
fn a_clock_of_another_zone_is_told() {
    let samples = samples(&jtl(&load(5, 120, 20.0))).unwrap();
    let start = (samples.span_ms().0 / 1000).cast_signed();
    let mut text =
        "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n".to_owned();
    for second in 1..=120 {
        let moment = jiff::Timestamp::from_second(start + second + 7200).unwrap();
        let local = moment.strftime("%Y-%m-%d %H:%M:%S");
        let _ = writeln!(text, "app1;1;{local};-1;40;0;10;0;0;50");
    }
    let read = monitor(&text).unwrap();
    let error = failed(&beside(&samples, &read, "UTC").unwrap_err());
    for part in [
        "no second in common",
        "2 h earlier",
        "--time-zone",
        "UTC, as the test says",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let record = beside(&samples, &read, "Africa/Johannesburg")
        .unwrap()
        .record;
    assert!((record.cpu.unwrap().total - 0.5).abs() < 1e-9);
}

#[test]
fn another_day_is_told() {
    let samples = samples(&jtl(&load(5, 60, 20.0))).unwrap();
    let text = "AAA,host,app1\nCPU_ALL,CPU Total app1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs\n\
                ZZZZ,T0001,00:10:01,14-MAR-2024\nCPU_ALL,T0001,40.0,10.0,0.0,50.0,0.0,,2\n";
    let error = failed(&beside(&samples, &monitor(text).unwrap(), "UTC").unwrap_err());
    assert!(
        error.contains("2024-03-14") && error.contains("another time"),
        "{error}"
    );
}

#[test]
fn what_no_monitor_wrote_is_refused_with_its_reason() {
    let result_file = jtl(&load(5, 10, 5.0));
    for (text, part) in [
        ("", "it is empty"),
        (result_file.as_str(), "give it with --jtl"),
        ("\0\0\u{1}binary", "sar -f FILE"),
        ("just words", "it begins with `just words`"),
        (
            "\"total cpu usage\",,,\n\"usr\",\"sys\",\"idl\",\"wai\"\n1,1,98,0\n1,1,98,0\n",
            "run dstat with -t or -T",
        ),
        (
            "AAA,host,app1\nCPU_ALL,CPU Total,User%,Sys%,Wait%,Idle%\nCPU_ALL,T0001,1,1,0,98\n",
            "ZZZZ",
        ),
    ] {
        let error = failed(&monitor(text).unwrap_err());
        assert!(
            error.contains("monitor") && error.contains(part),
            "{text}: {error}"
        );
    }
    let mut broken =
        format!("{HEAD} 11/22/26 _x86_64_ (2 CPU)\n\n00:00:01 CPU %user %system %idle\n");
    for second in 2..9 {
        let _ = writeln!(
            broken,
            "00:00:0{second} all 1.00 garbled\n00:00:0{second} all 1.00"
        );
    }
    let error = failed(&monitor(&broken).unwrap_err());
    assert!(error.contains("can be read"), "{error}");
}

#[test]
fn any_bytes_give_an_answer() {
    let day = date(2026, 11, 22);
    let result_file = jtl(&load(2, 5, 3.0));
    let target = weir_fuzz::Target {
        name: "intake",
        seeds: &[
            &SAR[..1500],
            SADF,
            DSTAT,
            &NMON[NMON.len() - 1500..],
            result_file.as_bytes(),
        ],
        words: &[
            b";", b",", b":", b"-", b"\n", b"CPU", b"T0001", b"1e308", b"UTC", b"AM",
        ],
        length_max: 4_000,
    };
    target.run(|bytes| {
        if let Ok(monitor) = Monitor::read(bytes, "fuzz", day) {
            let load = RECORDED_LOAD.rows();
            let _ = beside(&samples(&jtl(&load)).unwrap(), &monitor, "UTC");
        }
        if let Ok(samples) = read(bytes, "fuzz") {
            let _ = take_in(&samples, &[], &ask());
        }
    });
}
