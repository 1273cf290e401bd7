// The list of cases of one suite: filters, sorting by any metric, pages of fifty.

const PAGE = 50;
const [ID, SUITE, SYSTEM, CATEGORY, DIFFICULTY, VALUES] = [0, 1, 2, 3, 4, 5];
const state = { suite: 0, text: "", system: "", category: "", difficulty: "", outcome: "", sort: null, ascending: true, page: 0 };

const suiteOf = (row) => DATA.suites[row[SUITE]];

// A reason, [status, code], where a value should be; null for a value or for no record.
const reasonOf = (value) => (typeof value === "string" ? DATA.names.reasons[Number(value)] : null);

const hasFailure = (row) => row[VALUES].some((value) => reasonOf(value)?.[0] === "failed");
const hasSkip = (row) => row[VALUES].some((value) => reasonOf(value)?.[0] === "skipped");

function searchable(row) {
  const prompt = DATA.details[row[ID]]?.prompt ?? "";
  return `${row[ID]} ${DATA.names.systems[row[SYSTEM]]} ${prompt}`.toLowerCase();
}

function matches(row) {
  if (row[SUITE] !== state.suite) return false;
  for (const [key, place] of [["system", SYSTEM], ["category", CATEGORY], ["difficulty", DIFFICULTY]]) {
    if (state[key] !== "" && row[place] !== Number(state[key])) return false;
  }
  if (state.outcome === "failed" && !hasFailure(row)) return false;
  if (state.outcome === "skipped" && !hasSkip(row)) return false;
  return state.text.split(/\s+/).every((word) => searchable(row).includes(word));
}

function sortKey(row) {
  if (state.sort === "case") return row[ID];
  if (state.sort === "system") return DATA.names.systems[row[SYSTEM]];
  if (state.sort === "category") return DATA.names.categories[row[CATEGORY]];
  const value = row[VALUES][state.sort];
  return typeof value === "number" ? value : null;
}

function found() {
  const rows = DATA.cases.filter(matches);
  if (state.sort === null) return rows;
  const keyed = rows.map((row) => [sortKey(row), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return state.ascending ? order : -order;
  });
  return keyed.map(([, row]) => row);
}

function choice(key, label, options) {
  const change = (event) => update({ [key]: key === "suite" ? Number(event.target.value) : event.target.value, page: 0, ...(key === "suite" ? { sort: null } : {}) });
  const select = el("select", { name: key, change }, options.map(([value, text]) => el("option", { value }, text)));
  return el("label", {}, el("span", {}, label), select);
}

function named(list, all) {
  return [["", all], ...list.map((text, place) => [place, text || "(none)"])];
}

function buildFilters() {
  const form = $("filters");
  const input = (event) => update({ text: event.target.value.toLowerCase().trim(), page: 0 });
  const { systems, categories, difficulties } = DATA.names;
  const fields = [
    DATA.suites.length > 1 ? choice("suite", "Suite", DATA.suites.map((suite, place) => [place, suite.title])) : null,
    el("label", {}, el("span", {}, "Search"), el("input", { type: "search", name: "text", placeholder: "case, system, prompt", input })),
    systems.length > 1 ? choice("system", "System", named(systems, "all")) : null,
    categories.length > 1 ? choice("category", "Category", named(categories, "all")) : null,
    difficulties.length > 1 ? choice("difficulty", "Difficulty", named(difficulties, "all")) : null,
    choice("outcome", "Outcome", [["", "any"], ["failed", "something failed"], ["skipped", "something skipped"]]),
  ];
  form.replaceChildren(...fields.filter(Boolean));
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
}

function update(change) {
  Object.assign(state, change);
  drawList();
  document.dispatchEvent(new CustomEvent("filtered"));
}

function headCell(key, label, ...more) {
  const click = () => {
    update({ ascending: state.sort === key ? !state.ascending : true, sort: key, page: 0 });
    $("list").querySelector(`[data-key="${key}"]`).focus();
  };
  const order = state.sort === key ? (state.ascending ? "ascending" : "descending") : null;
  const number = typeof key === "number" ? "number" : null;
  return el("th", { scope: "col", "aria-sort": order, class: number }, el("button", { type: "button", class: "sort", "data-key": key, click }, label), ...more);
}

// Columns of the list: metrics of the suite that have a value somewhere.
const columns = (suite) => suite.metrics.map((metric, place) => [metric, place]).filter(([metric]) => metric.scored);

function listHead(suite) {
  const marks = (metric) => (metric.badges.some((badge) => badge.kind !== "judged") ? el("span", { class: "star", title: visible(metric.badges.map((badge) => badge.text).join("; ")) }, "*") : null);
  return el("tr", {},
    headCell("case", "Case"), headCell("system", "System"), headCell("category", "Category"),
    columns(suite).map(([metric, place]) => headCell(place, `${ARROWS[metric.direction]} ${metric.id}`.trim(), marks(metric))));
}

function valueCell(value) {
  if (value === null) return el("td", { class: "number none" }, "");
  const reason = reasonOf(value);
  if (reason === null) return el("td", { class: "number" }, figure(value));
  const text = reason[0] === "failed" ? "failed" : "–";
  return el("td", { class: `number ${reason[0]}`, title: visible(`${reason[0]}: ${reason[1]}`) }, text, el("span", { class: "hidden" }, ` ${reason[0]}: ${reason[1]}`));
}

const addressOf = (id) => `#case=${encodeURIComponent(id)}`;

function listRow(row, suite) {
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: addressOf(row[ID]) }, el("bdi", {}, row[ID]))),
    el("td", {}, name(DATA.names.systems[row[SYSTEM]])),
    el("td", {}, el("bdi", {}, DATA.names.categories[row[CATEGORY]])),
    columns(suite).map(([, place]) => valueCell(row[VALUES][place])));
}

function drawList() {
  const rows = found();
  const suite = DATA.suites[state.suite];
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  const shown = rows.slice(state.page * PAGE, (state.page + 1) * PAGE);
  $("list").replaceChildren(
    el("caption", { class: "hidden" }, `Cases of ${suite.title}`),
    el("thead", {}, listHead(suite)),
    el("tbody", {}, shown.map((row) => listRow(row, suite))));
  const all = DATA.cases.filter((row) => row[SUITE] === state.suite).length;
  $("found").textContent = `${rows.length} of ${all} cases${pages > 1 ? `, page ${state.page + 1} of ${pages}` : ""}`;
  const turn = (step) => () => { update({ page: state.page + step }); $("cases").scrollIntoView(); };
  $("pages").replaceChildren(...(pages > 1 ? [
    el("button", { type: "button", disabled: state.page === 0, click: turn(-1) }, "Previous page"),
    el("button", { type: "button", disabled: state.page === pages - 1, click: turn(1) }, "Next page"),
  ] : []));
}
