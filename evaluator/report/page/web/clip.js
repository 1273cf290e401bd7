// What is known of a clip over time: wave form, shots, transitions, speech, and the moments that metrics and the judge
// looked at, on one axis of seconds.

const LANE = 22;
const LEFT = 150;
const LABEL = 22; // letters of a label that fit
const WIDTH = 760;

// The first list of that name in the details of any record: [{start_sec, end_sec}] or [[start, end]].
function spans(records, key) {
  for (const { details } of records) {
    const list = details?.[key];
    if (!Array.isArray(list)) continue;
    const read = list.map((item) => (Array.isArray(item) ? item : [item?.start_sec, item?.end_sec]));
    if (read.every(([start, end]) => typeof start === "number" && typeof end === "number")) return read;
  }
  return null;
}

function judgeMoments(questions) {
  const times = questions.flatMap((question) => question.turns.flatMap((turn) => turn.parts.flatMap((part) => part.times ?? [])));
  return [...new Set(times)].sort((a, b) => a - b);
}

// One lane per set of frames: the metrics that have a value and looked at the very same ones share it.
function moments(clip, records) {
  const scored = new Set(records.filter((record) => record.status === "ok").map((record) => record.metric));
  const sets = new Map();
  for (const [metric, times] of Object.entries(clip?.moments ?? {})) {
    const key = times.join();
    if (scored.has(metric)) sets.set(key, { label: [sets.get(key)?.label, metric].filter(Boolean).join(", "), times });
  }
  return [...sets.values()];
}

function lanes(detail) {
  const { records } = detail;
  const clip = detail.clips?.video;
  const known = typeof clip === "object" ? clip : null;
  const found = [];
  if (known?.wave.length) found.push({ label: "sound", wave: known });
  for (const [key, label] of [["shots", "shots"], ["transitions", "transitions"], ["segments_sec", "speech"]]) {
    const list = spans(records, key);
    if (list !== null) found.push({ label, spans: list, kind: label, none: list.length ? "" : "none found" });
  }
  found.push(...moments(known, records));
  const judged = judgeMoments(detail.questions ?? []);
  if (judged.length) found.push({ label: "judge saw", times: judged });
  const ends = found.flatMap((lane) => [...(lane.spans ?? []).map(([, end]) => end), ...(lane.times ?? [])]);
  return { found, end: Math.max(known?.seconds ?? 0, ...ends, 0) };
}

function drawLane(lane, top, at) {
  const middle = top + LANE / 2;
  const label = svg("text", { x: LEFT - 8, y: middle + 4, class: "lane" }, lane.label.length > LABEL ? `${lane.label.slice(0, LABEL - 1)}…` : lane.label, svg("title", {}, lane.label));
  const base = svg("line", { x1: LEFT, x2: WIDTH, y1: middle, y2: middle, class: "base" });
  if (lane.wave) return [label, drawWave(lane.wave, middle, at)];
  if (lane.times) return [label, base, ...lane.times.map((time) => svg("line", { x1: at(time), x2: at(time), y1: top + 4, y2: top + LANE - 4, class: "tick" }, svg("title", {}, seconds(time))))];
  const boxes = lane.spans.map(([start, end], place) => svg("rect", {
    x: at(start), width: Math.max(2, at(end) - at(start) - (lane.kind === "shots" ? 1 : 0)), y: top + 3, height: LANE - 6, rx: 2, class: `span ${lane.kind} ${place % 2 ? "odd" : "even"}`,
  }, svg("title", {}, `${lane.kind} ${place + 1}: ${seconds(start)} to ${seconds(end)}`)));
  return [label, base, ...boxes, lane.none ? svg("text", { x: LEFT + 6, y: middle + 4, class: "quiet" }, lane.none) : null];
}

// One path, up and down from the middle by the square root of the peak, so that quiet sound is seen too.
function drawWave(clip, middle, at) {
  const step = clip.wave_seconds / clip.wave.length;
  const half = (peak) => Math.max(0.4, Math.sqrt(peak / 100) * (LANE / 2 - 1));
  const path = clip.wave.map((peak, place) => {
    const x = at(clip.wave_start + (place + 0.5) * step).toFixed(1);
    return `M${x} ${(middle - half(peak)).toFixed(1)}V${(middle + half(peak)).toFixed(1)}`;
  });
  return svg("path", { d: path.join(""), class: "wave" });
}

function timeLine(detail) {
  const { found, end } = lanes(detail);
  if (!found.length || end <= 0) return null;
  const at = (time) => LEFT + (Math.min(Math.max(time, 0), end) / end) * (WIDTH - LEFT);
  const height = found.length * LANE + 22;
  const axis = [0, 0.25, 0.5, 0.75, 1].map((share) => svg("text", { x: at(share * end), y: height - 6, class: "axis", "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, seconds(share * end)));
  const drawn = found.flatMap((lane, place) => drawLane(lane, place * LANE, at));
  const words = found.map((lane) => (lane.spans ? `${lane.spans.length} ${lane.label}` : lane.times ? `${lane.times.length} frames for ${lane.label}` : "a wave form")).join(", ");
  return el("div", { class: "scroll timeline", tabindex: 0, role: "region", "aria-label": "Time line" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `Time line of ${seconds(end)}: ${words}` }, drawn, axis));
}

function thumbnails(detail) {
  return Object.entries(detail.clips ?? {}).map(([role, clip]) => {
    const title = role === "video" ? "Clip" : "Source";
    if (typeof clip === "string") return el("p", { class: "note" }, clip);
    const frames = clip.frames.map(([time, picture]) => el("figure", {}, el("img", { src: DATA.pictures[picture], alt: `${title} at ${seconds(time)}` }), el("figcaption", {}, seconds(time))));
    return frames.length ? el("div", {}, el("h3", {}, title), el("div", { class: "strip", tabindex: 0, role: "region", "aria-label": `${title}: frames` }, frames)) : null;
  });
}
