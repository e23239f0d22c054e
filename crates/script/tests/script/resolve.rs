//! What a plan means once its properties are known, and what is said when it means nothing.
//!
//! Expected texts were printed by JMeter 5.6.3 for the same text as a sampler's name, run with
//! `-J PP=pv` unless a test says otherwise.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_plan::{
    CssExtractor, ElementId, Extractor, HttpRequest, Iterations, LoadPlan, Node, Position,
    PostProcessor, SampleScope, Sampler, SamplerKind, Schedule, Template, ThreadGroup,
    ThroughputShare, Timer, TimerKind, Variable, XPath2Extractor,
};
use weir_script::{
    Origin, Problem, Properties, ResolveError, ResolvedIterations, ResolvedPlan, Scope, Target,
    Text, delay_ms, properties_used, resolve,
};

/// A text on a line of its own, so that problems can be told apart.
fn on_line(line: u32, text: &str) -> Template {
    Template {
        text: text.to_owned(),
        at: Position { line, column: 1 },
    }
}

fn plan() -> LoadPlan {
    let request = HttpRequest {
        host: on_line(5, "127.0.0.1"),
        port: on_line(6, "${__P(PORT,9080)}"),
        method: Template::literal("GET"),
        at: Position { line: 4, column: 1 },
        ..HttpRequest::default()
    };
    LoadPlan {
        name: "plan".to_owned(),
        source: Some("plan.jmx".into()),
        groups: vec![ThreadGroup {
            name: on_line(1, "G"),
            users: on_line(2, "${__P(USERS)}"),
            ramp_up_s: on_line(3, "1"),
            nodes: vec![Sampler::http(on_line(4, "label"), request).into()],
            at: Position { line: 1, column: 1 },
            ..ThreadGroup::default()
        }],
        ..LoadPlan::default()
    }
}

/// The only sampler of a group.
fn only<T>(nodes: &mut [Node<T>]) -> &mut Sampler<T> {
    match nodes {
        [Node::Sampler(sampler)] => sampler,
        _ => panic!("one sampler was expected"),
    }
}

fn request<T>(nodes: &mut [Node<T>]) -> &mut HttpRequest<T> {
    match &mut only(nodes).kind {
        SamplerKind::Http(request) => request,
        _ => panic!("a request was expected"),
    }
}

fn timer(kind: TimerKind) -> Timer {
    Timer {
        id: ElementId::default(),
        kind,
    }
}

fn label(plan: &ResolvedPlan) -> &Text {
    &plan.groups[0].samplers()[0].label
}

fn delays(plan: &ResolvedPlan, scope: &mut Scope) -> i64 {
    let timers = &plan.groups[0].samplers()[0].timers;
    let delays = timers
        .iter()
        .filter_map(|timer| delay_ms(&timer.kind, plan.timer_factor, scope));
    delays.sum()
}

fn with(change: impl FnOnce(&mut LoadPlan, &mut ThreadGroup)) -> LoadPlan {
    let mut plan = plan();
    let mut group = plan.groups.remove(0);
    change(&mut plan, &mut group);
    plan.groups.push(group);
    plan
}

fn labelled(label: &str) -> LoadPlan {
    with(|_, group| only(&mut group.nodes).label = on_line(4, label))
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().copied().collect()
}

fn resolved(plan: &LoadPlan, pairs: &[(&str, &str)]) -> Result<ResolvedPlan, ResolveError> {
    resolve(plan, &properties(pairs), Origin::default())
}

fn user(plan: &ResolvedPlan, number: u32) -> Scope {
    plan.scope(
        "G",
        number,
        Xoshiro256PlusPlus::seed_from_u64(u64::from(number)),
    )
}

/// The problems, one text each, after checking that the plan has some.
fn problems(plan: &LoadPlan, pairs: &[(&str, &str)]) -> Vec<String> {
    let error = resolved(plan, pairs).unwrap_err();
    error.problems.iter().map(ToString::to_string).collect()
}

fn check_label(text: &str, expect: &str) {
    let plan = resolved(&labelled(text), &[("PP", "pv")]).unwrap();
    assert_eq!(label(&plan).rendered(&mut user(&plan, 1)), expect, "{text}");
}

