"use strict";
// The Plan screen: limits that are dragged, fields, and what the plan comes to beside its base.
import {amounts, ask, busy, button, chart, choice, durations, el, field, keyList, keyOf, laid, lines, linkFields, months, plain, save, say, screen, section, shown, site, sizeOf, state, table, ticks, toldAtFields, unitOf, withUnit} from "./page.js";
import {river} from "./river.js";

const SIDES = {upper: "#b34700", lower: "#5b2a86"}, INK = "#003c6c", PALE = "#6d7c88";
const BANDS = {1: "#d2e6f2", 2: "#9ecae1", 3: "#5ba3cd"}, HANDLES = 53, DEMAND = "plant.power_lower_mw", RESTS = 150, BETWEEN = 50;
let parts = {}, timer, asked = 0, underWay = false;
const hand = {place: "", moved: 0, sent: 0}; // its place is "new", or "seen" in a preview, or "" where a checked plan was asked for

const limit = (side) => state.wish[keyOf(site().keys[side])] ?? site().limits[side].values;

// Ask for what the wish comes to: a preview while the hand moves, else the checked plan.
async function replan(kind, answered = () => {}) {
  const mine = ++asked;
  if (kind === "full") { say("planning and checking …"); hand.place = ""; }
  try {
    const now = await ask(kind, {wish: state.wish}, (stage) => kind === "full" && say(stage)).finally(answered);
    if (!now || mine < asked && kind === "full") return;
    state.now = now;
    parts.fault?.replaceChildren();
    draw();
    if (kind === "full") tell(now);
    else parts.kind.textContent = `preview, ${now.seconds} s`;
  } catch (faults) { refused(faults); }
}
const tell = (now) => say([now.accepted ? "Checked" : "Not accepted", now.gap ? `gap: ${now.gap}` : now.checks.join(" "), now.seconds ? `${now.seconds} s` : ""].filter(Boolean).join("; "), !now.accepted);
function preview() {
  say(""); // what was checked is no longer what is seen
  Object.assign(hand, {place: "new", moved: performance.now()});
  followHand();
}
// One preview is under way at a time: when it is answered, and before it is drawn, that of the hand's place then is asked for.
function followHand() {
  clearTimeout(timer);
  if (underWay || !hand.place) return;
  const now = performance.now(), rest = hand.place === "new" ? hand.sent + BETWEEN - now : hand.moved + RESTS - now;
  if (rest > 0) { timer = setTimeout(followHand, rest); return; }
  if (hand.place === "seen") { replan("full"); return; }
  underWay = true;
  Object.assign(hand, {place: "seen", sent: now});
  replan("preview", () => { underWay = false; followHand(); });
}
function commit(before) {
  clearTimeout(timer);
  if (JSON.stringify(before) === JSON.stringify(state.wish)) return;
  state.past.push(before);
  state.future.length = 0;
  follow();
  replan("full");
}
function refused(faults) {
  say("Not planned: the last good plan stays.", true);
  parts.fault.replaceChildren(...toldAtFields(parts.fields, faults, {keyOf}));
}

