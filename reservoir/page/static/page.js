"use strict";
// What all screens use: questions over one socket, numbers in units, elements, charts, tabs.

export const state = {info: null, base: null, now: null, wish: {}, units: "si", saved: [], folder: "", site: "", past: [], future: []};
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
export const button = (text, press, more = {}) => el("button", {type: "button", onclick: press, ...more}, text);
// A choice among names, or pairs of a name and what is shown of it.
export const choice = (names, value, change = () => {}) => el("select", {onchange: ({target}) => change(target.value)}, names.map((each) => {
  const [name, text] = [each, each].flat();
  return el("option", {value: name, selected: name === value}, text);
}));
export const field = (key, text, input) => el("label", {"data-key": key}, text, input, el("span", {class: "fault", role: "alert"}));
export const section = (title, ...more) => el("section", {"aria-label": title}, el("h2", {}, title), ...more);
export const wide = (name, node) => el("div", {class: "wide", tabindex: 0, role: "region", "aria-label": name}, node);
export const table = (heads, rows, caption = "") => el("table", {},
  caption && el("caption", {}, caption),
  el("thead", {}, el("tr", {}, heads.map((head) => el("th", {scope: "col"}, head)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el(place ? "td" : "th", place ? {} : {scope: "row"}, cell))))));

export const site = () => state.info.sites[state.site];
export const linkFields = () => site().links.flatMap(({fields}) => fields);
// What is worth most is of all reservoirs of a system together; keys of links have the names of both ends before them.
export const keyOf = (key) => state.info.system && !key.includes(":") && !/^(objective\.(?!penalty)|horizon\.)/.test(key) ? `${state.site}:${key}` : key;
export const keyList = (id) => el("datalist", {id}, [...site().keyed, ...linkFields()].map(({key, meaning}) => el("option", {value: keyOf(key)}, meaning)));

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
export const plain = (text) => text.trim().replace(/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/, (number) => number.replaceAll(",", "")); // without separators of thousands

export const say = (text, wrong = false) => {
  const node = document.getElementById("state");
  node.textContent = text;
  node.classList.toggle("wrong", wrong);
};
const faultsOf = (thrown) => Array.isArray(thrown) ? thrown : [{text: String(thrown), key: ""}];
export const textOf = (thrown) => faultsOf(thrown).map(({text}) => text).join(" ");

// Tell faults at the fields of their keys; gives paragraphs of those that have none. Other fields are cleared where that is asked for.
export function toldAtFields(root, thrown, {clear = false, keyOf = (key) => key} = {}) {
  const fields = [...root.querySelectorAll("[data-key]")], keys = fields.map((field) => keyOf(field.dataset.key)), faults = faultsOf(thrown);
  fields.forEach((field, place) => {
    const own = faults.filter(({key}) => key === keys[place]).map(({text}) => el("p", {}, text));
    if (!own.length && !clear) return;
    field.querySelector("input")?.setAttribute("aria-invalid", String(own.length > 0));
    field.querySelector(".fault")?.replaceChildren(...own);
  });
  return faults.filter(({key}) => !keys.includes(key)).map(({text}) => el("p", {}, text));
}

// Start long work by a button: how far it is, and a way to end it, stay in sight on every screen. Gives the answer, or null with the fault told.
export async function busy(button, start, fault = null) {
  const bar = el("progress", {"aria-label": "progress"}), text = el("span", {}, "");
  fault?.replaceChildren();
  say("");
  const asked = start((stage, done, total) => {
    text.textContent = total ? `${stage}: ${written(done)} of ${written(total)}` : stage;
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
  });
  const end = el("button", {type: "button", onclick: () => { end.disabled = true; end.textContent = "Ending …"; cancel(asked.id); }}, "Cancel");
  const box = el("span", {class: "busy"}, button.textContent, bar, text, end);
  button.disabled = true;
  document.getElementById("work").append(box);
  try { return await asked; } catch (faults) { say(textOf(faults), true); fault?.replaceChildren(textOf(faults)); return null; } finally { box.remove(); button.disabled = false; }
}

// Keep a file in the folder of the page; gives its name there, or rejects with what is wrong with it.
export async function upload(name, body) {
  const failed = (fault) => ({fault: [{text: `${name} could not be sent: ${fault.message}`, key: ""}]});
  const answer = await fetch(`/upload?name=${encodeURIComponent(name)}`, {method: "POST", body}).then((sent) => sent.json()).catch(failed);
  if (answer.fault) throw answer.fault;
  return answer.file;
}
// Save what is open, with its changes, by the command.
export async function save(button, name, {replace = false, fault = null} = {}) {
  const answer = await busy(button, (progress) => ask("save", {name, wish: state.wish, replace}, progress), fault);
  if (!answer) return null;
  state.saved = answer.saved;
  say(`Saved in ${state.folder}/${answer.name}`);
  return answer;
}
// What commands of other screens start from, in words.
export function startsFrom(file) {
  const keys = Object.keys(state.wish);
  return keys.length ? `It starts from ${state.info.name} with the changes of the Plan screen (${keys.join(", ")}), which are written to ${file} first.` : `It starts from ${state.info.name} as it was opened: nothing is changed on the Plan screen.`;
}

