//! sar's text as people have it: other languages and clocks, everything at once, colours, several
//! days, rows longer than the load.

use std::fmt::Write as _;

use crate::common::{jtl, load_at};
use crate::{Monitor, beside, failed, has, monitor, samples};
use weir_intake::{IntakeError, TakenIn};

/// 2024-05-14 13:00:00 UTC.
const FROM_MS: u64 = 1_715_691_600_000;
const DAY_MS: u64 = 86_400_000;

/// How a language writes a time past 13:00, from minute and second.
type Time = fn(u32, u32) -> String;

/// What sar wrote beside a load of two minutes from 13:00 of a day on.
fn taken_on(day_ms: u64, text: &str) -> Result<TakenIn, IntakeError> {
    let load = jtl(&load_at(FROM_MS + day_ms, 4, 120, 8.0));
    beside(&samples(&load).unwrap(), &monitor(text)?, "UTC")
}

fn taken(text: &str) -> Result<TakenIn, IntakeError> {
    taken_on(0, text)
}

#[track_caller]
fn is_half_busy(text: &str) -> TakenIn {
    let taken = taken(text).unwrap_or_else(|error| panic!("{}\n{text}", failed(&error)));
    let cpu = taken.record.cpu.expect("a CPU");
    assert!((cpu.total - 0.5).abs() < 1e-9, "{cpu:?}\n{text}");
    taken
}

/// Rows of ten seconds under this head; `time` writes minute and second, `row` what stands behind.
fn sar(head: &str, time: impl Fn(u32, u32) -> String, columns: &str, row: &str) -> String {
    let mut text = format!("{head}\n\n{}     {columns}\n", time(0, 0));
    for at in 1..=12 {
        let second = at * 10;
        let _ = writeln!(text, "{}     {row}", time(second / 60, second % 60));
    }
    text
}

const COLUMNS: &str = "CPU     %user     %nice   %system   %iowait    %steal     %idle";
const ROW: &str = "all     40.00      0.00     10.00      0.00      0.00     50.00";

fn usual(minute: u32, second: u32) -> String {
    format!("13:{minute:02}:{second:02}")
}

fn head(release: &str, date: &str) -> String {
    format!("Linux {release} (app1) \t{date} \t_x86_64_\t(4 CPU)")
}

#[test]
fn the_release_of_the_kernel_is_no_date() {
    for release in [
        "6.6.20-talos",
        "6.6.20",
        "1.2.3-TEST",
        "5.10.0-20-amd64",
        "4.19.2-1-2020",
    ] {
        for date in ["05/14/2024", "2024-05-14", "14/05/24", "14.05.2024"] {
            is_half_busy(&sar(&head(release, date), usual, COLUMNS, ROW));
        }
    }
}

#[test]
fn clocks_and_dates_of_other_languages_are_read() {
    let known: [(&str, Time); 7] = [
        ("2024年05月14日", |m, s| format!("13時{m:02}分{s:02}秒")),
        ("2024年05月14日", |m, s| format!("13时{m:02}分{s:02}秒")),
        ("2024년 05월 14일", |m, s| {
            format!("13시 {m:02}분 {s:02}초")
        }),
        ("14/05/24", |m, s| format!("01:{m:02}:{s:02} PM UTC")),
        ("14/05/24", |m, s| format!("01:{m:02}:{s:02} PM IST")),
        ("05/14/2024", |m, s| format!("01:{m:02}:{s:02} pm")),
        ("14.05.2024", |m, s| format!("13:{m:02}:{s:02}")),
    ];
    for (date, time) in known {
        is_half_busy(&sar(&head("5.10.0-20-amd64", date), time, COLUMNS, ROW));
    }
    // What cannot be told is refused with the way out.
    let other: [(&str, Time); 3] = [
        ("05/14/2024", |m, s| format!("01:{m:02}:{s:02} অপরাহ্ণ")),
        ("۲۰۲۴/۰۵/۱۴", |m, s| format!("۱۳:{m:02}:{s:02}")),
        ("14 mai 2024", |m, s| format!("13:{m:02}:{s:02}")),
    ];
    for (date, time) in other {
        let text = sar(&head("5.10.0-20-amd64", date), time, COLUMNS, ROW);
        let error = failed(&taken(&text).unwrap_err());
        assert!(
            error.contains("LC_ALL=C sar") && error.contains("sadf -d"),
            "{error}"
        );
    }
}

#[test]
fn colours_percent_signs_and_blocks_of_no_use_do_no_harm() {
    let date = head("5.10.0-20-amd64", "05/14/2024");
    let human = "all     40.0%      0.0%     10.0%      0.0%      0.0%     50.0%";
    is_half_busy(&sar(&date, usual, COLUMNS, human));
    let coloured = ROW.replace("40.00", "\u{1b}[35;22m40.00\u{1b}[0m");
    is_half_busy(&sar(&date, usual, COLUMNS, &coloured));
    // `sar -A`: interrupts, devices and file systems between the blocks of the CPU.
    let mut all = sar(&date, usual, COLUMNS, ROW);
    for block in [
        "13:00:00         INTR       all      CPU0\n13:00:10          sum    587.00    260.00\n13:00:10          NMI      0.00      0.00\n",
        "13:00:00    MBfsfree  MBfsused FILESYSTEM\n13:00:10       10.00     20.00 /dev/sda1\n",
        "13:00:00          BUS  idvendor    idprod  maxpower manufact product\n13:00:10            1      1d6b         2         0 Linux xHCI\n",
    ] {
        all += "\n";
        all += block;
    }
    let taken = is_half_busy(&all);
    let notes = &taken.record.notes;
    assert!(!has(notes, "cannot be read"), "{notes:?}");
    // Nothing else: said with what it has.
    let (date, interrupts) = (date, "INTR       all      CPU0");
    let none = sar(&date, usual, interrupts, "sum    587.00    260.00");
    let error = failed(&monitor(&none).unwrap_err());
    assert!(
        error.contains("none of the blocks") && error.contains("INTR"),
        "{error}"
    );
}

