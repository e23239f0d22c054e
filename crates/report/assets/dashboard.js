// Draws the dashboard's charts from the data in the page. Plain script, no network.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const number = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en", { maximumFractionDigits: digits });
  };
  // Colour and dash together tell series apart, so that neither is needed alone.
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 4], [8, 2, 2, 2]];
  const HEIGHT = 240;
  const FONT = "12px system-ui, sans-serif";

  // What is drawn now; also for whoever wants to look into a chart from the console.
  const drawn = new Map();
  window.weirDashboard = { charts: drawn };

  const axes = (chart) => {
    const common = {
      stroke: colour("soft"), font: FONT,
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("line"), width: 1, size: 4 },
    };
    const marks = { values: (_, values) => values.map(number) };
    const across = chart.axis === "time" ? { size: 40, space: 64 }
      : { ...marks, size: 28, space: 44, label: chart.x_title, labelSize: 18, labelGap: 0, labelFont: FONT };
    return [{ ...common, ...across }, { ...common, ...marks, size: 64, space: 28 }];
  };

  const highest = (chart) => chart.series
    .reduce((top, series) => series.values.reduce((most, value) => Math.max(most, value ?? 0), top), 0);

  const draw = (chart) => {
    const host = document.getElementById(`chart-${chart.id}`);
    const before = drawn.get(chart.id);
    if (before) before.plot.destroy();
    host.replaceChildren();
    const top = highest(chart);
    const inks = chart.series.map((_, at) => colour(`c${at % 8}`));
    const alone = chart.x.length < 3;
    const series = chart.series.map((line, at) => ({
      label: line.label,
      stroke: inks[at],
      width: chart.bars ? 1 : 1.8,
      dash: chart.bars ? undefined : DASHES[at % DASHES.length],
      fill: chart.bars ? inks[at] : undefined,
      paths: chart.bars ? uPlot.paths.bars({ size: [0.86] }) : undefined,
      points: { show: alone && !chart.bars, size: 6 },
      spanGaps: false,
      value: (_, value) => number(value),
    }));
    const time = chart.axis === "time";
    const across = time ? { time: true } : { time: false };
    if (chart.bars && chart.x.length) {
      const half = chart.x[0];
      across.range = [0, chart.x[chart.x.length - 1] + half];
    } else if (alone && chart.x.length) {
      across.range = [chart.x[0] - 1, chart.x[chart.x.length - 1] + 1];
    }
    const first = time ? { label: "at" } : { label: chart.x_title, value: (_, value) => number(value) };
    const plot = new uPlot({
      width: Math.max(220, host.clientWidth),
      height: HEIGHT,
      padding: [10, 10, 0, 0],
      cursor: { y: false, sync: time ? { key: "time" } : undefined, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: across, y: { range: [0, top > 0 ? top * 1.06 : 1] } },
      axes: axes(chart),
      legend: { live: true },
      series: [first, ...series],
    }, [chart.x, ...chart.series.map((line) => line.values)], host);
    drawn.set(chart.id, { plot, host, inks });
    const ranges = chart.series.map((line) => {
      const values = line.values.filter((value) => value !== null);
      return values.length ? `${line.label} ${number(Math.min(...values))} to ${number(Math.max(...values))}` : `${line.label}: nothing`;
    });
    host.setAttribute("aria-label", `${chart.title}${chart.unit ? ` in ${chart.unit}` : ""}: ${ranges.join("; ")}`);
  };

  for (const time of document.querySelectorAll("time[data-ms]")) {
    const at = new Date(Number(time.dataset.ms));
    time.dateTime = at.toISOString();
    time.textContent = at.toLocaleString();
  }
  const drawAll = () => data.charts.forEach(draw);
  drawAll();

  let asked = false;
  const resize = () => {
    asked = false;
    for (const { plot, host } of drawn.values()) {
      const width = Math.max(220, host.clientWidth);
      if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
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
