// Start: what a newcomer drops becomes a case; bundled and saved cases are opened.
import {ask, busy, el, go, open, say, screen, state, textOf} from "./page.js";

const FILES = {
  table: ["Levels, storages and areas", "A workbook (.xlsx) or CSV with a header such as Elevation (ft), Storage (acre-feet), Area (acres)"],
  inflow: ["Record of inflow", "A workbook, CSV or NetCDF of days or months; nothing, if the workbook of levels has a sheet of it"],
};
const SECTIONS = {plant: "Plant", storage: "Storages, or their levels", release: "Releases", curves: "Tailwater: one level, or a formula of the release"};
// What was dropped and typed; it stays while other screens are looked at.
const mine = {table: "", inflow: "", name: "", sheets: {}, reading: {}, typed: {}, kept: {}};
const wish = () => ({...mine, sheets: Object.values(mine.sheets).filter(Boolean), units: state.units});
const plain = (number) => number.replace(/\.0\b/g, "").replace(/[[\]]/g, "");
const told = (faults = []) => faults.map((text) => el("p", {}, text));
let rows = new Map(), places = {}, newest = 0;

const options = (names, value) => names.map((name) => el("option", {value: name, selected: name === value}, name || "as the file shows"));
const choice = (label, names, value, change) => el("label", {}, `${label} `, el("select", {onchange: (event) => change(event.target.value)}, options(["", ...names], value)));
// Keep what was typed or chosen, under a name; nothing of what is empty.
const keep = (kept, name, value) => { if (value) kept[name] = value; else delete kept[name]; read(); };

// Send a file to the workspace; what is refused is told beside it, and the file that was there stays.
async function take(which, file) {
  if (!file) return;
  places[which].fault.replaceChildren();
  say(`reading ${file.name}`);
  try {
    const sent = await fetch(`/upload?name=${encodeURIComponent(file.name)}`, {method: "POST", body: file});
    const answer = await sent.json();
    if (answer.fault) throw answer.fault;
    mine[which] = answer.file;
    keep(mine.sheets, which, "");
  } catch (fault) {
    places[which].fault.replaceChildren(...told([Array.isArray(fault) ? textOf(fault) : `${file.name} could not be sent: ${fault.message}`]));
    say("the file was refused", true);
  }
}

function box(which) {
  const [title, hint] = FILES[which];
  const place = places[which] = {fault: el("div", {class: "fault"}), name: el("p", {class: "key"}), read: el("div"), sheet: el("div")};
  const input = el("input", {type: "file", accept: ".csv,.txt,.tsv,.xlsx,.xlsm,.nc", onchange: (event) => take(which, event.target.files[0])});
  const over = (event) => { event.preventDefault(); event.currentTarget.classList.toggle("over", event.type === "dragover"); };
  const drop = (event) => { over(event); take(which, event.dataTransfer.files[0]); };
  return el("section", {class: "drop", ondragover: over, ondragleave: over, ondrop: drop},
    el("label", {}, el("strong", {}, title), input), el("p", {class: "key"}, hint), place.name, place.fault, place.sheet, place.read);
}

// A field for a number that nobody gave. What is typed in it stays in it, whatever becomes of the others.
function row(field) {
  const {key} = field, [number, unit] = mine.typed[key] ?? ["", field.unit];
  const change = () => keep(mine.typed, key, input.value.trim() && [input.value, units.value]);
  const input = el("input", {inputmode: "decimal", autocomplete: "off", value: number, "aria-describedby": `fault-${key}`, onchange: change});
  const units = el("select", {"aria-label": `unit of ${field.meaning}`, onchange: change}, options(field.units, unit));
  const tick = el("input", {type: "checkbox", onchange: () => keep(mine.kept, key, tick.checked && tick.value)}), keeping = el("span");
  const fault = el("div", {class: "fault", id: `fault-${key}`}), expected = el("span", {class: "key"});
  const node = el("div", {class: "ask"}, el("label", {}, field.meaning, input), field.units[0] && units, expected, el("label", {class: "check"}, tick, keeping), fault);
  return {node, show(now, faults) {
    Object.assign(tick, {value: now.number ?? "", checked: Boolean(now.kept)});
    tick.parentNode.hidden = !now.number || key in mine.typed;
    keeping.textContent = `I keep this assumption: ${plain(tick.value)} ${now.unit}${now.source ? ` (${now.source})` : ""}`;
    expected.textContent = [now.instead, now.expected && `expected ${now.expected}`].filter(Boolean).join("; ");
    fault.replaceChildren(...told(faults));
    input.setAttribute("aria-invalid", String(Boolean(faults)));
  }};
}