// A chart that is as wide as its place. `options` are those of uPlot; colours and fonts are the page's.
export function chart(node, options, data) {
  const height = () => options.height ?? Math.round(Math.min(440, Math.max(260, node.clientWidth * 0.5)));
  const axes = (options.axes ?? [{}, {}]).map((each, place) => ({stroke: "#33424d", grid: {stroke: "#e6ebef", width: 1}, font: "12px system-ui", size: place ? 64 : 30, ...each}));
  const plot = new uPlot({legend: {show: false}, cursor: {show: false}, ...options, axes, width: node.clientWidth || 300, height: height()}, data, node);
  new ResizeObserver(() => { if (node.clientWidth && node.clientWidth !== plot.width) plot.setSize({width: node.clientWidth, height: height()}); }).observe(node);
  return plot;
}
export const ticks = (form) => ({values: (_, at) => at.map((value) => form(value))});
export const amounts = (name) => ticks((value) => shown(name, value));
export const months = (steps) => ticks((value) => Number.isInteger(value) && value < steps.length ? steps[value] : "");
export const lines = (stroke, more = {}) => ({stroke, width: 2, points: {show: false}, ...more});

// Durations of power, from the highest value on; null of what has none.
export function durations(node, height, series, values) {
  const at = (values.find(Boolean) ?? []).map((_, place, all) => 100 * place / (all.length - 1));
  return chart(node, {height, scales: {x: {time: false}}, axes: [ticks((value) => `${value} %`), amounts("_mw")], series: [{}, ...series]}, [at, ...values.map((each) => each ?? at.map(() => null))]);
}
// A chart of fronts between two goals, whose labels have their units.
export function fronts(node, [across, up], options, data) {
  const numbers = ticks((each) => each.toLocaleString("en")), range = (_, low, high) => { const more = (high - low || 1) / 20; return [low - more, high + more]; };
  return chart(node, {scales: {x: {time: false, range}, y: {range}}, axes: [{label: across, size: 44, space: 110, ...numbers}, {label: up, size: 76, ...numbers}], ...options}, data);
}

// Lay an SVG over a chart; gives the place of a point of the chart in it.
export function laid(svg, plot) {
  const {left, top} = plot.over.getBoundingClientRect(), outer = plot.root.getBoundingClientRect();
  svg.setAttribute("width", plot.width);
  svg.setAttribute("height", plot.height);
  return (x, y) => [plot.valToPos(x, "x") + left - outer.left, plot.valToPos(y, "y") + top - outer.top];
}

// A screen: its tab, and what fills it whenever it is opened or what is open changes.
export const screen = (name, title, show) => screens.set(name, {title, show});
export function go(name) {
  current = screens.has(name) ? name : screens.keys().next().value;
  if (location.hash !== `#${current}`) history.replaceState(null, "", `#${current}`);
  const tabs = [...screens].map(([each, {title}]) => el("button", {role: "tab", id: `tab-${each}`, "aria-selected": String(each === current), "aria-controls": "screen",
    tabindex: each === current ? 0 : -1, onclick: () => go(each), onkeydown: (event) => next(event, each)}, title));
  document.getElementById("tabs").replaceChildren(...tabs);
  const root = document.getElementById("screen"), box = el("div"); // an answer that comes late fills the box of its own screen
  root.setAttribute("aria-labelledby", `tab-${current}`);
  root.replaceChildren(box);
  screens.get(current).show(box);
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
  if (!told.info) return;
  Object.assign(state, {info: told.info, base: told.base, now: told.base, wish: told.wish, past: [], future: [], site: Object.keys(told.info.sites)[0]});
  document.getElementById("title").textContent = `${told.info.name}, ${told.info.years.length} ${told.info.year_word}s`;
  document.title = `${told.info.name} – reservoir`;
  document.getElementById("caveats").replaceChildren(...told.info.caveats.map((each) => el("span", {}, each)));
}

// Open a saved plan, or what words of a command name, and go to the Plan screen.
export async function opened(button, body) {
  const told = await busy(button, (progress) => ask("open", body, progress));
  if (!told) return null;
  open(told);
  go("plan");
  say(`${state.info.name} is open`);
  return told;
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
