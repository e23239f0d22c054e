// Draws the report's charts from the data in the page. Plain script, no network.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const make = (tag, text, parent) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const number = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en", { maximumFractionDigits: digits });
  };
  // Colour and dash together tell series apart, so that neither is needed alone.
  const COLOURS = 8;
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 4], [8, 2, 2, 2]];
  const dashOf = (at) => DASHES[(at + Math.floor(at / COLOURS)) % DASHES.length];
  // A fitted line that does not say what the points beside the answer say is dashed, and named so.
  const DOES_NOT_FIT = [2, 6];
  const curveDash = (chart, at) => (chart.does_not_fit ? DOES_NOT_FIT : dashOf(at));
  const fitWord = (chart) => (chart.does_not_fit ? ", a curve that does not fit" : ", fitted");
  const AXIS_WIDTH = 58;

  // What is drawn now; also for whoever wants to look into a chart from the console.
  const drawn = new Map();
  window.weirReport = { charts: drawn };

  const axes = (xLabel) => {
    const common = {
      stroke: colour("soft"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("line"), width: 1, size: 4 },
    };
    return [
      { ...common, size: 28, label: xLabel, labelSize: 16, labelGap: 0, labelFont: "12px system-ui, sans-serif", space: 44,
        values: (_, marks) => marks.map(number) },
      { ...common, size: AXIS_WIDTH, space: 28, values: (_, marks) => marks.map(number) },
    ];
  };

  const fit = (host, height, id, options, values) => {
    const plot = new uPlot({ ...options, width: room(host), height }, values, host);
    drawn.set(id, { plot, host, height, inks: options.inks });
    return plot;
  };
  const room = (host) => {
    const legendBeside = host.closest(".second") && window.matchMedia("(min-width: 901px)").matches;
    return Math.max(220, host.clientWidth - (legendBeside ? 270 : 0));
  };
  const drop = (id) => {
    const chart = drawn.get(id);
    if (chart) chart.plot.destroy();
    drawn.delete(id);
  };

  // ---- figures against the level ----------------------------------------------------------------

  const MARKS = {
    disc: (to, r) => { to.arc(0, 0, r, 0, 2 * Math.PI); },
    ring: (to, r) => { to.arc(0, 0, r, 0, 2 * Math.PI); },
    square: (to, r) => { to.rect(-r * 0.9, -r * 0.9, 1.8 * r, 1.8 * r); },
    diamond: (to, r) => { to.moveTo(0, -1.35 * r); to.lineTo(1.35 * r, 0); to.lineTo(0, 1.35 * r); to.lineTo(-1.35 * r, 0); to.closePath(); },
    cross: (to, r) => { to.moveTo(-r, -r); to.lineTo(r, r); to.moveTo(r, -r); to.lineTo(-r, r); },
  };

  const mark = (to, shape, x, y, unit, ink, paper) => {
    to.save();
    to.translate(x, y);
    to.setLineDash([]);
    to.beginPath();
    MARKS[shape](to, 4.6 * unit);
    const hollow = shape === "ring" || shape === "cross";
    if (shape === "ring") { to.fillStyle = paper; to.fill(); }
    if (!hollow) { to.lineWidth = 3 * unit; to.strokeStyle = paper; to.stroke(); to.fillStyle = ink; to.fill(); }
    else { to.lineWidth = 2 * unit; to.strokeStyle = ink; to.stroke(); }
    to.restore();
  };

  const whisker = (to, x, low, high, unit, ink) => {
    const cap = 4 * unit;
    to.setLineDash([]);
    to.beginPath();
    to.moveTo(x, low); to.lineTo(x, high);
    to.moveTo(x - cap, low); to.lineTo(x + cap, low);
    to.moveTo(x - cap, high); to.lineTo(x + cap, high);
    to.lineWidth = 1.4 * unit;
    to.strokeStyle = ink;
    to.stroke();
  };

  // An arrow over a mark that stands at the edge: its value lies beyond the axis.
  const above = (to, x, top, unit, ink) => {
    to.setLineDash([]);
    to.beginPath();
    to.moveTo(x - 4 * unit, top + 2 * unit); to.lineTo(x, top - 4 * unit); to.lineTo(x + 4 * unit, top + 2 * unit);
    to.lineWidth = 2 * unit;
    to.strokeStyle = ink;
    to.stroke();
  };

  const label = (to, text, x, y, unit, ink, paper, align) => {
    to.font = `600 ${12 * unit}px system-ui, sans-serif`;
    to.textAlign = align;
    to.textBaseline = "alphabetic";
    to.lineWidth = 4 * unit;
    to.lineJoin = "round";
    to.strokeStyle = paper;
    to.strokeText(text, x, y);
    to.fillStyle = ink;
    to.fillText(text, x, y);
  };

  const drawAnswer = (plot, chart, inks) => {
    if (!chart.answer) return;
    const { ctx: to, bbox } = plot;
    const unit = uPlot.pxRatio;
    const [at, low, high] = chart.answer.map((level) => plot.valToPos(level, "x", true));
    to.save();
    to.fillStyle = inks.shade;
    to.fillRect(low, bbox.top, Math.max(high - low, 1), bbox.height);
    to.beginPath();
    to.setLineDash([5 * unit, 4 * unit]);
    to.lineWidth = 1.5 * unit;
    to.strokeStyle = inks.answer;
    to.moveTo(at, bbox.top); to.lineTo(at, bbox.top + bbox.height);
    to.stroke();
    to.restore();
  };

  const drawPoints = (plot, chart, inks) => {
    const { ctx: to, bbox } = plot;
    const unit = uPlot.pxRatio;
    to.save();
    to.beginPath();
    to.rect(bbox.left - 8 * unit, bbox.top - 8 * unit, bbox.width + 16 * unit, bbox.height + 16 * unit);
    to.clip();
    for (const goal of chart.goals) {
      const y = plot.valToPos(goal.y, "y", true);
      to.beginPath();
      to.setLineDash([2 * unit, 3 * unit]);
      to.lineWidth = 1.5 * unit;
      to.strokeStyle = inks.goal;
      to.moveTo(bbox.left, y); to.lineTo(bbox.left + bbox.width, y);
      to.stroke();
      to.setLineDash([]);
      label(to, goal.says, bbox.left + 6 * unit, y - 6 * unit, unit, inks.goal, inks.paper, "left");
    }
    chart.series.forEach((series, at) => {
      // What may not be used lies on top: it must not hide under what may.
      const ordered = [...series.points].sort((a, b) => (a.shape === "cross") - (b.shape === "cross"));
      for (const point of ordered) {
        const x = plot.valToPos(point.x, "x", true);
        if (point.interval) {
          whisker(to, x, plot.valToPos(point.interval[0], "y", true), plot.valToPos(point.interval[1], "y", true), unit, inks.series[at]);
        }
        const y = plot.valToPos(point.y, "y", true);
        if (y < bbox.top) above(to, x, bbox.top, unit, inks.series[at]);
        mark(to, point.shape, x, Math.max(y, bbox.top + 10 * unit), unit, inks.series[at], inks.paper);
      }
    });
    to.restore();
    if (chart.answer) {
      const x = plot.valToPos(chart.answer[0], "x", true);
      const half = 40 * unit;
      const at = Math.min(Math.max(x, bbox.left + half), bbox.left + bbox.width - half);
      label(to, `answer ${number(chart.answer[0])}`, at, bbox.top - 9 * unit, unit, inks.answer, inks.paper, "center");
    }
  };

  const nearest = (plot, chart) => {
    const { left, top } = plot.cursor;
    let best = null;
    for (const series of chart.series) {
      for (const point of series.points) {
        const y = Math.max(plot.valToPos(point.y, "y"), 10);
        const distance = Math.hypot(plot.valToPos(point.x, "x") - left, y - top);
        if (distance < 24 && (!best || distance < best.distance)) best = { point, distance };
      }
    }
    return best && best.point;
  };

  // A piece of a line as it is drawn.
  const lineKey = (ink, dash) => {
    const key = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    key.setAttribute("class", "line-key");
    key.setAttribute("viewBox", "0 0 34 4");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", "M0 2H34");
    line.setAttribute("stroke", ink);
    line.setAttribute("stroke-dasharray", dash.join(" "));
    key.append(line);
    return key;
  };

  const legendOf = (readout, chart, inks) => {
    readout.replaceChildren();
    chart.series.forEach((series, at) => {
      if (!series.name || (chart.series.length < 2 && !series.curve)) return;
      const entry = make("span", undefined, readout);
      entry.className = "entry";
      entry.append(lineKey(inks.series[at], curveDash(chart, at)));
      make("span", `${series.name}${series.curve && chart.fitted ? fitWord(chart) : ""}`, entry);
    });
  };

  const drawCurves = (chart) => {
    const host = document.getElementById(chart.id);
    const readout = host.parentElement.querySelector(".readout");
    drop(chart.id);
    const inks = {
      series: chart.series.map((_, at) => colour(`c${at % COLOURS}`)),
      answer: colour("answer"), goal: colour("goal"), shade: colour("shade"), paper: colour("paper"),
    };
    const levels = [...new Set(chart.series.flatMap((series) => (series.curve ? series.curve[0] : [])).concat([0, chart.x_max]))].sort((a, b) => a - b);
    const lines = chart.series.map((series) => {
      const at = new Map(series.curve ? series.curve[0].map((x, i) => [x, series.curve[1][i]]) : []);
      return levels.map((x) => (at.has(x) ? at.get(x) : null));
    });
    legendOf(readout, chart, inks);
    fit(host, 290, chart.id, {
      inks: inks.series,
      legend: { show: false },
      padding: [24, 12, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [0, chart.x_max] }, y: { range: [0, chart.y_max] } },
      axes: axes(chart.x_title),
      series: [{}].concat(chart.series.map((series, at) => ({
        label: series.name, stroke: inks.series[at], width: 2, dash: curveDash(chart, at), spanGaps: true, pxAlign: 0, points: { show: false },
      }))),
      hooks: {
        drawClear: [(plot) => drawAnswer(plot, chart, inks)],
        draw: [(plot) => drawPoints(plot, chart, inks)],
        setCursor: [(plot) => {
          const point = nearest(plot, chart);
          if (point) { readout.replaceChildren(); make("b", point.says, readout); }
          else legendOf(readout, chart, inks);
        }],
      },
    }, [levels, ...lines]);
  };

  // ---- the seconds of a trial -------------------------------------------------------------------

  const drawOutside = (plot, trial, shade, line) => {
    const { ctx: to, bbox } = plot;
    const unit = uPlot.pxRatio;
    const right = bbox.left + bbox.width;
    const clamp = (x) => Math.min(Math.max(x, bbox.left), right);
    const from = clamp(plot.valToPos(trial.window[0] + 0.5, "x", true));
    const until = clamp(plot.valToPos(trial.window[1] + 0.5, "x", true));
    to.save();
    to.fillStyle = shade;
    to.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
    to.fillRect(until, bbox.top, right - until, bbox.height);
    to.strokeStyle = line;
    to.lineWidth = 1.2 * unit;
    for (const second of trial.missed) {
      const left = clamp(plot.valToPos(second + 0.5, "x", true));
      const end = clamp(plot.valToPos(second + 1.5, "x", true));
      const foot = bbox.top + bbox.height;
      to.save();
      to.beginPath();
      to.rect(left, foot - 9 * unit, end - left, 9 * unit);
      to.clip();
      to.beginPath();
      for (let x = left - 9 * unit; x < end; x += 4 * unit) { to.moveTo(x, foot); to.lineTo(x + 9 * unit, foot - 9 * unit); }
      to.stroke();
      to.restore();
    }
    to.restore();
  };

  // A reading between two gaps has no line: only such readings get a dot.
  const alone = (plot, at, show, gaps) => {
    if (show || !gaps || gaps.length < 1) return null;
    const values = plot.data[at];
    const found = [];
    values.forEach((value, i) => {
      if (value !== null && (i === 0 || values[i - 1] === null) && (i === values.length - 1 || values[i + 1] === null)) found.push(i);
    });
    return found;
  };

  // Limits far above the readings would flatten them; the legend has their value anyway.
  const topOf = (chart, present, trial) => {
    if (chart.top !== null) return chart.top;
    const highest = (wanted) => present.filter((series) => series.limit === wanted)
      .flatMap((series) => trial.signals[series.signal])
      .reduce((most, value) => Math.max(most, value === null ? 0 : value), 0);
    const read = highest(false);
    const limit = highest(true);
    const most = limit > 0 && limit <= Math.max(2.5 * read, 4) ? Math.max(read, limit) : read;
    return most > 0 ? most * 1.1 : 1;
  };

  // Percentiles must not be averaged: of such series the lowest and the highest second are shown.
  const overWindow = (series, trial, unit) => {
    const values = trial.signals[series.signal].slice(trial.window[0], trial.window[1]).filter((value) => value !== null);
    if (!values.length) return "–";
    if (series.statistic) return `${number(Math.min(...values))} to ${number(Math.max(...values))}${unit}`;
    return `${number(values.reduce((sum, value) => sum + value, 0) / values.length)}${unit}`;
  };
  const styleOf = (dash) => (!dash || !dash.length ? "solid" : dash[0] < 4 ? "dotted" : "dashed");

  const sentence = (chart, present, trial) => {
    const parts = present.map((series) => {
      const values = trial.signals[series.signal].filter((value) => value !== null);
      return `${series.label} ${number(Math.min(...values))} to ${number(Math.max(...values))}`;
    });
    return `${chart.title}${chart.unit ? ` in ${chart.unit}` : ""} over ${trial.seconds} seconds: ${parts.join("; ")}`;
  };

  const drawSeconds = (chart, trial) => {
    const id = `second-${chart.id}`;
    const host = document.getElementById(id);
    drop(id);
    host.replaceChildren();
    const present = chart.series.filter((series) => trial.signals[series.signal]);
    const caption = host.parentElement.querySelector("h3");
    caption.replaceChildren(chart.title);
    if (chart.unit) { const unit = make("span", ` ${chart.unit}`, caption); unit.className = "muted"; }
    caption.nextElementSibling.textContent = chart.zero.length ? `0 throughout: ${chart.zero.join(", ")}` : "";
    if (!present.length) {
      host.setAttribute("aria-label", `${chart.title}: nothing to draw`);
      make("p", chart.series.length ? "Not read in this trial." : "Nothing to draw.", host).className = "empty";
      return;
    }
    host.setAttribute("aria-label", sentence(chart, present, trial));
    const place = (series) => chart.series.indexOf(series);
    const inks = present.map((series) => colour(`c${place(series) % 8}`));
    const seconds = Array.from({ length: trial.seconds }, (_, at) => at + 1);
    const top = topOf(chart, present, trial);
    fit(host, 150, id, {
      inks,
      padding: [8, 8, 0, 0],
      cursor: { y: false, sync: { key: "seconds" }, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: [0, top] } },
      axes: axes(),
      legend: { live: true, markers: { width: 2, dash: (plot, at) => styleOf(plot.series[at].dash) } },
      series: [{ label: "second", value: (_, at) => (at === null ? "over the window" : `second ${at}`) }].concat(present.map((series, at) => ({
        label: series.label,
        stroke: inks[at],
        width: series.limit ? 1.2 : 1.8,
        dash: series.limit ? [3, 3] : DASHES[place(series) % DASHES.length],
        value: (_, value, __, idx) => {
          const unit = chart.unit ? ` ${chart.unit}` : "";
          if (idx === null) return overWindow(series, trial, unit);
          return value === null || value === undefined ? "–" : `${number(value)}${unit}`;
        },
        points: { show: false, filter: alone, size: 5 },
      }))),
      hooks: { drawClear: [(plot) => drawOutside(plot, trial, colour("shade"), colour("bad"))] },
    }, [seconds, ...present.map((series) => trial.signals[series.signal])]);
  };

  const tableOfSeconds = (trial) => {
    const host = document.querySelector("#seconds-data > div");
    const columns = data.seconds.charts.flatMap((chart) => chart.series
      .filter((series) => trial.signals[series.signal])
      .map((series) => ({ head: `${chart.title}: ${series.label}${chart.unit ? ` (${chart.unit})` : ""}`, values: trial.signals[series.signal] })));
    const table = document.createElement("table");
    const head = make("tr", undefined, make("thead", undefined, table));
    for (const text of ["Second", "Watched", ...columns.map((column) => column.head)]) {
      make("th", text, head).scope = "col";
    }
    const body = make("tbody", undefined, table);
    const missed = new Set(trial.missed);
    for (let second = 0; second < trial.seconds; second += 1) {
      const row = make("tr", undefined, body);
      make("th", second + 1, row).scope = "row";
      const counted = second >= trial.window[0] && second < trial.window[1];
      make("td", missed.has(second) ? "missed" : counted ? "counted" : "not counted", row);
      for (const column of columns) make("td", number(column.values[second]), row).className = "number";
    }
    host.replaceChildren(table);
  };

  const choice = document.getElementById("trial");
  const chosen = () => data.seconds.trials.find((trial) => String(trial.id) === choice.value);
  const details = document.getElementById("seconds-data");
  const showTrial = () => {
    const trial = choice && chosen();
    if (!trial) return;
    for (const chart of data.seconds.charts) drawSeconds(chart, trial);
    if (details.open) tableOfSeconds(trial);
  };

  // ---- wiring -----------------------------------------------------------------------------------

  const drawAll = () => {
    data.curves.forEach(drawCurves);
    showTrial();
  };
  if (choice) {
    for (const link of document.querySelectorAll("[data-trial]")) {
      link.addEventListener("click", () => { choice.value = link.dataset.trial; showTrial(); });
    }
    choice.addEventListener("change", showTrial);
    details.addEventListener("toggle", () => { if (details.open && chosen()) tableOfSeconds(chosen()); });
  }
  drawAll();

  let asked = false;
  const resize = () => {
    asked = false;
    for (const { plot, host, height } of drawn.values()) {
      const width = room(host);
      if (plot.width !== width) plot.setSize({ width, height });
    }
  };
  new ResizeObserver(() => {
    if (!asked) { asked = true; requestAnimationFrame(resize); }
  }).observe(document.querySelector("main"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is white whatever the screen is.
  window.addEventListener("beforeprint", () => { root.dataset.paper = ""; drawAll(); });
  window.addEventListener("afterprint", () => { delete root.dataset.paper; drawAll(); });
})();