#[test]
fn texts_as_jmeter_prints_them() {
    for (label, expect) in [
        (r"\${idx} \\ \, x", r"\${idx} \\ \, x"),
        ("unterminated ${abc", "unterminated abc"),
        ("${abc", "${abc"),
        (r"a\,b ${__threadNum} c\,d\e", r"a,b 1 c,d\e"),
        ("$${__threadNum}", "$1"),
        ("${__threadNum}${__threadGroupName}", "1G"),
        ("${__P(nope)}", "1"),
        ("${__P(nope,def)}", "def"),
        ("${__P(nope,)}", ""),
        ("${__P(a b,d)}", "d"),
        ("${__P( PP ,dd)}", "dd"),
        ("${__P(PP,x)}", "pv"),
        ("${__property(nope)}", "nope"),
        ("${__property(nope,,d)}", "d"),
        ("${__property(x,,)}", ""),
        ("${__property(PP,vv,x)} ${vv} end\\", "pv pv end\\"),
        ("${__P(${undef},q)}", "q"),
        (
            "${__threadNum()}|${__P((a),b(c))}|${__P(a{b,d)}",
            "1|b(c)|d",
        ),
        ("rand ${__Random( 5 , 5 , rv )} ${rv}", "rand 5 5"),
        ("${undefinedvar}", "${undefinedvar}"),
    ] {
        check_label(label, expect);
    }
}

#[test]
fn user_defined_variables_are_evaluated_once_in_order() {
    let list = |pairs: &[(&str, &str)]| -> Vec<Variable> {
        pairs
            .iter()
            .map(|(name, value)| Variable {
                name: Template::literal(*name),
                value: Template::literal(*value),
            })
            .collect()
    };
    let mut plan = labelled("${dup}|${A}|${B}|${C}|${D}|${E}|${esc}");
    plan.variables = vec![
        list(&[("dup", "1"), ("dup", "2"), ("A", "a"), ("B", "${A}b")]),
        list(&[
            ("C", "${A}c"),
            ("A", "a2"),
            ("D", "${A}d"),
            ("esc", r"x\,y"),
        ]),
        list(&[("E", "${D}${C}")]),
    ];
    let resolved = resolved(&plan, &[]).unwrap();
    let label = label(&resolved);
    assert_eq!(label.constant(), Some(r"1|a2|${A}b|ac|ad|adac|x\,y"));
    plan.variables = vec![list(&[
        ("r", "${__Random(1,1000000)}"),
        ("t", "${__time(/1000)}"),
    ])];
    let once = |seed| {
        let origin = Origin {
            seed,
            epoch_ms: 1_795_219_360_475,
        };
        let plan = resolve(&plan, &Properties::new(), origin).unwrap();
        let get = |name| plan.variables.get(name).unwrap().to_owned();
        (get("r"), get("t"))
    };
    assert_eq!(once(1), once(1));
    assert_ne!(once(1).0, once(2).0);
    assert_eq!(once(1).1, "1795219360");
}

#[test]
fn each_user_has_its_own_variables() {
    let plan = resolved(&labelled("${__Random(1,1000000,own)} ${own}"), &[]).unwrap();
    let label = label(&plan);
    let (mut first, mut second) = (user(&plan, 1), user(&plan, 2));
    for scope in [&mut first, &mut second] {
        let text = label.rendered(scope);
        let (drawn, kept) = text.split_once(' ').unwrap();
        assert_eq!(drawn, kept);
        assert_eq!(scope.variables.get("own"), Some(drawn));
    }
    assert_ne!(first.variables.get("own"), second.variables.get("own"));
}

