// Charts of a suite, drawn by plotly.js when they come into view. The same numbers stand in the tables.

const SHOWN_SYSTEMS = 6; // in the radar, before a person chooses others in its legend
const CONFIG = { displayModeBar: false, responsive: true };
let library = null;

// The library travels as zlib data; the policy of the page admits exactly the text that comes out.
async function unpackLibrary() {
  const packed = Uint8Array.from(atob($("plotly").textContent), (sign) => sign.charCodeAt(0));
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  const script = el("script");
  script.textContent = text;
  document.head.append(script);
  return window.Plotly;
}

const plotly = () => (library ??= unpackLibrary());

// A colour of the style sheet as it is at the moment, light or dark.
function colour(variable) {
  const probe = $("found");
  probe.style.color = `var(${variable})`;
  const found = getComputedStyle(probe).color;
  probe.style.color = "";
  return found;
}
const palette = () => ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"].map(colour);

function layout(height, more = {}) {
  const axis = { gridcolor: colour("--rule"), zerolinecolor: colour("--rule"), linecolor: colour("--rule"), automargin: true };
  return {
    height, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: palette(),
    font: { family: "system-ui, sans-serif", size: 12, color: colour("--ink") }, margin: { l: 8, r: 8, t: 8, b: 8 },
    legend: { orientation: "h", y: -0.12 }, hoverlabel: { font: { family: "system-ui, sans-serif" } }, ...more,
    xaxis: { ...axis, ...more.xaxis }, yaxis: { ...axis, ...more.yaxis },
  };
}

// Plotly reads a few tags in labels; other people's text must not be one of them.
const plain = (text) => visible(text === "" ? "(no name)" : text).replace(/&/g, "&amp;").replace(/</g, "&lt;");

function boxes(suite, place, node) {
  const metric = suite.metrics[place];
  const rows = DATA.cases.filter((row) => matches(row) && suiteOf(row) === suite && typeof row[VALUES][place] === "number");
  const traces = suite.systems.map((system) => {
    const own = rows.filter((row) => DATA.names.systems[row[SYSTEM]] === system);
    return { type: "box", orientation: "h", name: plain(system), x: own.map((row) => row[VALUES][place]), customdata: own.map((row) => row[ID]), text: own.map((row) => plain(row[ID])), hoverinfo: "x+text", boxpoints: own.length > 30 ? "outliers" : "all", jitter: 0.4, pointpos: 0, marker: { size: 5 }, line: { width: 1.5 } };
  }).filter((trace) => trace.x.length).reverse();
  const height = 90 + 36 * Math.max(traces.length, 1);
  const title = { text: plain(`${ARROWS[metric.direction]} ${metric.id}${metric.unit ? ` [${metric.unit}]` : ""}`.trim()) };
  return { traces, layout: layout(height, { showlegend: false, xaxis: { title }, yaxis: { type: "category" } }), drawn: () => node.on("plotly_click", (event) => { const id = event.points[0]?.customdata; if (typeof id === "string") location.hash = addressOf(id); }) };
}

function radar(suite) {
  const { metrics, systems } = suite.radar;
  const traces = Object.entries(systems).map(([system, values], place) => ({ type: "scatterpolar", name: plain(system), r: [...values, values[0]], theta: [...metrics, metrics[0]].map(plain), fill: Object.keys(systems).length > 3 ? "none" : "toself", opacity: 0.8, line: { width: 2 }, connectgaps: false, visible: place < SHOWN_SYSTEMS ? true : "legendonly" }));
  const narrow = innerWidth < 640;
  const ring = { gridcolor: colour("--rule"), linecolor: colour("--rule") };
  return { traces, layout: layout(420, { margin: { l: narrow ? 104 : 70, r: narrow ? 110 : 70, t: 28, b: 28 }, polar: { bgcolor: "rgba(0,0,0,0)", radialaxis: { ...ring, range: [0, 1], tickfont: { size: 10 } }, angularaxis: { ...ring, tickfont: { size: narrow ? 10 : 12 } } } }) };
}