async function read() {
  const number = ++newest, answer = await ask("read", wish()).catch((faults) => { say(textOf(faults), true); });
  if (!answer || number !== newest || !places.form?.isConnected) return;
  const {faults, fields, left} = answer, shown = new Set(fields.map(({key}) => key));
  for (const which of Object.keys(FILES)) {
    const {name, fault, sheet} = places[which], sheets = answer.sheets[which] ?? [];
    name.textContent = mine[which].replace("uploads/", "");
    fault.replaceChildren(...told(faults[which]));
    sheet.replaceChildren(...(sheets.length > 1 ? [choice("Sheet", sheets, mine.sheets[which], (value) => keep(mine.sheets, which, value))] : []));
  }
  places.table.read.replaceChildren(el("ul", {}, answer.read.map((text) => el("li", {}, text))));
  places.inflow.read.replaceChildren(el("dl", {}, Object.entries(answer.record).flatMap(([topic, said]) =>
    [el("dt", {}, topic), ...said.map((text) => el("dd", {class: topic === "Doubt" ? "fault" : ""}, text))])));
  for (const [name, {node, fault}] of Object.entries(places.reading)) {
    fault.replaceChildren(...told(faults[name] ?? (left.includes(name) ? ["The file does not say it, and nobody gave it."] : [])));
    if (faults[name] || faults.inflow || left.includes(name)) node.closest("details").open = true;
  }
  places.name.replaceChildren(...told(faults.name));
  const known = new Set([...Object.keys(FILES), ...Object.keys(places.reading), ...shown, "name"]);
  places.other.replaceChildren(...told(Object.entries(faults).flatMap(([key, texts]) => known.has(key) ? [] : texts)));
  for (const field of fields) {
    if (!rows.has(field.key)) rows.set(field.key, row(field));
    rows.get(field.key).show(field, faults[field.key]);
  }
  if (places.order !== (places.order = [...shown].join())) { // what has the cursor keeps it
    const focused = document.activeElement;
    places.form.replaceChildren(...Object.entries(SECTIONS).map(([section, title]) => [title, [...shown].filter((key) => key.startsWith(`${section}.`))])
      .filter(([, keys]) => keys.length).map(([title, keys]) => el("fieldset", {}, el("legend", {}, title), keys.map((key) => rows.get(key).node))));
    if (focused?.isConnected) focused.focus();
  }
  places.plan.hidden = !fields.length;
  const wrong = Object.keys(faults).length;
  say(!fields.length ? (wrong ? "not read: see beside the file" : mine.table && !mine.inflow ? "now the record of inflow" : "") :
    left.length || wrong ? `${left.length} still to be given or kept${wrong ? `, ${wrong} to be corrected` : ""}` : "all is given: it can be planned");
}

// Open what words of a command name, and go to its plan.
async function opened(button, body) {
  const answer = await busy(button, (progress) => ask("open", body, progress));
  if (answer) { open(answer); go("plan"); say(`${state.info.name} is open`); }
}
async function plan(event) {
  const begun = await ask("begin", wish()).catch((faults) => { say(textOf(faults), true); });
  if (begun) await opened(event.target, {words: begun.words}); else read();
}

async function show(root) {
  rows = new Map();
  const offered = await ask("offered"), {reading} = offered, fields = {};
  for (const [name, [label, hint, choices]] of Object.entries(reading)) {
    const change = (value) => keep(mine.reading, name, value), fault = el("div", {class: "fault"});
    const node = choices.length ? choice(label, choices, mine.reading[name], change)
      : el("label", {}, label, el("input", {value: mine.reading[name] ?? "", placeholder: hint, onchange: (event) => change(event.target.value.trim())}));
    fields[name] = {node: el("div", {}, node, fault), fault};
  }
  places = {reading: fields, name: el("div", {class: "fault"}), other: el("div", {class: "fault"}), form: el("div", {class: "invented"})};
  places.plan = el("div", {hidden: true}, el("h2", {}, "What nobody gave"),
    el("p", {class: "key"}, "Give your number, or keep the assumption; what is kept is named in every result. Several numbers, one for each month, are separated by blanks."),
    el("label", {}, "Name of the reservoir ", el("input", {value: mine.name, onchange: (event) => keep(mine, "name", event.target.value.trim())})), places.name,
    places.form, el("div", {class: "buttons"}, el("button", {type: "button", onclick: plan}, "Plan it")));
  const choose = (label, names) => el("label", {}, `${label} `, el("select", {}, names.map((name) => el("option", {value: name}, name))));
  const pair = [choose("Reservoir", offered.reservoirs), choose("Record", offered.records)];
  const button = (text, body) => el("button", {type: "button", onclick: (event) => opened(event.target, body())}, text);
  root.replaceChildren(el("div", {class: "start"},
    el("section", {}, el("h2", {}, "Your reservoir"), box("table"), box("inflow"),
      el("details", {}, el("summary", {}, "How the record is read"), el("div", {class: "fields"}, Object.values(fields).map(({node}) => node))), places.other, places.plan),
    el("section", {}, el("h2", {}, "Bundled cases"), offered.cases.map(({name, kind, says}) => el("div", {class: "case"},
      button(name, () => ({words: ["--case", name]})), kind === "system" && " several reservoirs", says.map((text) => el("p", {class: "key"}, text)))),
    offered.plans.length > 0 && [el("h2", {}, "Saved plans"), el("div", {class: "buttons"}, offered.plans.map((name) => button(name, () => ({plan: name}))))],
    offered.reservoirs.length > 0 && offered.records.length > 0 && [el("h2", {}, "Files of this folder"), pair,
      button("Open", () => ({words: [pair[1].lastChild.value, "--reservoir", pair[0].lastChild.value]}))])));
  if (mine.table || mine.inflow) await read();
}
screen("start", "Start", show);
