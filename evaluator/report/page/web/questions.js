// What a judge was asked about a case: the words and the evidence as they were shown, and what it held for likely.

function evidencePicture(picture, time) {
  const caption = time === undefined ? "" : seconds(time);
  if (picture.name) return el("figure", {}, el("img", { src: DATA.pictures[picture.name], alt: `Evidence ${caption}` }), el("figcaption", {}, caption));
  const why = picture.gone ? "gone or changed since" : "not embedded";
  return el("figure", { class: "absent" }, el("figcaption", {}, `${caption} ${why}: ${picture.file}`));
}

function questionPart(part) {
  const mark = part.evidence === "native" ? null : el("span", { class: "badge substitute" }, part.evidence.replace("_", " "));
  if (part.kind === "text") return el("p", { class: "said" }, mark, part.text);
  if (part.kind === "audio") return el("p", { class: "said" }, mark, `sound: ${part.file}`);
  const pictures = part.pictures.map((picture, place) => evidencePicture(picture, part.times?.[place]));
  return el("div", {}, mark, el("div", { class: "strip", tabindex: 0, role: "region", "aria-label": "Evidence" }, pictures));
}

function probabilityBars(question) {
  const rows = Object.entries(question.probabilities).map(([label, value]) => el("tr", {},
    el("th", { scope: "row" }, label),
    el("td", {}, el("meter", { min: 0, max: 1, value, "aria-label": `P(${visible(label)})` })),
    el("td", { class: "number" }, figure(value, 4))));
  return rows.length ? el("table", { class: "probabilities" }, el("caption", { class: "hidden" }, "Probabilities"), el("tbody", {}, rows)) : null;
}

function answerLine(question) {
  if (question.status !== "ok") return el("p", { class: "failed" }, `no answer: ${question.status}. ${question.message}`);
  const facts = [];
  if (question.label !== null) facts.push(`answer: ${question.label}`);
  if (question.margin !== null) facts.push(`margin ${figure(question.margin, 4)}`);
  if (question.mass !== null) facts.push(`label mass ${figure(question.mass, 4)}`);
  const value = question.value === null || question.value === undefined ? null : el("pre", {}, JSON.stringify(question.value, null, 2));
  return el("div", {}, el("p", {}, facts.join(" · "), question.tie ? el("span", { class: "badge substitute" }, "near tie") : null), value);
}

function questionCard(question) {
  const marks = [
    el("span", { class: `badge ${question.evidence === "native" ? "judged" : "substitute"}` }, `${question.evidence} evidence`),
    question.trained ? null : el("span", { class: "badge stand-in" }, "wiring fixture: its answers mean nothing"),
  ];
  return el("article", { class: "question" },
    el("h4", {}, el("bdi", {}, question.item), " ", marks),
    answerLine(question), probabilityBars(question),
    question.turns.map((turn) => el("details", { open: turn.role === "user" }, el("summary", {}, turn.role === "user" ? "Question and evidence" : "Rules"), turn.parts.map(questionPart))),
    question.reply === null ? null : el("details", {}, el("summary", {}, "Reply, word for word"), el("pre", {}, question.reply)),
    el("p", { class: "small" }, `asked: ${question.judge} · prompt ${question.task} · key `, el("code", {}, question.key)));
}