// Handles over the fan: sliders for the limits at the ends of steps.
function places(side) {
  const {ends} = site().limits[side], every = Math.ceil(ends.length / HANDLES);
  const used = ends.map((end, place) => [end, place]).filter(([end]) => end != null).sort((a, b) => a[0] - b[0]);
  const groups = [];
  for (let first = 0; first < used.length; first += every) { const some = used.slice(first, first + every); groups.push({end: some.at(-1)[0], of: some.map((each) => each[1])}); }
  return groups;
}
function set(side, of, value) {
  const [low, high] = site().range, least = (high - low) / 200, own = [...limit(side)], other = limit(side === "upper" ? "lower" : "upper");
  for (const place of of) {
    const beside = other[place] ?? other[0];
    const [from, to] = side === "upper" ? [beside + least, Math.max(high, own[place])] : [Math.min(low, own[place]), beside - least];
    own[place] = Number(Math.min(to, Math.max(from, value(own[place]))).toPrecision(7));
  }
  state.wish = {...state.wish, [keyOf(site().keys[side])]: own}; // a new one: the history keeps those before
  move();
}
function handle(side, {end, of}) {
  const shape = side === "upper" ? el("rect", {x: -6, y: -6, width: 12, height: 12, class: "dot"}) : el("circle", {r: 6.5, class: "dot"});
  const node = el("g", {class: `handle ${side}`, tabindex: 0, role: "slider", "aria-orientation": "vertical", "aria-label": `${side} storage limit at the end of ${state.info.steps[end - 1]}`},
    el("circle", {r: 16, class: "target"}), shape);
  const all = () => [...limit(side).keys()];
  let before = null, keyed = null, rest;
  const stop = (keep) => { if (!before) return; const was = before; before = null; if (keep) commit(was); else { state.wish = was; move(); replan("full"); } };
  node.addEventListener("pointerdown", (event) => { before = state.wish; node.setPointerCapture(event.pointerId); node.focus(); event.preventDefault(); });
  node.addEventListener("pointermove", (event) => {
    if (!before) return;
    const y = event.clientY - parts.fan.over.getBoundingClientRect().top;
    set(side, event.shiftKey ? all() : of, () => parts.fan.posToVal(y, "y"));
    preview();
  });
  for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => stop(true));
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return stop(false);
    const step = {ArrowUp: 0.005, ArrowDown: -0.005, PageUp: 0.05, PageDown: -0.05}[event.key];
    if (!step) return;
    event.preventDefault();
    keyed ??= state.wish;
    const [low, high] = site().range;
    set(side, event.shiftKey ? all() : of, (value) => value + step * (high - low));
    preview();
    clearTimeout(rest);
    rest = setTimeout(() => { const was = keyed; keyed = null; commit(was); }, 400);
  });
  return Object.assign(node, {place: of.at(-1), end, side});
}
function move() {
  for (const [name, kept] of [["undo", state.past.length], ["redo", state.future.length], ["back", Object.keys(state.wish).length]]) parts[name].disabled = !kept;
  const {fan, svg} = parts, [low, high] = site().range;
  if (fan.scales.y.min == null) return; // not drawn yet
  const at = laid(svg, fan);
  for (const side of Object.keys(SIDES)) {
    const points = parts.handles.filter((each) => each.side === side).map((node) => {
      const value = limit(side)[node.place], point = at(node.end, value);
      node.setAttribute("transform", `translate(${point})`);
      for (const [name, text] of [["now", value], ["min", low], ["max", high], ["text", `${shown("_hm3", value)} ${unitOf("_hm3")}`]]) node.setAttribute(`aria-value${name}`, text);
      return point.join(" ");
    });
    svg.querySelector(`path.${side}`).setAttribute("d", points.length ? `M${points.join("L")}` : "");
  }
}

