// JMeter's objects for scripts in JavaScript: plain objects over a copy of what they show.
var weirChanges, weirBegin = function (facts) {
  var changes = { variables: [], properties: [], log: [], failure: false, error: false };
  var text = function (value) { return value === null || value === undefined ? null : String(value); };
  var own = function (of, name) { return Object.prototype.hasOwnProperty.call(of, name) ? of[name] : null; };

  globalThis.vars = {
    get: function (name) { return own(facts.variables, name); },
    getObject: function (name) { return own(facts.variables, name); },
    put: function (name, value) {
      facts.variables[name] = text(value);
      changes.variables.push([String(name), text(value)]);
    },
    putObject: function (name, value) { this.put(name, value); },
    remove: function (name) {
      var old = own(facts.variables, name);
      delete facts.variables[name];
      changes.variables.push([String(name), null]);
      return old;
    }
  };

  var property = function (name, otherwise) {
    var found = own(facts.properties, name);
    return found === null && otherwise !== undefined ? otherwise : found;
  };
  var setProperty = function (name, value) {
    var old = own(facts.properties, name);
    facts.properties[name] = String(value);
    changes.properties.push([String(name), String(value)]);
    return old;
  };
  globalThis.props = {
    get: property, getProperty: property, put: setProperty, setProperty: setProperty,
    containsKey: function (name) { return own(facts.properties, name) !== null; }
  };

  var logs = function (level) {
    return function () { changes.log.push([level, Array.prototype.map.call(arguments, String).join(" ")]); };
  };
  globalThis.log = { info: logs("INFO"), warn: logs("WARN"), error: logs("ERROR"), debug: logs("DEBUG"), trace: logs("TRACE") };
  globalThis.OUT = { println: logs("OUT"), print: logs("OUT") };
  globalThis.print = logs("OUT");

  var sample = function (of, place) {
    if (!of) { return null; }
    var set = function (field) {
      return function (value) {
        changes[place] = changes[place] || {};
        of[field] = value;
        changes[place][field] = field === "success" ? value === true || value === "true" : String(value);
      };
    };
    var get = function (field) { return function () { return of[field]; }; };
    return {
      getResponseCode: get("code"), setResponseCode: set("code"),
      getResponseMessage: get("message"), setResponseMessage: set("message"),
      getResponseDataAsString: get("body"), setResponseData: set("body"),
      getSampleLabel: get("label"), setSampleLabel: set("label"),
      getSamplerData: get("data"), setSamplerData: set("data"),
      isSuccessful: get("success"), setSuccessful: set("success"),
      getResponseHeaders: get("responseHeaders"), getRequestHeaders: get("requestHeaders"),
      getUrlAsString: get("url"), getThreadName: get("threadName"),
      getTime: get("time"), getLatency: get("latency"), getStartTime: get("startTime"),
      getBytesAsLong: get("bytes")
    };
  };
  globalThis.prev = sample(facts.previous, "previous");
  globalThis.SampleResult = facts.own ? sample(facts.own, "own") : globalThis.prev;
  globalThis.sampleResult = globalThis.SampleResult;
  if (facts.isAssertion) {
    globalThis.AssertionResult = {
      setFailure: function (value) { changes.failure = value === true; },
      setError: function (value) { changes.error = value === true; },
      setFailureMessage: function (value) { changes.failureMessage = String(value); },
      isFailure: function () { return changes.failure; }
    };
  }

  globalThis.Label = facts.label;
  globalThis.FileName = facts.fileName;
  globalThis.Parameters = facts.parameters;
  globalThis.args = facts.parameters.split(" ").filter(function (part) { return part !== ""; });
  globalThis.threadName = facts.threadName;
  globalThis.sampler = null;
  globalThis.ctx = {
    getThreadNum: function () { return facts.user - 1; },
    getVariables: function () { return globalThis.vars; },
    getProperties: function () { return globalThis.props; },
    getPreviousResult: function () { return globalThis.prev; }
  };

  // Seeded by the run, so that the same seed gives the same numbers: mulberry32.
  var state = facts.seed | 0;
  Math.random = function () {
    state = (state + 0x6D2B79F5) | 0;
    var mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  weirChanges = function () { return changes; };
};