#[test]
fn functions_that_draw() {
    let plan = resolved(&labelled("${__Random(-2,2)}"), &[]).unwrap();
    let mut scope = user(&plan, 1);
    let label = label(&plan);
    let mut drawn: Vec<i32> = (0..500)
        .map(|_| label.rendered(&mut scope).parse().unwrap())
        .collect();
    drawn.sort_unstable();
    drawn.dedup();
    // One of five values missing in 500 draws: 5 × 0.8^500, never.
    assert_eq!(drawn, [-2, -1, 0, 1, 2]);
    let plan = resolved(&labelled("${__UUID}"), &[]).unwrap();
    let uuid = self::label(&plan).rendered(&mut scope);
    let shape: String = uuid
        .chars()
        .map(|c| if c == '-' { '-' } else { 'x' })
        .collect();
    assert_eq!(shape, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    assert_eq!(&uuid[14..15], "4");
    assert!("89ab".contains(&uuid[19..20]), "{uuid}");
}

#[test]
fn numbers_of_a_group() {
    let plan = with(|_, group| {
        group.schedule = Some(Schedule {
            duration_s: on_line(7, "${__P(SUSTAIN)}"),
            delay_s: on_line(8, ""),
        });
        group.iterations = Iterations::Count(on_line(9, "-1"));
        request(&mut group.nodes).response_timeout_ms = on_line(10, "250");
        request(&mut group.nodes).connect_timeout_ms = on_line(11, "-5");
    });
    let resolved = resolved(&plan, &[("USERS", "14"), ("SUSTAIN", "300")]).unwrap();
    let group = &resolved.groups[0];
    assert_eq!((group.users, group.ramp_up), (14, Duration::from_secs(1)));
    assert_eq!(group.duration, Some(Duration::from_secs(300)));
    assert_eq!(group.delay, Duration::ZERO);
    assert_eq!(group.iterations, ResolvedIterations::Forever);
    let request = group.requests().next().unwrap();
    assert_eq!(request.response_timeout_ms.constant(), Some("250"));
    // A property that is not set reads as 1, as in JMeter.
    let unset = resolve(&plan, &Properties::new(), Origin::default()).unwrap();
    assert_eq!(
        (
            unset.groups[0].users,
            unset.groups[0].duration.unwrap().as_secs()
        ),
        (1, 1)
    );
}

/// What only XPath 2 has is refused where it stands; a text that is known only later is not.
#[test]
fn expressions_that_cannot_be_read_are_named_before_the_test() {
    let asking = |query: &str| {
        let extractor = Extractor::XPath2(XPath2Extractor {
            name: on_line(20, "ids"),
            scope: SampleScope::default(),
            variable: on_line(21, "id"),
            query: on_line(22, query),
            match_number: on_line(23, "1"),
            default: on_line(24, ""),
            fragment: false,
            namespaces: on_line(25, ""),
            at: Position {
                line: 20,
                column: 1,
            },
        });
        with(|_, group| {
            let sampler = only(&mut group.nodes);
            let extractor = PostProcessor::Extractor(Box::new(extractor));
            sampler.after.push(extractor);
        })
    };
    let [said] = &*problems(&asking("for $i in //a return $i"), &[]) else {
        panic!("one problem was expected");
    };
    assert!(
        said.contains("line 20") && said.contains("XPath 2") && said.contains("--engine jmeter"),
        "{said}"
    );
    assert!(resolved(&asking("//a[1]"), &[]).is_ok());
    assert!(resolved(&asking("${query}"), &[]).is_ok());
}

#[test]
fn selectors_that_cannot_be_read_are_warned_of() {
    let plan = with(|_, group| {
        let extractor = Extractor::Css(CssExtractor {
            name: on_line(20, "ids"),
            scope: SampleScope::default(),
            variable: on_line(21, "id"),
            selector: on_line(22, "a[["),
            attribute: on_line(23, ""),
            match_number: on_line(24, "1"),
            default: on_line(25, ""),
            default_empty: false,
            at: Position {
                line: 20,
                column: 1,
            },
        });
        let extractor = PostProcessor::Extractor(Box::new(extractor));
        only(&mut group.nodes).after.push(extractor);
    });
    let warnings = resolved(&plan, &[]).unwrap().warnings;
    let warned = |warning: &&Problem| warning.to_string().contains("it finds nothing");
    assert_eq!(warnings.iter().filter(warned).count(), 1);
}

#[test]
fn all_problems_at_once_with_line_and_value() {
    let plan = with(|plan, group| {
        group.users = on_line(2, "-1");
        group.ramp_up_s = on_line(7, "${__threadNum}");
        group.schedule = Some(Schedule {
            duration_s: on_line(8, "0"),
            delay_s: on_line(9, "-3"),
        });
        only(&mut group.nodes).label =
            on_line(10, "${__groovy(1+2)} ${__P} ${__P(a} ${__jm__Loop__idx}");
        request(&mut group.nodes).path =
            on_line(12, "/${__Random(1)}/${__Random(9,1)}/${__time(jjjj)}");
        only(&mut group.nodes).timers = vec![timer(TimerKind::ConstantThroughput {
            per_minute: on_line(13, "x"),
            shared: ThroughputShare::ThisUser,
        })];
        plan.variables = vec![vec![Variable {
            name: on_line(15, "v"),
            value: on_line(16, "${__threadNum}"),
        }]];
    });
    let found = problems(&plan, &[]);
    let expect = [
        "line 2, column 1: the number of users is -1 (",
        "line 7, column 1: the ramp-up time \"${__threadNum}\" changes",
        "line 8, column 1: the scheduler is on, but the duration is 0",
        "line 9, column 1: the start-up delay is -3 (",
        "line 10, column 1: the call of __P has no }",
        "line 12, column 1: the function __Random has 1 arguments, but takes 2 to 3 arguments",
        "line 12, column 1: __Random has a minimum of 9 above its maximum of 1",
        "line 12, column 1: the format \"jjjj\" of __time cannot be read: the letter j is not supported",
        "line 13, column 1: the throughput is \"x\"",
        "line 16, column 1: the user-defined variable \"v\" depends on the user",
    ];
    assert_eq!(found.len(), expect.len(), "{found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.starts_with(expect), "{found}\n{expect}");
    }
    let message = resolved(&plan, &[]).unwrap_err().to_string();
    assert!(
        message.starts_with("resolve plan.jmx\n  line 2, column 1: "),
        "{message}"
    );
}

/// What JMeter 5.6.3 makes of it: 500/s of 40,000 a minute, no limit above 120,000.
#[test]
fn a_throughput_that_rounding_changes_is_told() {
    let said = |per_minute: &str, shared| {
        let plan = with(|_, group| {
            only(&mut group.nodes).timers = vec![timer(TimerKind::ConstantThroughput {
                per_minute: on_line(13, per_minute),
                shared,
            })];
        });
        let warnings = resolved(&plan, &[]).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let shared = ThroughputShare::AllShared;
    for (per_minute, becomes) in [
        ("40000", "(667/s) becomes 30000 (500/s)"),
        ("200000", "(3333/s) is no limit at all"),
        ("120001", "is no limit at all"),
        ("7000.0", "becomes 6667 (111/s)"),
    ] {
        for share in [
            shared,
            ThroughputShare::GroupShared,
            ThroughputShare::ThisUser,
        ] {
            let said = said(per_minute, share);
            assert_eq!(said.len(), 1, "{said:?}");
            assert!(said[0].starts_with("line 13, column 1: "), "{said:?}");
            assert!(said[0].contains(becomes), "{said:?}");
            assert!(said[0].contains("Precise Throughput Timer"), "{said:?}");
        }
    }
    for (per_minute, share) in [
        ("600", shared),
        ("3000", shared),
        ("60000", shared),
        ("6010", shared),
        // Times the users alive, which nobody knows before.
        ("40000", ThroughputShare::AllUsers),
        ("${__P(rate,40000)}0", ThroughputShare::GroupUsers),
    ] {
        assert_eq!(
            said(per_minute, share),
            Vec::<String>::new(),
            "{per_minute}"
        );
    }
}

/// JMeter 5.6.3 was run with each of them: `Integer.parseInt` says no, and 0 is taken.
#[test]
fn what_is_no_number_is_taken_as_jmeter_takes_it() {
    let plan = with(|_, group| {
        group.ramp_up_s = on_line(3, "${rampupTime}");
        group.iterations = Iterations::Count(on_line(7, ""));
        group.schedule = Some(Schedule {
            duration_s: on_line(8, "5"),
            delay_s: on_line(9, "soon"),
        });
        request(&mut group.nodes).connect_timeout_ms = on_line(10, " 2");
        only(&mut group.nodes).timers = vec![timer(TimerKind::Gaussian {
            delay_ms: on_line(13, "2.5"),
            deviation_ms: on_line(14, "500,0"),
        })];
    });
    let resolved = resolved(&plan, &[("USERS", "many")]).unwrap();
    let group = &resolved.groups[0];
    assert_eq!(group.users, 0);
    assert_eq!(group.iterations, ResolvedIterations::Count(0));
    assert_eq!(
        (group.ramp_up, group.delay),
        (Duration::ZERO, Duration::ZERO)
    );
    let found: Vec<String> = resolved.warnings.iter().map(ToString::to_string).collect();
    let expect = [
        "line 2, column 1: the number of users is \"many\" from ${__P(USERS)}; like JMeter, Weir \
         takes 0: the group starts nobody (set it with -JUSERS=NUMBER)",
        "line 3, column 1: the ramp-up time is \"${rampupTime}\" from ${rampupTime}; like JMeter, \
         Weir takes 0: the users start at once (give the variable rampupTime a number, or write \
         ${__P(rampupTime,1)} and set -JrampupTime=NUMBER)",
        "line 7, column 1: the number of loops is empty; like JMeter, Weir takes 0: the group sends \
         nothing (write a number)",
        "line 9, column 1: the start-up delay is \"soon\"; like JMeter, Weir takes 0: the group \
         starts at once (write a number)",
        "line 10, column 1: the connect time-out is \" 2\"; like JMeter, Weir takes 0: there is no \
         time-out (write a number)",
        "line 13, column 1: the delay in milliseconds is \"2.5\"; like JMeter, Weir takes 0: it \
         does not wait (write a number)",
        "line 14, column 1: the deviation is \"500,0\"; like JMeter, Weir takes 0: it does not \
         vary (write a number)",
    ];
    assert_eq!(found, expect);
}

#[test]
fn what_is_not_supported_in_texts_is_named() {
    for (label, part) in [
        ("${__XPath(f)}", "the function __XPath has 1 arguments"),
        ("${__P}", "the function __P has 0 arguments"),
        ("${__UUID(x)}", "takes no argument"),
        ("${__nosuch(1)}", "JMeter itself has no function __nosuch"),
        (
            "${__MD5(abc)}",
            "__MD5 is a function of the plugin Custom JMeter Functions",
        ),
        ("${__GetSecret(k)}", "the plugin Azure Load Testing"),
        (
            "${__time(,)}${__base64Encode(${v})}",
            "__base64Encode is a function of the plugin",
        ),
        ("${__Random(1,x)}", "the maximum of __Random is \"x\""),
    ] {
        let found = problems(&labelled(label), &[]);
        assert!(
            found.len() == 1 && found[0].contains(part),
            "{label}: {found:?}"
        );
    }
    let changing = with(|_, group| group.loop_name = on_line(2, "${__Random(1,2)}"));
    assert!(problems(&changing, &[])[0].contains("changes while the test runs"));
}

#[test]
fn how_many_users_there_are_is_read_once_at_the_start() {
    for (users, count) in [
        ("${__javaScript(Math.round(10*20/100))}", 2),
        ("${__intSum(1,${__P(more,2)})}", 3),
        ("${__groovy(2 + 2)}", 4),
        ("${__Random(5,5)}", 5),
        ("${__counter(FALSE)}", 1),
    ] {
        let plan = with(|_, group| group.users = on_line(2, users));
        let resolved = resolved(&plan, &[]).unwrap();
        assert_eq!(resolved.groups[0].users, count, "{users}");
    }
    for changing in ["${__threadNum}", "${__intSum(1,${__threadNum})}"] {
        let plan = with(|_, group| group.users = on_line(2, changing));
        assert!(problems(&plan, &[])[0].contains("changes while the test runs"));
    }
}

#[test]
fn loops_that_a_script_counts_are_counted_once() {
    let loops = |count| with(|_, group| group.iterations = Iterations::Count(on_line(2, count)));
    let counted = resolved(&loops("${__groovy(3 * 2)}"), &[]).unwrap();
    assert_eq!(counted.groups[0].iterations, ResolvedIterations::Count(6));
    for changing in [
        "${__Random(1,9)}",
        "${__counter(FALSE)}",
        "${__threadNum}",
        "${__CSVRead(a.csv,1)}",
    ] {
        let asked = resolved(&loops(changing), &[]).unwrap();
        assert!(
            matches!(asked.groups[0].iterations, ResolvedIterations::Asked(_)),
            "{changing}"
        );
    }
}

#[test]
fn what_user_defined_variables_do_is_done_before_the_test() {
    let variable = |name: &str, value: &str| Variable {
        name: on_line(15, name),
        value: on_line(16, value),
    };
    let mut plan = labelled("${__P(p)} ${b} ${START.YMD} ${__V(a)}");
    plan.variables = vec![
        vec![variable("a", "${__setProperty(p,set)}x${START.MS}")],
        vec![variable("b", "${__P(p)}${__counter(FALSE)}")],
    ];
    let resolved = resolved(&plan, &[("user.timezone", "UTC"), ("p", "before")]).unwrap();
    assert_eq!(
        label(&resolved).rendered(&mut user(&resolved, 1)),
        "set set1 19700101 x0"
    );
    plan.variables = vec![vec![variable("c", "${__intSum(${__V(a)},1)}")]];
    let found = problems(&plan, &[]);
    let expect = "line 16, column 1: the user-defined variable \"c\" fails: \
                  java.lang.NumberFormatException: For input string: \"a\"";
    assert_eq!(found, [expect]);
}

#[test]
fn a_variable_without_value_is_a_warning() {
    let plan = resolved(&labelled("${undef} ${undef}"), &[]).unwrap();
    let warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("line 4, column 1: the variable ${undef} has no value"));
    assert_eq!(label(&plan).constant(), Some("${undef} ${undef}"));
}

#[test]
fn a_delay_that_changes_belongs_to_one_sampler() {
    let constant = |delay: &str| {
        timer(TimerKind::Constant {
            delay_ms: on_line(20, delay),
        })
    };
    let two = |delay: &str| {
        with(|_, group| {
            only(&mut group.nodes).timers = vec![constant(delay)];
            let node = group.nodes[0].clone();
            group.nodes.push(node);
        })
    };
    assert!(problems(&two("${__Random(1,9)}"), &[])[0].contains("shared by several samplers"));
    assert!(resolved(&two("300"), &[]).is_ok());
}

#[test]
fn properties_that_a_plan_asks_for() {
    let plan =
        labelled("${__property(a,,b)} ${__P(${__P(c,d)},e)} ${__property(f)} ${__P(PORT,1)}");
    let used: Vec<(String, Option<String>, u32)> = properties_used(&plan)
        .into_iter()
        .map(|used| (used.name, used.default, used.at.line))
        .collect();
    let expect = [
        ("USERS", "1", 2),
        ("a", "b", 4),
        ("c", "d", 4),
        ("f", "f", 4),
        ("PORT", "1", 4),
        ("PORT", "9080", 6),
    ]
    .map(|(name, default, line)| (name.to_owned(), Some(default.to_owned()), line));
    assert_eq!(used, expect);
}

#[test]
fn hosts_before_the_first_request() {
    let hosts = |plan: &LoadPlan, target: Option<&Target>| -> Result<Vec<String>, Vec<String>> {
        match resolved(plan, &[("PORT", "81")]).unwrap().hosts(target) {
            Ok(hosts) => Ok(hosts.iter().map(|host| host.server.to_string()).collect()),
            Err(error) => Err(error.problems.iter().map(ToString::to_string).collect()),
        }
    };
    let path = |path: &str| with(|_, group| request(&mut group.nodes).path = on_line(7, path));
    let ok = |server: &str| Ok(vec![server.to_owned()]);
    assert_eq!(hosts(&plan(), None), ok("http://127.0.0.1:81"));
    assert_eq!(
        hosts(&path("/a${__threadNum}"), None),
        ok("http://127.0.0.1:81")
    );
    assert_eq!(
        hosts(&path("https://h/x${__threadNum}"), None),
        ok("https://h:443")
    );
    let mut twice = plan();
    twice.groups.push(twice.groups[0].clone());
    assert_eq!(hosts(&twice, None), ok("http://127.0.0.1:81"));
    let target: Target = "http://other:82".parse().unwrap();
    // Servers that are known only when they are asked are named by where they stand.
    let later = |plan: &LoadPlan| -> Vec<u32> {
        let at = resolved(plan, &[]).unwrap().later_hosts();
        at.iter().map(|at| at.line).collect()
    };
    assert_eq!(later(&plan()), Vec::<u32>::new());
    for text in [
        "http://h${__threadNum}/x",
        "${__threadNum}",
        "ht${__threadNum}",
    ] {
        assert_eq!(hosts(&path(text), None), Ok(vec![]), "{text}");
        assert_eq!(later(&path(text)).len(), 1, "{text}");
        assert_eq!(hosts(&path(text), Some(&target)), ok("http://other:82"));
    }
    assert_eq!(
        hosts(&path("http:///x"), Some(&target)),
        ok("http://other:82")
    );
}

/// What JMeter 5.6.3 on Java 17 says of such samples, and sends nothing.
#[test]
fn servers_that_are_none_are_warned_of() {
    for (host, port, path, says) in [
        ("", "80", "/x", "valid host name: http:/"),
        (" ", "81", "/x", "Illegal character in authority at index 7"),
        ("h", "70000", "/x", "port out of range:70000"),
        ("a/b", "80", "/x", "Illegal character found in host"),
        ("user@h", "80", "/x", "Illegal character found in host"),
        (
            "h",
            "80",
            "http://",
            "scheme-specific part at index 5: http:",
        ),
        ("h", "80", "http:///x", "valid host name: http:/"),
        ("h", "80", "http://h:x/", "Error at index 0 in: \"x\""),
        ("h", "80", "http://h:99999/", "port out of range:99999"),
    ] {
        let plan = with(|_, group| {
            let request = request(&mut group.nodes);
            request.host = on_line(5, host);
            request.port = on_line(6, port);
            request.path = on_line(7, path);
        });
        let resolved = resolved(&plan, &[]).unwrap();
        assert_eq!(resolved.hosts(None).unwrap(), [], "{host}:{port}{path}");
        let warnings = resolved.warnings.iter().map(ToString::to_string);
        let warnings: Vec<String> = warnings.collect();
        assert!(
            warnings[0].contains(says),
            "{host}:{port}{path}: {warnings:?}"
        );
        assert!(warnings[0].contains("nothing is sent, and the sample fails"));
    }
}

/// JMeter 5.6.3 takes a port that is no number for none.
#[test]
fn a_port_that_is_no_number_is_the_usual_one() {
    let plan = with(|_, group| {
        request(&mut group.nodes).host = on_line(5, "h");
        request(&mut group.nodes).port = on_line(6, "http");
    });
    let resolved = resolved(&plan, &[]).unwrap();
    let hosts = resolved.hosts(None).unwrap();
    assert_eq!(hosts[0].server.to_string(), "http://h:80");
    assert!(
        resolved.warnings[0]
            .to_string()
            .contains("the protocol's usual one")
    );
}

/// |N(m,s)| cut to whole milliseconds, against its distribution function at nine points.
///
/// 20,000 draws; by the Dvoretzky–Kiefer–Wolfowitz bound the empirical distribution leaves a band
/// of 0.0155 with a probability of at most 2·exp(−2·20000·0.0155²) = 1.4e-4. Fixed seed.
#[test]
fn gaussian_delays() {
    let plan = with(|_, group| {
        only(&mut group.nodes).timers = vec![timer(TimerKind::Gaussian {
            delay_ms: on_line(20, "500"),
            deviation_ms: on_line(21, "500.0"),
        })];
    });
    let resolved = resolved(&plan, &[]).unwrap();
    let mut scope = user(&resolved, 1);
    let draws: Vec<i64> = (0..20_000).map(|_| delays(&resolved, &mut scope)).collect();
    assert!(draws.iter().all(|delay| *delay >= 0));
    // P(|N(500,500)| < x) = Φ((x−500)/500) − Φ((−x−500)/500); Φ from a table.
    for (below, probability) in [
        (250.0, 0.308_54 - 0.066_81),
        (500.0, 0.5 - 0.022_75),
        (750.0, 0.691_46 - 0.006_21),
        (1000.0, 0.841_34 - 0.001_35),
        (1500.0, 0.977_25 - 0.000_03),
        (2000.0, 0.998_65),
    ] {
        let share = draws
            .iter()
            .filter(|delay| (**delay as f64) < below)
            .count() as f64;
        let difference = (share / 20_000.0 - probability).abs();
        assert!(difference < 0.0155, "below {below}: off by {difference}");
    }
}

#[test]
fn delays_add_up_and_may_be_scaled() {
    let constant = |text: &str| {
        timer(TimerKind::Constant {
            delay_ms: on_line(20, text),
        })
    };
    let gaussian = timer(TimerKind::Gaussian {
        delay_ms: on_line(21, "-101"),
        deviation_ms: on_line(22, ""),
    });
    let plan = with(|_, group| {
        only(&mut group.nodes).timers =
            vec![constant("300"), constant("-50"), constant(""), gaussian];
    });
    let delay = |pairs: &[(&str, &str)]| {
        let resolved = resolved(&plan, pairs).unwrap();
        delays(&resolved, &mut user(&resolved, 1))
    };
    // Negative draws are folded; nothing else is.
    assert_eq!(delay(&[]), 300 - 50 + 101);
    // Only random timers are scaled: 101 × 0.5 is rounded up.
    assert_eq!(delay(&[("timer.factor", "0.5")]), 300 - 50 + 51);
    assert!(problems(&plan, &[("timer.factor", "x")])[0].contains("timer.factor is \"x\""));
}

proptest! {
    #[test]
    fn any_plan_gives_an_answer(texts in prop::collection::vec(
        r"(\$\{__[A-Za-z]{1,8}\(|[$\\{}(),0-9a]|\PC){0,20}", 8
    )) {
        let plan = with(|plan, group| {
            group.name = on_line(1, &texts[0]);
            group.users = on_line(2, &texts[1]);
            only(&mut group.nodes).label = on_line(3, &texts[2]);
            request(&mut group.nodes).host = on_line(4, &texts[3]);
            request(&mut group.nodes).path = on_line(5, &texts[4]);
            only(&mut group.nodes).timers = vec![timer(TimerKind::Constant { delay_ms: on_line(6, &texts[5]) })];
            plan.variables = vec![vec![Variable {
                name: on_line(7, &texts[6]),
                value: on_line(8, &texts[7]),
            }]];
        });
        let _ = properties_used(&plan);
        if let Ok(resolved) = resolved(&plan, &[]) {
            let _ = resolved.hosts(None);
            let mut scope = user(&resolved, 1);
            label(&resolved).rendered(&mut scope);
            delays(&resolved, &mut scope);
        }
    }
}

#[test]
fn what_fails_as_in_jmeter_is_told_before() {
    let warned = |encoding: &str, protocol: &str| {
        let plan = with(|_, group| {
            request(&mut group.nodes).encoding = on_line(3, encoding);
            request(&mut group.nodes).protocol = on_line(4, protocol);
        });
        let warnings = resolved(&plan, &[]).unwrap().warnings;
        let warnings = warnings.iter().map(ToString::to_string);
        warnings.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(warned("", ""), "");
    assert_eq!(warned("latin1", "HTTPS"), "");
    assert_eq!(
        warned("GBK", "http"),
        "line 3, column 1: the content encoding is \"GBK\": rare characters may become other bytes \
         than with JMeter"
    );
    assert_eq!(
        warned("nosuch", "ftp"),
        "line 3, column 1: the content encoding is \"nosuch\": Weir does not know it: what has a body \
         fails, as in JMeter without it; line 4, column 1: the protocol is \"ftp\": nothing is sent, \
         and the sample fails, as in JMeter"
    );
}