// What changed is drawn; nothing is built anew.
function draw() {
  if (!parts.fan || !document.contains(parts.fan.root)) return;
  const own = state.now.sites[state.site], base = state.base.sites[state.site], fan = own.fan;
  parts.fan.setData([parts.fan.data[0], fan[0], fan[6], fan[1], fan[5], fan[2], fan[4], base.fan[3], fan[3]]);
  parts.annual.setData([parts.annual.data[0], base.annual, own.annual]);
  parts.duration.setData([parts.duration.data[0], base.duration, own.duration]);
  parts.trace?.setData([parts.trace.data[0], base.trace, own.trace], false);
  parts.sentences.replaceChildren(...state.now.sentences.map((each) => el("p", {}, each)));
  const bad = state.now.kept.filter((kept) => !kept).length, year = state.info.year_word;
  const rows = state.now.rows.filter((row) => !row.reservoir || row.reservoir === "system" || row.reservoir === state.site);
  parts.numbers.replaceChildren(...rows.map((row) => figures(row, row.reservoir ?? "")));
  parts.bad.textContent = bad ? `${bad} of ${state.now.kept.length} ${year}s cannot keep these limits.` : "";
  parts.kind.textContent = state.now.checks ? "" : "preview";
}
function figures(row, of) {
  const named = state.info.figures.filter(({name}) => row[name] != null).map(({name, change, title}) => {
    const by = row[change] ?? 0, alike = name === "spill_hm3" ? row.alike_spill : Math.abs(by) < 1e-5 * Math.abs(row[name]);
    const better = name === "spill_hm3" ? by < 0 : by > 0;
    const words = name === "spill_hm3" ? ["better", "worse"] : ["more", "less"];
    const word = alike ? (by ? "about the same" : "0") : `${shown(name, by, true)} ${words[better ? 0 : 1]}`;
    return [withUnit(title, name), shown(name, row[name] - by), shown(name, row[name]), el("span", {class: alike ? "" : better ? "up" : "down"}, word)];
  });
  named.push([`${state.info.year_word}s that fail`, String(state.base.kept.filter((kept) => !kept).length), String(row.failing_years), ""]);
  return table([of || `a ${state.info.year_word}`, "base", "now", "change"], named);
}
function follow(all = false) { // fields with a fault keep what was typed
  move();
  for (const field of parts.fields.querySelectorAll("[data-key]")) {
    const key = field.dataset.key, value = state.wish[keyOf(key)] ?? site().fields.concat(linkFields()).find((each) => each.key === key).value, input = field.querySelector("input");
    if (!all && input.getAttribute("aria-invalid") === "true") continue;
    if (document.activeElement !== input) input.value = value == null ? "" : [value].flat().map((each) => typeof each === "number" ? Number((each / sizeOf(key)).toPrecision(9)) : each).join(", ");
    input.setAttribute("aria-invalid", "false");
    field.querySelector(".fault").textContent = "";
  }
  for (const input of parts.twins.querySelectorAll("input")) input.value = Number((limit(input.dataset.side)[input.dataset.place] / sizeOf("_hm3")).toPrecision(9));
}
function read(text, key, words_too = false, size = sizeOf(key)) {
  const words = text.trim().split(/[;\s]+|,\s+/).filter(Boolean), values = words.map((word) => Number(plain(word)));
  if (!words.length) return null;
  if (values.some((value) => !Number.isFinite(value))) return words_too ? {true: true, false: false}[text.trim()] ?? text.trim() : undefined;
  const own = values.map((value) => Number((value * size).toPrecision(12)));
  return own.length > 1 ? own : own[0];
}
function change(key, text, node, size = sizeOf(key)) {
  const expected = node.dataset.expected, value = read(text, key, !expected, size), before = state.wish;
  if (value === undefined) { node.setAttribute("aria-invalid", "true"); node.parentElement.querySelector(".fault").textContent = `“${text}” is no number; expected ${expected}`; return; }
  state.wish = {...state.wish, [keyOf(key)]: value};
  node.setAttribute("aria-invalid", "false");
  commit(before);
}
function fieldOf({key, label, unit, least, most, meaning, words}) {
  const ends = [least, most].map((end) => end == null ? null : shown(key, end)), expected = words ? "" : `${ends[0] ?? "any"} to ${ends[1] ?? "any"}${unit ? ` ${unitOf(key) || unit}` : ""}`;
  const input = el("input", {autocomplete: "off", "data-expected": expected, title: [meaning, expected].filter(Boolean).join("; "), onchange: (event) => change(key, event.target.value, event.target),
    onfocus: () => key === DEMAND && !state.info.system && ask("prepare", {wish: {...state.wish, [key]: 1}}).catch(() => null)}); // its kernels are built while it is typed
  return field(key, withUnit(label, key), input);
}
function twin() {
  const rows = places("upper").map(({end}) => [state.info.steps[end - 1], ...Object.keys(SIDES).map((side) => {
    const place = site().limits[side].ends.indexOf(end);
    return place < 0 ? "" : el("input", {"data-side": side, "data-place": place, "aria-label": `${side} limit, end of ${state.info.steps[end - 1]}`, autocomplete: "off",
      onchange: ({target}) => paste(side, end, [target.value]),
      onpaste: (event) => { const cells = event.clipboardData.getData("text").trim().split(/\r?\n|\t/); if (cells.length < 2) return; event.preventDefault(); paste(side, end, cells); }});
  })]);
  return table(["end of", ...Object.keys(SIDES).map((side) => withUnit(side, "_hm3"))], rows);
}
function paste(side, first, cells) {
  const before = state.wish, from = places(side).filter(({end}) => end >= first);
  cells.slice(0, from.length).forEach((cell, row) => { const value = read(cell, "_hm3"); if (typeof value === "number") set(side, from[row].of, () => value); });
  commit(before);
  follow(); // what is no number is again as it was
}
async function keep({currentTarget}) {
  const answer = await save(currentTarget, parts.name.value.trim(), {replace: parts.replace.checked});
  if (answer) parts.saved.replaceChildren("Saved by ", el("code", {}, answer.command), ". ", el("a", {href: `/files/${answer.name}/report.html`, target: "_blank", rel: "noopener"}, "Its report"));
}
async function values(press, node) {
  const found = await busy(press, (progress) => ask("values", {wish: state.wish}, progress));
  if (!found) return;
  const which = [...new Set(found.month)], name = "gwh_per_hm3";
  const of = (month) => ["storage_hm3", "q10_gwh_per_hm3", "q90_gwh_per_hm3", "mean_gwh_per_hm3"].map((column) => found[column].filter((_, place) => found.month[place] === month));
  const place = el("div");
  node.replaceChildren(el("label", {}, "Month ", choice(which, which[0], (month) => plot.setData(of(Number(month))))), place);
  const plot = chart(place, {height: 220, scales: {x: {time: false}}, axes: [amounts("_hm3"), amounts(name)],
    series: [{}, lines("transparent"), lines("transparent"), lines(INK)], bands: [{series: [2, 1], fill: BANDS[2]}]}, of(which[0]));
  node.append(el("p", {class: "key"}, `Worth of water in store, ${unitOf(name)}, by storage (${unitOf("_hm3")}) at the start of the month: mean, and 10 to 90 % of the years.`));
}

