// Sorting of the tables that came with the page: a button in every head cell, aria-sort, empty cells always last.

function numberIn(text) {
  const found = text.trim().match(/^\[?[-+]?\d[\d.]*(e[-+]?\d+)?/i);
  return found ? parseFloat(found[0].replace("[", "")) : null;
}

function compareTexts(first, second) {
  const [a, b] = [numberIn(first), numberIn(second)];
  return a !== null && b !== null ? a - b : first.localeCompare(second, "en", { numeric: true });
}

const isEmpty = (text) => ["", "–", "-"].includes(text.trim());

function sortTable(table, column, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [row.cells[column].textContent, row]);
  rows.sort(([a], [b]) => {
    if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b);
    return (ascending ? 1 : -1) * compareTexts(a, b);
  });
  body.append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const click = () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortTable(table, column, ascending);
    };
    head.replaceChildren(el("button", { type: "button", class: "sort", click }, ...head.childNodes));
  });
}
