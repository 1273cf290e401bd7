// Puts the page together once it is read.

const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function buildTheme() {
  const button = $("theme");
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  const changed = () => { label(); document.dispatchEvent(new CustomEvent("recoloured")); };
  button.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; changed(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  button.hidden = false;
  label();
}

buildTheme();
document.querySelectorAll("table.sortable").forEach(makeSortable);
if (DATA.suites.length) {
  buildFilters();
  drawList();
  document.querySelectorAll(".charts").forEach((node) => buildCharts(DATA.suites[Number(node.dataset.suite)], node));
}
listenToAddress();
