//! What of a plan the engine runs: one row for each element, one for each feature of an element.
//!
//! `weir check` must not promise more than `weir run` does, so this is the only place that says
//! it. A row turns to [`Runs::Natively`] when the engine does with the element what JMeter does.

use Kind::{
    After, Assertion, Before, Config, Controller, Fragment, Group, Iteration, Listener, Nowhere,
    Plan, Sampler, Timer, Variables,
};
use Runs::{InVain, Natively, Never, Unheard};

/// What an element is for: where the reader takes it, and what is lost without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The root.
    Plan,
    /// Users.
    Group,
    /// Steps that only others run.
    Fragment,
    /// Decides which steps run.
    Controller,
    /// A step.
    Sampler,
    /// Settings for samplers in scope.
    Config,
    /// Advances with the iterations of the controller above it.
    Iteration,
    /// User-defined variables.
    Variables,
    /// Pauses.
    Timer,
    /// Runs before samplers.
    Before,
    /// Runs after samplers.
    After,
    /// Judges samples.
    Assertion,
    /// Is told about samples.
    Listener,
    /// Belongs nowhere in a running test.
    Nowhere,
}

impl Kind {
    /// What does not happen when such an element is left out.
    pub(crate) fn lost(self) -> &'static str {
        match self {
            Plan => "the test would not be run",
            Group => "its users would not start",
            Fragment => "its steps would be missing",
            Controller => "the steps below it would not run when and as often as it says",
            Sampler => "this step would not be done",
            Config => "the samplers in its scope would not have its settings",
            Iteration | Variables => "its variables would be missing",
            Timer => "users would not wait as it says",
            Before => "what it prepares for the requests in its scope would be missing",
            After => "what it does with the responses in its scope would be missing",
            Assertion => "failures that it finds would count as successes",
            Listener => "what it does with the samples would be missing",
            Nowhere => "what it does would be missing",
        }
    }
}

