// The page of one case, in a dialog: #case=ID opens it, closing goes back to the list.

const rowsById = new Map(DATA.cases.map((row) => [row[ID], row]));
let opener = null;

function recordRow(record, metrics) {
  const metric = metrics.get(record.metric) ?? { id: record.metric, direction: "none", unit: "" };
  const models = record.models.map((place) => DATA.models[place]);
  const standIns = models.filter((model) => model.stands_in_for).map((model) => ({ text: `stand-in for ${model.stands_in_for}`, kind: "stand-in", title: model.id }));
  const evidence = ["substitute", "mixed"].includes(record.details.evidence) ? [{ text: `${record.details.evidence} evidence`, kind: "substitute", title: "" }] : [];
  const value = record.status === "ok"
    ? el("span", { class: "mean" }, figure(record.value, 4))
    : el("span", { class: record.status }, `${record.status}: ${record.reason.code}`, el("span", { class: "sub" }, record.reason.message));
  const told = Object.keys(record.details).length
    ? el("details", {}, el("summary", {}, "details"), el("pre", {}, JSON.stringify(record.details, null, 1)))
    : null;
  return el("tr", {},
    el("th", { scope: "row", title: visible(metric.summary ?? "") }, arrow(metric), el("span", { class: "name" }, metric.id), metric.unit ? el("span", { class: "unit" }, ` ${metric.unit}`) : null, badges([...standIns, ...evidence])),
    el("td", { class: record.status === "ok" ? "number" : null }, value),
    el("td", { class: "number" }, figure(record.raw, 4)),
    el("td", {}, told),
    el("td", { class: "small" }, models.map((model) => `${model.id} (${model.tier})`).join(", "), record.profile === "paper" ? null : el("span", { class: "badge profile" }, record.profile)));
}

function scoreTable(detail, suite) {
  const metrics = new Map(suite.metrics.map((metric) => [metric.id, metric]));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Scores" }, el("table", {},
    el("caption", { class: "hidden" }, "Scores"),
    el("thead", {}, el("tr", {}, ["Metric", "Value", "Raw", "Details", "Models"].map((text) => el("th", { scope: "col", class: ["Value", "Raw"].includes(text) ? "number" : null }, text)))),
    el("tbody", {}, detail.records.map((record) => recordRow(record, metrics)))));
}

// What the list knows, for a case whose details are not in the page.
function shortTable(row, suite) {
  const line = ([metric, place]) => el("tr", {}, el("th", { scope: "row" }, arrow(metric), metric.id), valueCell(row[VALUES][place]));
  return el("div", {}, el("p", { class: "note" }, "The details of this case are not embedded; its lines in scores.jsonl hold them."),
    el("table", {}, el("tbody", {}, suite.metrics.map((metric, place) => [metric, place]).filter(([, place]) => row[VALUES][place] !== null).map(line))));
}

function caseFacts(row, detail) {
  const facts = [
    ["System", DATA.names.systems[row[SYSTEM]]], ["Category", DATA.names.categories[row[CATEGORY]]], ["Difficulty", DATA.names.difficulties[row[DIFFICULTY]]],
    ["Prompt", detail?.prompt], ["Clip", detail?.video], ["Source", detail?.source], ["References", detail?.references.join(", ")],
    ["Labels", detail && Object.keys(detail.labels).length ? JSON.stringify(detail.labels) : ""],
  ];
  return el("dl", { class: "facts" }, facts.filter(([, value]) => value).flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, el("bdi", {}, value))]));
}

function caseParts(row, detail, suite) {
  if (!detail) return [shortTable(row, suite)];
  const questions = detail.questions ?? [];
  return [
    thumbnails(detail), timeLine(detail), el("h3", {}, "Scores"), scoreTable(detail, suite),
    questions.length ? el("h3", {}, `Judge: ${questions.length} question${questions.length > 1 ? "s" : ""}`) : null,
    questions.map(questionCard),
  ].flat();
}

function neighbours(row) {
  const rows = found();
  const place = rows.indexOf(row);
  const link = (other, text, key) => (other ? el("a", { href: addressOf(other[ID]), "data-step": key }, text) : el("span", { class: "quiet" }, text));
  return [link(rows[place - 1], "← previous", "previous"), link(place < 0 ? null : rows[place + 1], "next →", "next")];
}

function openCase(id) {
  const row = rowsById.get(id);
  const dialog = $("case");
  const close = el("button", { type: "button", class: "close", click: closeCase }, "Close");
  const head = (title, links) => el("div", { class: "bar" }, el("h2", { id: "case-title", tabindex: -1 }, el("bdi", {}, title)), el("div", { class: "links" }, links, close));
  if (row) {
    dialog.replaceChildren(head(id, neighbours(row)), el("div", { class: "body" }, caseFacts(row, DATA.details[id]), ...caseParts(row, DATA.details[id], suiteOf(row)).filter(Boolean)));
  } else {
    dialog.replaceChildren(head(id, []), el("div", { class: "body" }, el("p", { class: "note" }, "This page holds no case of that name.")));
  }
  if (!dialog.open) {
    opener = document.activeElement;
    dialog.showModal();
  }
  dialog.scrollTop = 0;
  $("case-title").focus();
}

function closeCase() {
  $("case").close();
}

function readAddress() {
  const match = location.hash.match(/^#case=(.*)$/s);
  if (!match) {
    if ($("case").open) closeCase();
    return;
  }
  try {
    openCase(decodeURIComponent(match[1]));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    openCase(match[1]);
  }
}

function listenToAddress() {
  const dialog = $("case");
  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#case=")) history.pushState(null, "", "#cases");
    if (opener?.isConnected) opener.focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) closeCase(); });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (step && event.target.closest(".scroll, .strip, pre") === null) dialog.querySelector(`[data-step=${step}]`)?.click();
  });
  addEventListener("hashchange", readAddress);
  readAddress();
}
