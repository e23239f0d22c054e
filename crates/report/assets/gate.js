// Asks the gateway once a second how it stands, and draws what came of the last five minutes.
(() => {
  "use strict";
  const KEPT = 300;
  // Response times are those of the answers of so many seconds.
  const LATE_S = 10;
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const at = (id) => document.getElementById(id);
  const number = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return value.toLocaleString("en", { maximumFractionDigits: digits });
  };
  const refusedTotal = (standing) => Object.values(standing.refused).reduce((sum, count) => sum + count, 0);

  // Readings: { at: seconds since 1970, all: standing, classes: Map of name to standing }.
  const readings = [];
  const standingOf = (reading, name) => (name ? reading.classes.get(name) : reading.all);

  // What happened between two readings, per second; null where one of them is missing.
  const between = (before, after, name) => {
    const [from, to] = [before && standingOf(before, name), standingOf(after, name)];
    const seconds = before ? after.uptime - before.uptime : 0;
    // A gateway that was started again counts from 0.
    if (!from || !to || seconds <= 0 || to.offered < from.offered) {
      return { offered: null, admitted: null, refused: null, wait: null };
    }
    const waited = to.waited - from.waited;
    return {
      offered: (to.offered - from.offered) / seconds,
      admitted: (to.admitted - from.admitted) / seconds,
      refused: (refusedTotal(to) - refusedTotal(from)) / seconds,
      wait: waited > 0 ? ((to.wait_s - from.wait_s) / waited) * 1000 : null,
    };
  };

  // What `of` has of each class, and under "" of all together, counts added one by one.
  const counted = (classes, of) => {
    const each = new Map(classes.map((found) => [found.name, of(found)]));
    const all = [...each.values()];
    const add = (sum, counts) => sum.map((count, index) => count + counts[index]);
    return all.length > 0 ? each.set("", all.reduce(add)) : each;
  };
  // The response time that this share keeps, in milliseconds, as Prometheus' histogram_quantile has
  // it: evenly spread within a bucket. Beyond the last bound nothing is known but that.
  const quantile = (bounds, counts, share) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total <= 0) return null;
    let [below, from] = [0, 0];
    for (const [index, count] of counts.entries()) {
      const bound = bounds[index];
      if (bound === null) return from * 1000;
      if (count > 0 && below + count >= share * total) {
        return (from + (bound - from) * ((share * total - below) / count)) * 1000;
      }
      below += count;
      from = bound;
    }
    return null;
  };
  // Of the answers between two readings.
  const late = (before, after, name) => {
    const [from, to] = [before?.buckets.get(name), after.buckets.get(name)];
    if (!from || !to || to.length !== from.length || after.uptime <= before.uptime) return {};
    const counts = to.map((count, index) => Math.max(0, count - from[index]));
    return { p50: quantile(after.bounds, counts, 0.5), p99: quantile(after.bounds, counts, 0.99) };
  };
  // Answers a second by the first digit of their status.
  const KINDS = ["2xx", "3xx", "4xx", "5xx"];
  const byKind = (codes) => KINDS.map((kind) => Object.entries(codes)
    .filter(([code]) => code[0] === kind[0])
    .reduce((sum, [, times]) => sum + times, 0));
  const answered = (before, after, name) => {
    const [from, to] = [before?.codes.get(name), after.codes.get(name)];
    const seconds = before ? after.uptime - before.uptime : 0;
    return KINDS.map((_, kind) => {
      const more = from && to && seconds > 0 ? to[kind] - from[kind] : -1;
      return more < 0 ? null : more / seconds;
    });
  };

  const axes = () => {
    const common = {
      stroke: colour("soft"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("line"), width: 1, size: 4 },
    };
    // Room for the date below the time; readings are a second apart.
    const across = { size: 40, space: 64, incrs: [1, 5, 10, 30, 60] };
    return [{ ...common, ...across }, { ...common, size: 58, values: (_, marks) => marks.map(number) }];
  };
  // Colour and dash together tell series apart, so that neither is needed alone.
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
  const chart = (id, labels) => {
    const host = at(id);
    const series = labels.map((label, index) => ({
      label,
      stroke: colour(`c${index}`),
      width: 2,
      dash: DASHES[index],
      points: { show: false },
      value: (_, value) => number(value),
    }));
    const room = () => Math.max(220, host.clientWidth - (window.matchMedia("(min-width: 901px)").matches ? 270 : 0));
    const options = {
      width: room(),
      height: 170,
      scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
      series: [{}, ...series],
      axes: axes(),
    };
    const plot = new uPlot(options, [[], ...labels.map(() => [])], host);
    new ResizeObserver(() => plot.setSize({ width: room(), height: 170 })).observe(host);
    return plot;
  };
  const charts = {
    rates: chart("chart-rates", ["offered", "admitted", "refused"]),
    places: chart("chart-places", ["in flight", "waiting", "limit"]),
    times: chart("chart-times", ["p50", "p99"]),
    codes: chart("chart-codes", KINDS),
    wait: chart("chart-wait", ["wait"]),
    cpu: chart("chart-cpu", ["busy", "goal"]),
  };
  window.weirGate = { charts, readings };

  const draw = () => {
    const name = at("class").value;
    const times = readings.map((reading) => reading.at);
    const flows = readings.map((reading, index) => between(readings[index - 1], reading, name));
    const standing = (pick) => readings.map((reading) => {
      const found = standingOf(reading, name);
      return found ? pick(found) ?? null : null;
    });
    charts.rates.setData([times, ...["offered", "admitted", "refused"].map((key) => flows.map((flow) => flow[key]))]);
    charts.places.setData([times, standing((s) => s.in_flight), standing((s) => s.queued), standing((s) => s.limit)]);
    const lates = readings.map((reading) => reading.late.get(name) ?? {});
    charts.times.setData([times, ...["p50", "p99"].map((key) => lates.map((late) => late[key] ?? null))]);
    const codes = readings.map((reading, index) => answered(readings[index - 1], reading, name));
    charts.codes.setData([times, ...KINDS.map((_, kind) => codes.map((answers) => answers[kind]))]);
    charts.wait.setData([times, flows.map((flow) => flow.wait)]);
    const cpu = (pick) => readings.map(({ cpu }) => (cpu && pick(cpu) !== undefined ? pick(cpu) * 100 : null));
    charts.cpu.setData([times, cpu((c) => c.busy), cpu((c) => c.goal)]);
    // Where nobody points at a chart, its legend has the values of now.
    for (const plot of Object.values(charts)) {
      if (!(plot.cursor.left >= 0)) plot.setLegend({ idx: times.length - 1 });
    }
  };

  const row = (body, cells) => {
    const line = document.createElement("tr");
    cells.forEach((text, index) => {
      const cell = document.createElement(index === 0 ? "th" : "td");
      if (index === 0) cell.scope = "row";
      cell.textContent = text;
      if (index > 0 && /^[–\d.,]+$/.test(text)) cell.className = "number";
      line.append(cell);
    });
    body.append(line);
  };
  const whys = (standing) => Object.entries(standing.refused)
    .filter(([, count]) => count > 0)
    .map(([why, count]) => `${why.replaceAll("_", " ")} ${number(count)}`)
    .join(", ");
  const tables = (status) => {
    const [before, now] = readings.slice(-2).length === 2 ? readings.slice(-2) : [undefined, readings.at(-1)];
    const classes = at("class-rows");
    classes.replaceChildren();
    const line = (name, key, standing) => {
      const flow = between(before, now, key);
      const times = now.late.get(key) ?? {};
      row(classes, [name, number(flow.offered), number(flow.admitted), number(flow.refused), number(standing.in_flight),
        number(standing.limit), number(standing.queued), number(flow.wait), number(times.p50), number(times.p99),
        number(refusedTotal(standing)), whys(standing)]);
    };
    line("all", "", status.all);
    for (const { name, standing } of status.classes) line(name, name, standing);
    const backends = at("backend-rows");
    backends.replaceChildren();
    for (const backend of status.backends) {
      row(backends, [backend.url, backend.ejected ? "ejected" : backend.up ? "up" : "down", number(backend.in_flight), number(backend.requests),
        number(backend.failed), number(backend.connections)]);
    }
    const choice = at("class");
    const known = [...choice.options].map((option) => option.value);
    for (const { name } of status.classes) {
      if (!known.includes(name)) choice.append(new Option(name, name));
    }
  };
  // Where it is read, or why it is not; nothing where there is no place to read it.
  const cpuLine = (cpu) => {
    const share = cpu.busy === undefined ? "not read" : `${number(cpu.busy * 100)} %`;
    return `${share}${cpu.goal === undefined ? "" : `, goal ${number(cpu.goal * 100)} %`}; ${cpu.not_read ?? cpu.from ?? "looking for it"}`;
  };
  const headline = (status) => {
    const flow = between(readings.at(-2), readings.at(-1), "");
    at("headline").textContent = status.draining
      ? "Draining: no more requests are taken"
      : `${number(flow.admitted)} requests/s admitted of ${number(flow.offered)} offered`;
    const limits = [
      status.rate_per_s === undefined ? "" : `rate cap ${number(status.rate_per_s)}/s`,
      status.all.limit === undefined ? "" : `concurrency limit ${number(status.all.limit)}`,
    ].filter(Boolean).join(", ") || "no limit";
    at("lead").textContent =
      `${limits}; ${number(status.all.in_flight)} in flight, ${number(status.all.queued)} waiting; ${number(status.connections.open)} connections`
      + (status.cpu ? `; CPU of the backends ${cpuLine(status.cpu)}` : "");
    at("figure-cpu").hidden = !status.cpu;
    at("cpu-from").textContent = status.cpu ? cpuLine(status.cpu) : "";
  };

  // The token lives as long as the page's tab, and in no address.
  const KEY = "weir-gateway-token";
  let token = sessionStorage.getItem(KEY);
  at("ask-token").addEventListener("submit", (event) => {
    event.preventDefault();
    token = at("token").value;
    at("token").value = "";
    sessionStorage.setItem(KEY, token);
    at("ask-token").hidden = true;
  });

  const ask = async () => {
    try {
      const headers = token ? { Authorization: `Bearer ${token}` } : {};
      const response = await fetch("status", { cache: "no-store", headers });
      if (response.status === 401) at("ask-token").hidden = false;
      if (!response.ok) throw new Error(`the gateway answers ${response.status}`);
      const status = await response.json();
      // Right after a reload a class may have no times yet.
      const timed = status.classes.filter(({ times }) => times);
      const reading = {
        at: Date.now() / 1000,
        uptime: status.uptime_s,
        all: status.all,
        cpu: status.cpu,
        classes: new Map(status.classes.map(({ name, standing }) => [name, standing])),
        bounds: timed[0]?.times.response.buckets.map(([bound]) => bound),
        buckets: counted(timed, ({ times }) => times.response.buckets.map(([, count]) => count)),
        codes: counted(status.classes, ({ codes }) => byKind(codes)),
      };
      // The oldest of the last seconds; before that, buckets are of no use any more.
      const earlier = readings.slice(-LATE_S);
      reading.late = new Map(["", ...reading.classes.keys()].map((name) => [name, late(earlier[0], reading, name)]));
      readings.push(reading);
      if (readings.length > LATE_S) readings.at(-LATE_S - 1).buckets = new Map();
      if (readings.length > KEPT) readings.shift();
      headline(status);
      tables(status);
      draw();
    } catch (error) {
      at("lead").textContent = `The gateway cannot be read: ${error.message}`;
    }
    setTimeout(ask, 1000);
  };
  at("class").addEventListener("change", draw);
  ask();
})();