/// Whether the engine runs something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// As JMeter does.
    Natively,
    /// Not an element that Weir runs; with what to do instead.
    Never(&'static str),
    /// It only watches: the load is the same without it. With what does not happen.
    Unheard(&'static str),
    /// It has no effect on a run without windows. With the reason.
    InVain(&'static str),
}

/// What Weir knows about an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// What it is for.
    pub(crate) kind: Kind,
    /// Whether the engine runs it.
    pub(crate) runs: Runs,
}

/// What to do about most things that are not run natively.
pub(crate) const ELSEWHERE: &str = "run the plan with --engine jmeter, or remove or disable it";

const OTHER_PROTOCOL: &str =
    "Weir sends HTTP only: run the plan with --engine jmeter, or disable it";
const NO_SUCH_SAMPLER: &str = "no sampler that Weir runs uses it";
const NOT_WRITTEN: &str = "its file is not written; take the result file (-l) instead";
const NOT_WATCHED: &str = "what it watches is not watched; weir has its own view of the server";
const NOTHING_SENT: &str = "nothing is sent to it";
const OF_OLD: &str = "JMeter 5.6.3 no longer has such an element, and does nothing in its place";
const WINDOW: &str = "it only shows something in JMeter's window";

/// The element of this class, if Weir knows it.
pub(crate) fn element(class: &str) -> Option<Known> {
    let (_, kind, runs) = ELEMENTS.iter().find(|(known, _, _)| *known == class)?;
    Some(Known {
        kind: *kind,
        runs: *runs,
    })
}

/// Whether the engine runs elements of this class.
pub(crate) fn runs(class: &str) -> bool {
    element(class).is_some_and(|known| known.runs == Natively)
}

#[rustfmt::skip]
const ELEMENTS: &[(&str, Kind, Runs)] = &[
    ("TestPlan", Plan, Natively),
    ("WorkBench", Nowhere, InVain("JMeter does not run it either")),

    ("ThreadGroup", Group, Natively),
    ("SetupThreadGroup", Group, Natively),
    ("PostThreadGroup", Group, Natively),
    ("OpenModelThreadGroup", Group, Natively),
    ("kg.apc.jmeter.threads.UltimateThreadGroup", Group, Natively),
    ("kg.apc.jmeter.threads.SteppingThreadGroup", Group, Natively),
    ("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", Group, Natively),
    ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", Group, Natively),
    ("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", Group, Natively),
    ("TestFragmentController", Fragment, Natively),

    ("GenericController", Controller, Natively),
    ("RecordingController", Controller, Natively),
    ("LoopController", Controller, Natively),
    ("WhileController", Controller, Natively),
    ("IfController", Controller, Natively),
    ("ForeachController", Controller, Natively),
    ("SwitchController", Controller, Natively),
    ("OnceOnlyController", Controller, Natively),
    ("InterleaveControl", Controller, Natively),
    ("RandomController", Controller, Natively),
    ("RandomOrderController", Controller, Natively),
    ("ThroughputController", Controller, Natively),
    ("RunTime", Controller, Natively),
    ("TransactionController", Controller, Natively),
    ("CriticalSectionController", Controller, Natively),
    ("ModuleController", Controller, Natively),
    ("IncludeController", Controller, Natively),
    ("com.blazemeter.jmeter.controller.ParallelSampler", Controller, Natively),
    ("com.blazemeter.jmeter.control.WeightedSwitchController", Controller, Never(ELSEWHERE)),
    ("kg.apc.jmeter.control.ParameterizedController", Controller, Natively),

    ("HTTPSamplerProxy", Sampler, Natively),
    ("TestAction", Sampler, Natively),
    ("DebugSampler", Sampler, Natively),
    ("JavaSampler", Sampler, Natively),
    ("kg.apc.jmeter.samplers.DummySampler", Sampler, Natively),
    ("kg.apc.jmeter.control.sampler.SetVariablesAction", Sampler, Natively),
    ("JSR223Sampler", Sampler, Natively),
    ("BeanShellSampler", Sampler, Natively),
    ("BSFSampler", Sampler, Natively),
    ("AccessLogSampler", Sampler, Never(ELSEWHERE)),
    ("AjpSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("BoltSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("FTPSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("JDBCSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("JMSSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("JUnitSampler", Sampler, Never(ELSEWHERE)),
    ("LDAPExtSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("LDAPSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("MailReaderSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("MongoScriptSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("PublisherSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("SmtpSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("SubscriberSampler", Sampler, Never(OTHER_PROTOCOL)),
    ("SystemSampler", Sampler, Never("Weir starts no programs for a plan: run it with --engine jmeter, or disable it")),
    ("TCPSampler", Sampler, Never(OTHER_PROTOCOL)),

    ("ConfigTestElement", Config, Natively),
    ("HeaderManager", Config, Natively),
    ("CookieManager", Config, Natively),
    ("CacheManager", Config, Natively),
    ("AuthManager", Config, Natively),
    ("DNSCacheManager", Config, Natively),
    ("KeystoreConfig", Config, Never("Weir sends no client certificates: run the plan with --engine jmeter, or disable it")),
    ("JavaConfig", Config, Never("write its values into the Java requests, or run the plan with --engine jmeter")),
    ("LoginConfig", Config, InVain(NO_SUCH_SAMPLER)),
    ("JDBCDataSource", Config, InVain(NO_SUCH_SAMPLER)),
    ("BoltConnectionElement", Config, InVain(NO_SUCH_SAMPLER)),
    ("MongoSourceElement", Config, InVain(NO_SUCH_SAMPLER)),

    ("SoapSampler", Config, InVain(OF_OLD)),
    ("WebServiceSampler", Config, InVain(OF_OLD)),
    ("UserParameterModifier", Config, InVain(OF_OLD)),
    ("ParamModifier", Config, InVain(OF_OLD)),

    ("Arguments", Variables, Natively),
    ("kg.apc.jmeter.config.VariablesFromCSVFile", Variables, Never("write its variables into a User Defined Variables element, or run the plan with --engine jmeter")),
    ("kg.apc.jmeter.config.VariablesFromCSV", Variables, Never("write its variables into a User Defined Variables element, or run the plan with --engine jmeter")),
    ("CSVDataSet", Iteration, Natively),
    ("CounterConfig", Iteration, Natively),
    ("RandomVariableConfig", Iteration, Natively),
    ("UserParameters", Iteration, Natively),

    ("ConstantTimer", Timer, Natively),
    ("UniformRandomTimer", Timer, Natively),
    ("GaussianRandomTimer", Timer, Natively),
    ("PoissonRandomTimer", Timer, Natively),
    ("ConstantThroughputTimer", Timer, Natively),
    ("PreciseThroughputTimer", Timer, Natively),
    ("SyncTimer", Timer, Natively),
    ("kg.apc.jmeter.timers.VariableThroughputTimer", Timer, Natively),
    ("JSR223Timer", Timer, Natively),
    ("BeanShellTimer", Timer, Natively),
    ("BSFTimer", Timer, Natively),

    ("JSR223PreProcessor", Before, Natively),
    ("BeanShellPreProcessor", Before, Natively),
    ("BSFPreProcessor", Before, Natively),
    ("AnchorModifier", Before, Natively),
    ("URLRewritingModifier", Before, Natively),
    ("RegExUserParameters", Before, Natively),
    ("SampleTimeout", Before, Never("set the request's own time-outs, or run the plan with --engine jmeter")),
    ("JDBCPreProcessor", Before, Never(OTHER_PROTOCOL)),

    ("RegexExtractor", After, Natively),
    ("BoundaryExtractor", After, Natively),
    ("JSONPostProcessor", After, Natively),
    ("JMESPathExtractor", After, Natively),
    ("HtmlExtractor", After, Natively),
    ("XPathExtractor", After, Natively),
    ("XPath2Extractor", After, Natively),
    ("ResultAction", After, Natively),
    ("DebugPostProcessor", After, Natively),
    ("JSR223PostProcessor", After, Natively),
    ("BeanShellPostProcessor", After, Natively),
    ("BSFPostProcessor", After, Natively),
    ("com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor", After, Natively),
    ("JDBCPostProcessor", After, Never(OTHER_PROTOCOL)),

    ("ResponseAssertion", Assertion, Natively),
    ("DurationAssertion", Assertion, Natively),
    ("SizeAssertion", Assertion, Natively),
    ("JSONPathAssertion", Assertion, Natively),
    ("JMESPathAssertion", Assertion, Natively),
    ("XPathAssertion", Assertion, Natively),
    ("XPath2Assertion", Assertion, Natively),
    ("XMLAssertion", Assertion, Natively),
    ("MD5HexAssertion", Assertion, Natively),
    ("JSR223Assertion", Assertion, Natively),
    ("BeanShellAssertion", Assertion, Natively),
    ("BSFAssertion", Assertion, Natively),
    ("com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion", Assertion, Natively),
    ("CompareAssertion", Assertion, Never(ELSEWHERE)),
    ("HTMLAssertion", Assertion, Never(ELSEWHERE)),
    ("SMIMEAssertion", Assertion, Never(ELSEWHERE)),
    ("XMLSchemaAssertion", Assertion, Never(ELSEWHERE)),

    ("ResultCollector", Listener, Natively),
    ("kg.apc.jmeter.vizualizers.CorrectedResultCollector", Listener, Unheard(NOT_WRITTEN)),
    ("Summariser", Listener, InVain("Weir always writes a summary")),
    ("BackendListener", Listener, Natively),
    ("MailerResultCollector", Listener, Unheard("no mail is sent")),
    ("ResultSaver", Listener, Unheard("no responses are saved")),
    ("JSR223Listener", Listener, Natively),
    ("BeanShellListener", Listener, Natively),
    ("BSFListener", Listener, Natively),
    ("kg.apc.jmeter.reporters.AutoStop", Listener, Natively),
    ("kg.apc.jmeter.reporters.ConsoleStatusLogger", Listener, InVain("Weir has its own live view")),
    ("kg.apc.jmeter.reporters.FlexibleFileWriter", Listener, Unheard(NOT_WRITTEN)),
    ("kg.apc.jmeter.reporters.LoadosophiaUploader", Listener, Unheard(NOTHING_SENT)),
    ("kg.apc.jmeter.listener.GraphsGeneratorListener", Listener, Unheard("its graphs are not drawn")),
    ("kg.apc.jmeter.vizualizers.CompositeResultCollector", Listener, InVain(WINDOW)),
    ("kg.apc.jmeter.perfmon.PerfMonCollector", Listener, Unheard(NOT_WATCHED)),
    ("kg.apc.jmeter.dbmon.DbMonCollector", Listener, Unheard(NOT_WATCHED)),
    ("kg.apc.jmeter.jmxmon.JMXMonCollector", Listener, Unheard(NOT_WATCHED)),

    ("ProxyControl", Nowhere, InVain("JMeter does not run it in a test either")),
    ("HttpMirrorControl", Nowhere, InVain("JMeter does not run it in a test either")),
    ("org.jmeterplugins.protocol.http.control.HttpSimpleTableControl", Nowhere, InVain("JMeter does not run it in a test either")),
    ("PropertyControlGui", Nowhere, InVain(WINDOW)),
];

/// Something that an element may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    /// `HTTPSampler.proxyHost`.
    Proxy,
    /// `HTTPSampler.md5`.
    Md5,
    /// Conditions in JavaScript.
    JavaScript,
}

/// Whether the engine does it.
pub(crate) fn does(feature: Feature) -> bool {
    match feature {
        Feature::JavaScript | Feature::Proxy => true,
        Feature::Md5 => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_stands_once() {
        for (index, (class, _, _)) in ELEMENTS.iter().enumerate() {
            let twice = ELEMENTS[index + 1..]
                .iter()
                .any(|(other, _, _)| other == class);
            assert!(!twice, "{class}");
        }
    }
}
