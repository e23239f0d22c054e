// Runs inside a copy of the report: says for every chart what was drawn, for every trial that can be
// chosen, and what reaches beyond the page.
(() => {
  "use strict";
  const faults = [];
  window.addEventListener("error", (event) => faults.push(`${event.message} (line ${event.lineno})`));
  const rgb = (ink) => {
    const to = document.createElement("canvas").getContext("2d");
    to.fillStyle = ink;
    to.fillRect(0, 0, 1, 1);
    return to.getImageData(0, 0, 1, 1).data;
  };
  const pixelsOf = (plot, ink) => {
    const { left, top, width, height } = plot.bbox;
    const { data } = plot.ctx.getImageData(left - 8, top - 8, width + 16, height + 16);
    const [r, g, b] = rgb(ink);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      const away = Math.abs(data[at] - r) + Math.abs(data[at + 1] - g) + Math.abs(data[at + 2] - b);
      if (data[at + 3] > 200 && away < 24) found += 1;
    }
    return found;
  };
  const charts = (trial) => [...window.weirReport.charts].map(([id, { plot, inks }]) => ({
    id, trial,
    width: plot.width,
    room: plot.root.parentElement.clientWidth,
    series: inks.map((ink, at) => {
      // A limit far above the readings is left outside on purpose.
      const values = plot.data[at + 1].filter((value) => value !== null && value <= plot.scales.y.max);
      // One of two series that are the same all the time lies under the other.
      const under = plot.data.slice(at + 2).some((other) => other.every((value, i) => value === plot.data[at + 1][i]));
      if (under) values.length = 0;
      return { label: plot.series[at + 1].label, highest: Math.max(0, ...values), pixels: pixelsOf(plot, ink) };
    }),
  }));
  const beyond = () => {
    const wide = document.documentElement.clientWidth;
    const scrolls = (element) => element.closest(".scroll, nav ul, .skip, pre");
    const out = [...document.body.querySelectorAll("*")]
      .filter((element) => element.getClientRects().length && !scrolls(element) && element.getBoundingClientRect().right > wide + 1)
      .map((element) => `${element.tagName} ${element.id || element.className.baseVal || element.className}`);
    for (const text of document.querySelectorAll("svg.funnel-picture text")) {
      const box = text.getBBox();
      const view = text.ownerSVGElement.viewBox.baseVal;
      if (box.x < 0 || box.x + box.width > view.width + 1) out.push(`funnel: ${text.textContent}`);
    }
    return out;
  };
  // Points at the middle of one chart over time: which second does each of them read then?
  const pointed = () => {
    const plots = [...window.weirReport.charts].filter(([id]) => id.startsWith("second-")).map(([, { plot }]) => plot);
    if (!plots.length) return [];
    const { over } = plots[0];
    const box = over.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + 20, movementX: 5, movementY: 0, bubbles: true };
    over.dispatchEvent(new MouseEvent("mouseenter", at));
    over.dispatchEvent(new MouseEvent("mousemove", at));
    return plots.map((plot) => plot.cursor.idx);
  };
  // Sorts the trials by users: the users as they then stand.
  const sorted = () => {
    const table = document.querySelector("table.trials");
    table.tHead.rows[0].cells[2].querySelector("button").click();
    return [...table.tBodies[0].rows].map((row) => Number(row.cells[2].dataset.sort));
  };
  const settle = () => new Promise((done) => { setTimeout(done, 50); });
  const look = async () => {
    await settle();
    const seen = charts(null);
    const choice = document.getElementById("trial");
    for (const option of choice ? choice.options : []) {
      choice.value = option.value;
      choice.dispatchEvent(new Event("change"));
      await settle();
      seen.push(...charts(Number(option.value)).filter((chart) => chart.id.startsWith("second-")));
    }
    const cursors = pointed();
    await settle();
    for (const details of document.querySelectorAll("details")) details.open = true;
    await settle();
    const scrolls = document.documentElement.scrollWidth > document.documentElement.clientWidth;
    const rows = document.querySelectorAll("#seconds-data tbody tr").length;
    return { width: document.documentElement.clientWidth, charts: seen, cursors, sorted: sorted(), scrolls, beyond: beyond(), rows, faults };
  };
  window.addEventListener("load", () => {
    look().catch((error) => ({ faults: [String(error)] }))
      .then((verdict) => window.parent.postMessage(JSON.stringify(verdict), "*"));
  });
})();
