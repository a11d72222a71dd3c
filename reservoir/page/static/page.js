"use strict";
// What all screens use: questions over one socket, numbers in units, elements, charts, tabs.

export const state = {info: null, base: null, now: null, wish: {}, units: "si", saved: [], folder: "", site: ""};
const GONE = "The program has ended: start `reservoir page` again. Nothing that was saved is lost.";
const PLANNED = new Set(["preview", "full"]), waiting = new Map(), screens = new Map();
let socket, count = 0, current = "";

// Ask the program; the promise gives its answer, null where a newer wish overtook this one, or rejects with its faults.
export function ask(kind, body = {}, progress = null) {
  const id = ++count;
  const answer = new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) return reject([{text: GONE, key: ""}]);
    waiting.set(id, {kind, resolve, reject, progress});
    socket.send(JSON.stringify({id, kind, ...body}));
  });
  answer.id = id;
  return answer;
}
export const cancel = (id) => socket.send(JSON.stringify({kind: "cancel", of: id}));

function take(told) {
  const asked = waiting.get(told.id);
  if (!asked) return;
  if (told.stage) return asked.progress?.(told.stage, told.done, told.total);
  waiting.delete(told.id);
  if (told.fault || told.cancelled) return asked.reject(told.fault ?? [{text: told.cancelled, key: ""}]);
  if (PLANNED.has(asked.kind)) {
    for (const [id, other] of waiting) if (id < told.id && PLANNED.has(other.kind)) { waiting.delete(id); other.resolve(null); }
  }
  asked.resolve({...told.answer, seconds: told.seconds});
}

// An element; children are elements or texts, never HTML.
export function el(tag, attributes = {}, ...children) {
  const drawn = ["svg", "g", "path", "circle", "rect", "line", "text"].includes(tag);
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((each) => each != null && each !== false));
  return node;
}
export const table = (heads, rows, caption = "") => el("table", {},
  caption && el("caption", {}, caption),
  el("thead", {}, el("tr", {}, heads.map((head) => el("th", {scope: "col"}, head)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el(place ? "td" : "th", place ? {} : {scope: "row"}, cell))))));

// Numbers of the program's columns, which end with their unit, in the units of the page.
function unit(name) {
  const units = state.info?.units[state.units] ?? {};
  const ending = Object.keys(units).sort((a, b) => b.length - a.length).find((each) => name === each || name.endsWith(`_${each}`));
  return ending ? units[ending] : [{gwh: "GWh", mw: "MW", percent: "%"}[name.split("_").pop()] ?? "", 1];
}
export const unitOf = (name) => unit(name)[0];
export const sizeOf = (name) => unit(name)[1];
const LARGE = new Intl.NumberFormat("en", {maximumFractionDigits: 0}), SMALL = new Intl.NumberFormat("en", {maximumSignificantDigits: 4});
export function written(value, sign = false) {
  if (value == null || !Number.isFinite(value)) return "–";
  return (sign && value > 0 ? "+" : "") + (Math.abs(value) >= 1000 ? LARGE : SMALL).format(value).replace("-", "−");
}
export const shown = (name, value, sign = false) => written(value == null ? null : value / sizeOf(name), sign);
export const withUnit = (text, name) => [text, unitOf(name)].filter(Boolean).join(", ");

export const say = (text, wrong = false) => {
  const node = document.getElementById("state");
  node.textContent = text;
  node.classList.toggle("wrong", wrong);
};
export const textOf = (faults) => Array.isArray(faults) ? faults.map((each) => each.text).join(" ") : String(faults);

// Beside the button that starts long work: how far it is, and a way to end it. Gives the answer, or null with the fault told.
export async function busy(button, start) {
  const bar = el("progress", {"aria-label": "progress"}), text = el("span", {}, "");
  const asked = start((stage, done, total) => {
    text.textContent = total ? `${stage}: ${written(done)} of ${written(total)}` : stage;
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
  });
  const box = el("span", {class: "busy"}, bar, text, el("button", {type: "button", onclick: () => cancel(asked.id)}, "Cancel"));
  button.disabled = true;
  button.after(box);
  try { return await asked; } catch (faults) { say(textOf(faults), true); return null; } finally { box.remove(); button.disabled = false; }
}

// A chart that is as wide as its place. `options` are those of uPlot; colours and fonts are the page's.
export function chart(node, options, data) {
  const height = () => options.height ?? Math.round(Math.min(440, Math.max(260, node.clientWidth * 0.5)));
  const axes = (options.axes ?? [{}, {}]).map((each, place) => ({stroke: "#33424d", grid: {stroke: "#e6ebef", width: 1}, font: "12px system-ui", size: place ? 64 : 30, ...each}));
  const plot = new uPlot({legend: {show: false}, cursor: {show: false}, ...options, axes, width: node.clientWidth || 300, height: height()}, data, node);
  new ResizeObserver(() => { if (node.clientWidth && node.clientWidth !== plot.width) plot.setSize({width: node.clientWidth, height: height()}); }).observe(node);
  return plot;
}
export const lines = (stroke, more = {}) => ({stroke, width: 2, points: {show: false}, ...more});

// A screen: its tab, and what fills it whenever it is opened or what is open changes.
export const screen = (name, title, show) => screens.set(name, {title, show});
export function go(name) {
  current = screens.has(name) ? name : screens.keys().next().value;
  if (location.hash !== `#${current}`) history.replaceState(null, "", `#${current}`);
  const tabs = [...screens].map(([each, {title}]) => el("button", {role: "tab", id: `tab-${each}`, "aria-selected": String(each === current), "aria-controls": "screen",
    tabindex: each === current ? 0 : -1, onclick: () => go(each), onkeydown: (event) => next(event, each)}, title));
  document.getElementById("tabs").replaceChildren(...tabs);
  const root = document.getElementById("screen");
  root.setAttribute("aria-labelledby", `tab-${current}`);
  root.replaceChildren();
  screens.get(current).show(root);
}
function next(event, name) {
  const names = [...screens.keys()], step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  go(names[(names.indexOf(name) + step + names.length) % names.length]);
  document.getElementById(`tab-${current}`).focus();
}

// Take over what the program says is open.
export function open(told) {
  Object.assign(state, {saved: told.saved, folder: told.folder});
  if (!told.info) return go("start");
  Object.assign(state, {info: told.info, base: told.base, now: told.base, wish: told.wish, site: Object.keys(told.info.sites)[0]});
  document.getElementById("title").textContent = `${told.info.name}, ${told.info.years.length} ${told.info.year_word}s`;
  document.title = `${told.info.name} – reservoir`;
  document.getElementById("caveats").replaceChildren(...told.info.caveats.map((each) => el("span", {}, each)));
}

export function start() {
  const units = document.getElementById("units");
  units.value = state.units = localStorage.getItem("units") ?? "si";
  units.onchange = () => { state.units = units.value; localStorage.setItem("units", units.value); go(current); };
  addEventListener("hashchange", () => go(location.hash.slice(1)));
  socket = new WebSocket(`ws://${location.host}/socket`);
  socket.onmessage = (event) => take(JSON.parse(event.data));
  socket.onclose = () => { for (const each of waiting.values()) each.reject([{text: GONE, key: ""}]); waiting.clear(); say(GONE, true); };
  socket.onopen = async () => { open(await ask("info")); go(location.hash.slice(1) || (state.info ? "plan" : "start")); };
}