screen("plan", "Plan", (root) => {
  if (!state.info) return root.append(el("p", {}, "Nothing is open yet: see Start."));
  const own = site(), {steps, years} = state.info;
  const [low, high] = own.range, pad = (high - low) * 0.05;
  const level = (storage) => { const [at, levels] = own.levels; let k = at.findIndex((each) => each >= storage); k = Math.max(1, k < 0 ? at.length - 1 : k); return levels[k - 1] + (levels[k] - levels[k - 1]) * (storage - at[k - 1]) / (at[k] - at[k - 1]); };
  const [fan, annual, duration, trace, worth] = [0, 1, 2, 3, 4].map(() => el("div", {class: "chart"}));
  parts = {fault: el("div", {role: "alert", class: "fault"}), sentences: el("div", {class: "sentences"}), numbers: el("div"), bad: el("p", {class: "fault"}), kind: el("p", {class: "key"}),
    fields: el("div", {}, el("div", {class: "fields"}, own.fields.map(fieldOf)), own.links.map((link) => el("fieldset", {}, el("legend", {}, `River ${link.name}`), el("div", {class: "fields typed"}, link.fields.map(fieldOf))))), twins: el("div"), name: el("input", {value: "my-plan", autocomplete: "off"}), replace: el("input", {type: "checkbox"}), saved: el("p", {class: "key"})};
  const step = (text, from, to) => button(text, () => { to.push(state.wish); state.wish = from.pop(); follow(true); replan("full"); });
  const back = button("Back to base", () => { const before = state.wish; state.wish = {}; commit(before); follow(true); });
  Object.assign(parts, {undo: step("Undo", state.past, state.future), redo: step("Redo", state.future, state.past), back});
  const ask_values = button("Water values", () => values(ask_values, worth));
  const other = el("input", {list: "keys", autocomplete: "off"}), other_value = el("input", {autocomplete: "off"});
  const set_other = button("Set", () => { if (other.value.trim()) change(other.value.trim(), other_value.value, other_value, 1); });
  parts.twins.append(twin());
  root.append(el("div", {class: "plan"},
    el("div", {class: "first"},
      state.info.river && river(state.info.river, state.site, (name) => { state.site = name; redraw(root); document.querySelector(".river [tabindex='0']").focus(); }),
      section(`Storage through the year, ${unitOf("_hm3")}; on the right the level, ${unitOf("_m")}`, fan,
        el("p", {class: "key"}, "Drag a limit, or choose one by Tab and press the arrow keys (Page Up and Down: further; with Shift: all of the year; Escape: back). Squares: upper limits; circles: lower ones. Line: median; bands: half, 90 % and all of the years; dotted: median of the base."),
        el("details", {}, el("summary", {}, "Limits as a table"), parts.twins))),
    el("div", {class: "rest"},
      section("Energy of each year, GWh (outlined: base)", annual),
      section("Power that is exceeded, MW, by part of the time (dotted: base)", duration),
      state.base.sites[state.site].trace && section(`Storage through the record, ${unitOf("_hm3")} (drag to zoom, double click to leave; pale: base)`, trace),
      !state.info.system && section("What water is worth", worth, ask_values)),
    el("aside", {},
      state.info.notes.length > 0 && el("details", {}, el("summary", {}, `Notes (${state.info.notes.length})`), state.info.notes.map((each) => el("p", {class: "key"}, each))),
      parts.sentences, parts.bad, parts.fault, parts.kind, parts.numbers,
      el("div", {class: "buttons"}, parts.undo, parts.redo, parts.back),
      el("h2", {}, "What may change"), parts.fields,
      el("details", {}, el("summary", {}, "Any other key of the reservoir file"), el("label", {}, "Key", other), keyList("keys"),
        el("label", {}, "Value in the unit that the key ends with, or twelve from January on", other_value, el("span", {class: "fault", role: "alert"})), set_other),
      el("h2", {}, "Save as"), el("div", {class: "fields"}, el("label", {}, "Name of the plan", parts.name)), el("label", {class: "check"}, parts.replace, "replace a plan of this name"), button("Save", keep), parts.saved)));
  const x = [...Array(steps.length + 1).keys()], none = x.map(() => null);
  parts.fan = chart(fan, {scales: {x: {time: false, range: [0, steps.length]}, y: {range: [low - pad, high + pad]}},
    axes: [months(steps), amounts("_hm3"), {side: 1, scale: "y", grid: {show: false}, ...ticks((value) => value < low || value > high ? "" : shown("_m", level(value)))}],
    series: [{}, ...Array(6).fill(lines("transparent")), lines(PALE, {dash: [3, 4]}), lines(INK, {width: 2.5})],
    bands: [{series: [2, 1], fill: BANDS[1]}, {series: [4, 3], fill: BANDS[2]}, {series: [6, 5], fill: BANDS[3]}], hooks: {draw: [() => parts.svg && move()]}}, [x, ...Array(8).fill(none)]);
  parts.handles = Object.keys(SIDES).flatMap((side) => places(side).map((group) => handle(side, group)));
  parts.svg = el("svg", {class: "handles"}, Object.keys(SIDES).map((side) => el("path", {class: side})), parts.handles);
  fan.append(parts.svg);
  const at = [...years.keys()];
  parts.annual = chart(annual, {height: 180, scales: {x: {time: false, range: [-0.6, years.length - 0.4]}, y: {range: (_, from, to) => [0, to * 1.05]}}, axes: [ticks((value) => years[value] ?? ""), amounts("_gwh")],
    series: [{}, {stroke: PALE, width: 1, points: {show: false}, paths: uPlot.paths.bars({size: [0.95]})}, {stroke: INK, fill: "#5ba3cd", width: 0, points: {show: false}, paths: uPlot.paths.bars({size: [0.6]})}]}, [at, at, at]);
  const {duration: exceeded, trace: long} = state.base.sites[state.site];
  parts.duration = durations(duration, 180, [lines(PALE, {dash: [3, 4]}), lines(INK)], [exceeded, exceeded]);
  const named = (value, span) => [years[Math.floor(value / steps.length)], span < 4 * steps.length && Number.isInteger(value) && steps[value % steps.length]].filter(Boolean).join(" ");
  parts.trace = long && chart(trace, {height: 200, cursor: {show: true, drag: {x: true}, points: {show: false}}, scales: {x: {time: false}}, axes: [{values: (_, places) => places.map((value) => named(value, places.at(-1) - places[0]))}, amounts("_hm3")],
    series: [{}, lines("#9fb0bc"), lines(INK, {width: 1.5})]}, [[...long.keys()], long, long]);
  draw();
  follow(true);
  if (!state.now.checks || Object.keys(state.wish).length && state.now === state.base) replan("full");
  else tell(state.now);
});
const redraw = (root) => { root.replaceChildren(); document.getElementById("tab-plan").click(); };
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && event.target.tagName !== "INPUT" && parts.undo) { event.preventDefault(); (event.shiftKey ? parts.redo : parts.undo).click(); }
});
