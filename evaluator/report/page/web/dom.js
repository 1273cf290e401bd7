// Small tools for the other scripts. Text of other people only ever becomes a text node or the value of an attribute.

const DATA = JSON.parse(document.getElementById("data").textContent);

const $ = (id) => document.getElementById(id);

// Controls, and signs that turn or hide their neighbours, spelled out; the same rule as in text.py.
const TURNING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const visible = (text) =>
  String(text).replace(TURNING, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);

// el("td", {class: "number"}, "text", node, null): an element with attributes and children; functions are listeners.
function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : visible(child));
  }
  return node;
}

const name = (text) => el("bdi", {}, text === "" ? "(no name)" : text);

const ARROWS = { higher: "↑", lower: "↓", none: "" };
const WORDS = { higher: "higher is better", lower: "lower is better", none: "neither is better" };

const figure = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits));
const seconds = (value) => `${value.toFixed(2)} s`;

const badges = (list) => list.map((badge) => el("span", { class: `badge ${badge.kind}`, title: visible(badge.title) }, badge.text));

const arrow = (metric) =>
  ARROWS[metric.direction] ? el("span", { class: "arrow", title: WORDS[metric.direction] }, ARROWS[metric.direction]) : null;