function heatMap(suite) {
  const { metrics, rho, cases } = suite.correlation;
  const names = metrics.map(plain);
  const text = cases.map((row) => row.map((count) => `${count} cases`));
  const scale = [[0, colour("--cold")], [0.5, colour("--surface")], [1, colour("--warm")]];
  const trace = { type: "heatmap", x: names, y: names, z: rho, zmin: -1, zmax: 1, text, colorscale: scale, xgap: 1, ygap: 1, hovertemplate: "%{y}, %{x}: %{z:.2f} (%{text})<extra></extra>", colorbar: { thickness: 10, title: { text: "ρ" } } };
  return { traces: [trace], layout: layout(140 + 22 * metrics.length, { yaxis: { autorange: "reversed" }, xaxis: { tickangle: -60 } }) };
}

function outcomes(suite) {
  const names = Object.keys(suite.outcomes).reverse();
  const kinds = [...new Set(names.flatMap((metric) => Object.keys(suite.outcomes[metric])))].sort((a, b) => (b === "ok") - (a === "ok") || a.localeCompare(b));
  const colours = { ok: colour("--c1"), failed: colour("--bad") };
  const skips = [colour("--skip1"), colour("--skip2"), colour("--skip3")];
  let skip = 0;
  const traces = kinds.map((kind) => ({ type: "bar", orientation: "h", name: kind === "ok" ? "value" : plain(kind), y: names.map(plain), x: names.map((metric) => suite.outcomes[metric][kind] ?? 0), marker: { color: colours[kind.split(":")[0]] ?? skips[skip++ % skips.length] }, hovertemplate: "%{y}: %{x} cases<extra>%{fullData.name}</extra>" }));
  return { traces, layout: layout(110 + 20 * names.length, { barmode: "stack", bargap: 0.25 }) };
}

// A figure that draws itself when it comes into view, and again when filters or colours change.
function chart(title, hint, make, follows = false) {
  const node = el("div", { class: "plot", role: "img", "aria-label": `${visible(title)}; the numbers are in the tables` });
  let seen = false;
  const draw = async () => {
    const { traces, layout: shape, drawn } = make(node);
    node.style.minHeight = `${shape.height}px`;
    const tool = await plotly();
    await tool.react(node, traces, shape, CONFIG);
    if (drawn && !node.dataset.drawn) drawn();
    node.dataset.drawn = "yes";
  };
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    seen = true;
    draw();
  }, { rootMargin: "200px" });
  observer.observe(node);
  const again = () => { if (seen) draw(); };
  document.addEventListener("recoloured", again);
  if (follows) document.addEventListener("filtered", again);
  return { figure: el("figure", { class: "chart" }, el("figcaption", {}, el("strong", {}, title), el("span", { class: "hint" }, hint)), node), again };
}

function boxChart(suite) {
  const scored = columns(suite);
  let [, place] = scored.find(([metric]) => metric.direction !== "none") ?? scored[0];
  const made = chart("Spread over cases", "A box per system: median, quartiles, whiskers to 1.5 times their distance. The list's filters apply; a point opens its case.", (node) => boxes(suite, place, node), true);
  const change = (event) => { place = Number(event.target.value); made.again(); };
  const select = el("select", { change, "aria-label": "Metric of the box plot" }, scored.map(([metric, at]) => el("option", { value: at, selected: at === place }, metric.id)));
  made.figure.querySelector("figcaption").after(select);
  return made.figure;
}

function buildCharts(suite, node) {
  const figures = [];
  if (columns(suite).length) figures.push(boxChart(suite));
  if (suite.radar.metrics.length > 2) figures.push(chart("Profile of systems", "Means between the worst (centre) and the best (rim) end of each declared range; metrics without two ends or a direction are not here.", () => radar(suite)).figure);
  if (suite.correlation) figures.push(chart("Correlation of metrics", "Spearman's ρ over all cases of the suite, of all systems.", () => heatMap(suite)).figure);
  figures.push(chart("What became of the cases", "Values, skips (gates, missing models) and failures per metric.", () => outcomes(suite)).figure);
  node.append(...figures);
}
