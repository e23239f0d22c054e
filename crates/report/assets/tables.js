// Tables that sort by the column whose head is pressed; every page holds it.
(() => {
  "use strict";
  const sortable = (table) => {
    const body = table.tBodies[0];
    const value = (row, at) => {
      const cell = row.cells[at];
      return cell.dataset.sort !== undefined ? Number(cell.dataset.sort) : cell.textContent.trim();
    };
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        // The total stays on top.
        const rows = [...body.rows].filter((row) => !row.classList.contains("total")).sort((one, two) => {
          const [a, b] = [value(one, at), value(two, at)];
          const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
          return rising ? order : -order;
        });
        body.append(...rows);
      });
    });
  };

  document.querySelectorAll("table.sortable").forEach(sortable);
})();