#[test]
fn the_date_of_each_head_counts() {
    let of = |date: &str, busy: &str| {
        let row = ROW.replace("40.00", busy).replace("50.00", "0.00");
        sar(&head("5.10.0-20-amd64", date), usual, COLUMNS, &row)
    };
    for (one, other) in [("05/12/2024", "05/14/2024"), ("12/05/24", "14/05/24")] {
        // In either order, the load of a day meets that day, and the day between no row.
        for text in [
            of(one, "5.00") + &of(other, "80.00"),
            of(other, "80.00") + &of(one, "5.00"),
        ] {
            let cpu = |text: &str, day_ms: u64| {
                let load = jtl(&load_at(FROM_MS - 2 * DAY_MS + day_ms, 4, 120, 8.0));
                let load = samples(&load).unwrap();
                beside(&load, &monitor(text).unwrap(), "UTC")
            };
            let busy = |taken: TakenIn| (taken.record.cpu.unwrap().user * 100.0).round() as i64;
            let error = failed(&cpu(&text, DAY_MS).unwrap_err());
            assert!(error.contains("no second in common"), "{error}");
            assert!(error.contains("it is another time"), "{error}");
            assert_eq!(
                busy(cpu(&text, 0).unwrap()),
                33,
                "5 of 15 that were not stolen"
            );
            assert_eq!(busy(cpu(&text, 2 * DAY_MS).unwrap()), 89);
        }
    }
}

/// sar's own collection has rows of ten minutes.
#[test]
fn rows_longer_than_the_load_say_nothing_of_it() {
    let rows = |last_hour: u32| {
        let mut text = format!(
            "{}\n\n12:00:01     {COLUMNS}\n",
            head("5.10.0", "05/14/2024")
        );
        for at in 1..=last_hour * 6 {
            let _ = writeln!(text, "{:02}:{:02}:01     {ROW}", 12 + at / 6, at % 6 * 10);
        }
        text
    };
    let error = failed(&taken(&rows(4)).unwrap_err());
    assert!(
        error.contains("means over 600 s, and the load lasted 11"),
        "{error}"
    );
    assert!(!error.contains("--time-zone"), "{error}");
    // Over a longer load only the rows within it count.
    let load = jtl(&load_at(FROM_MS - 300_000, 4, 3_000, 1.0));
    let load = samples(&load).unwrap();
    let read: Monitor = monitor(&rows(4)).unwrap();
    let taken = beside(&load, &read, "UTC").unwrap();
    assert!(
        has(&taken.record.notes, "; 4 lie within the load"),
        "{:?}",
        taken.record.notes
    );
}

#[test]
fn columns_of_sadf_in_one_row_are_read() {
    let head = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle[...];runq-sz;plist-sz;\
                IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s[...]\n";
    let mut text = head.to_owned();
    for at in 1..=12 {
        let (minute, second) = (at / 6, at % 6 * 10);
        let _ = writeln!(
            text,
            "app1;10;2024-05-14 13:{minute:02}:{second:02} UTC;-1;40.00;0.00;10.00;0.00;0.00;50.00;1;371;eth0;1;1;2.00;3.00"
        );
    }
    let taken = is_half_busy(&text);
    let signals = &taken.record.signals;
    assert!((signals["machine.network.received"] - 2048.0).abs() < 1e-9);
    assert!((signals["machine.run-queue"] - 1.0).abs() < 1e-9);
}

#[test]
fn captures_of_nmon_one_after_the_other_are_told_apart() {
    let capture = |day: u32, user: u32| {
        let mut text = "AAA,progname,nmon\nAAA,host,app1\nAAA,cpus,4\n\
            CPU_ALL,CPU Total app1,User%,Sys%,Wait%,Idle%,Busy,CPUs\n"
            .to_owned();
        for at in 1..=130 {
            let (minute, second, idle) = (at / 60, at % 60, 90 - user);
            let _ = writeln!(
                text,
                "ZZZZ,T{at:04},13:{minute:02}:{second:02},{day}-MAY-2024\nCPU_ALL,T{at:04},{user}.0,10.0,0.0,{idle}.0,,4"
            );
        }
        text
    };
    for text in [
        capture(14, 40) + &capture(15, 5),
        capture(13, 5) + &capture(14, 40),
    ] {
        let taken = is_half_busy(&text);
        assert!(has(&taken.record.notes, "it holds 2 captures"));
    }
}

#[test]
fn dstat_of_pcp_writes_the_group_before_each_column() {
    let mut text = "\"pcp-dstat 5.0.3 CSV Output\"\n\
        \"Host:\",\"app1\",,,,\"User:\",\"me\"\n\
        \"epoch\",\"total usage\",,,,\n\
        \"epoch\",\"total usage:usr\",\"total usage:sys\",\"total usage:idl\",\"total usage:wai\",\"total usage:stl\"\n"
        .to_owned();
    let start = FROM_MS / 1_000;
    let _ = writeln!(text, "{start},,,,,");
    for at in 1..=125 {
        let _ = writeln!(text, "{},40.000,10.000,50.000,0,0", start + at);
    }
    let taken = is_half_busy(&text);
    assert!(!has(&taken.record.notes, "cannot be read"));
}
