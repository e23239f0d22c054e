// Runs inside a copy of a page, after axe: says which of its rules the page breaks, in which elements,
// and what reaches beyond the page.
(() => {
  "use strict";
  const faults = [];
  window.addEventListener("error", (event) => faults.push(`${event.message} (line ${event.lineno})`));
  const settle = () => new Promise((done) => { setTimeout(done, 100); });
  const look = async () => {
    await settle();
    for (const details of document.querySelectorAll("details")) details.open = true;
    await settle();
    const found = await window.axe.run(document, { resultTypes: ["violations"] });
    const broken = found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map((node) => `${node.target.join(" ")} (${node.any.concat(node.all, node.none).map((check) => check.message).join("; ")})`).join(", ")}`);
    const { scrollWidth, clientWidth } = document.documentElement;
    return { broken, passed: found.passes.length, dark: window.matchMedia("(prefers-color-scheme: dark)").matches, scrolls: scrollWidth > clientWidth, faults };
  };
  window.addEventListener("load", () => {
    look().catch((error) => ({ broken: [], passed: 0, dark: false, scrolls: false, faults: [String(error)] }))
      .then((verdict) => window.parent.postMessage(JSON.stringify(verdict), "*"));
  });
})();
