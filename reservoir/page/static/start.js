// Start: what a newcomer drops becomes a case; bundled and saved cases are opened.
import {ask, button, choice, el, field, opened, say, screen, section, state, textOf, toldAtFields, upload} from "./page.js";

const FILES = {
  table: ["Levels, storages and areas", "A workbook (.xlsx) or CSV with a header such as Elevation (ft), Storage (acre-feet), Area (acres)",
    "levels.csv", "Level (m)\tStorage (hm3)\n1166\t5000\n1240\t14557"],
  inflow: ["Record of inflow", "A workbook, CSV or NetCDF of days or months; nothing, if the workbook of levels has a sheet of it",
    "inflow.csv", "Date\tInflow (m3/s)\n1953-01\t420\n1953-02\t385"],
};
const SECTIONS = {plant: "Plant", storage: "Storages, or their levels", release: "Releases", curves: "Tailwater: one level, or a formula of the release"};
// What was dropped and typed; it stays while other screens are looked at.
const mine = {table: "", inflow: "", name: "", sheets: {}, reading: {}, typed: {}, kept: {}};
const wish = () => ({...mine, sheets: Object.values(mine.sheets).filter(Boolean), units: state.units});
const short = (number) => number.replace(/\.0\b/g, "").replace(/[[\]]/g, "");
const pasted = {table: "", inflow: ""};
let rows = new Map(), places = {}, newest = 0;

const chosen = (label, names, value, change) => el("label", {}, `${label} `, choice([["", "as the file shows"], ...names], value, change));
// Keep what was typed or chosen, under a name; nothing of what is empty.
const keep = (kept, name, value) => { if (value) kept[name] = value; else delete kept[name]; read(); };

// Send a file to the workspace; what is refused is told beside it, and the file that was there stays.
async function take(which, file, content = file) {
  if (!content) return;
  say(`reading ${file.name}`);
  try {
    mine[which] = await upload(file.name, content);
    keep(mine.sheets, which, "");
  } catch (faults) {
    toldAtFields(places.root, [{text: textOf(faults), key: which}]);
    say("the file was refused", true);
  }
}

function box(which) {
  const [title, hint, name, example] = FILES[which];
  const place = places[which] = {name: el("p", {class: "key"}), read: el("div"), sheet: el("div")};
  const input = el("input", {type: "file", accept: ".csv,.txt,.tsv,.xlsx,.xlsm,.nc", onchange: (event) => take(which, event.target.files[0])});
  const over = (event) => { event.preventDefault(); event.currentTarget.classList.toggle("over", event.type === "dragover"); };
  const drop = (event) => { over(event); take(which, event.dataTransfer.files[0]); };
  const typed = el("textarea", {rows: 6, spellcheck: "false", placeholder: example, 
    oninput: ({inputType}) => { pasted[which] = typed.value; if (inputType === "insertFromPaste") send(); }, onchange: () => send()}, pasted[which]);
  const send = () => take(which, {name}, typed.value.trim());
  return el("section", {class: "drop", "data-key": which, ondragover: over, ondragleave: over, ondrop: drop},
    el("label", {}, el("strong", {}, title), input), el("p", {class: "key"}, hint),
    el("details", {open: Boolean(pasted[which])}, el("summary", {}, "Or paste columns, or type them"), el("label", {}, "Columns with their names and units above them, as a spreadsheet copies them", typed)), place.name, el("div", {class: "fault"}), place.sheet, place.read);
}

// A field for a number that nobody gave. What is typed in it stays in it, whatever becomes of the others.
function row(field) {
  const {key} = field, [number, unit] = mine.typed[key] ?? ["", field.unit];
  const change = () => keep(mine.typed, key, input.value.trim() && [input.value, units.value]), units = choice(field.units, unit, change);
  const input = el("input", {inputmode: "decimal", autocomplete: "off", value: number, "aria-describedby": `fault-${key}`, onchange: change});
  units.setAttribute("aria-label", `unit of ${field.meaning}`);
  const tick = el("input", {type: "checkbox", onchange: () => keep(mine.kept, key, tick.checked && tick.value)}), keeping = el("span");
  const expected = el("span", {class: "key"});
  const node = el("div", {class: "ask", "data-key": key}, el("label", {}, field.meaning, input), field.units[0] && units, expected, el("label", {class: "check"}, tick, keeping), el("div", {class: "fault", id: `fault-${key}`}));
  return {node, show(now) {
    Object.assign(tick, {value: now.number ?? "", checked: Boolean(now.kept)});
    tick.parentNode.hidden = !now.number || key in mine.typed;
    keeping.textContent = `I keep this assumption: ${short(tick.value)} ${now.unit}${now.source ? ` (${now.source})` : ""}`;
    expected.textContent = [now.instead, now.expected && `expected ${now.expected}`].filter(Boolean).join("; ");
  }};
}

async function read() {
  const number = ++newest, answer = await ask("read", wish()).catch((faults) => { say(textOf(faults), true); });
  if (!answer || number !== newest || !places.form?.isConnected) return;
  const {faults, fields, left} = answer, shown = new Set(fields.map(({key}) => key));
  for (const which of Object.keys(FILES)) {
    const {name, sheet} = places[which], sheets = answer.sheets[which] ?? [];
    name.textContent = mine[which].replace("uploads/", "");
    sheet.replaceChildren(...(sheets.length > 1 ? [chosen("Sheet", sheets, mine.sheets[which], (value) => keep(mine.sheets, which, value))] : []));
  }
  places.table.read.replaceChildren(el("ul", {}, answer.read.map((text) => el("li", {}, text))));
  places.inflow.read.replaceChildren(el("dl", {}, Object.entries(answer.record).flatMap(([topic, said]) =>
    [el("dt", {}, topic), ...said.map((text) => el("dd", {class: topic === "Doubt" ? "fault" : ""}, text))])));
  for (const field of fields) {
    if (!rows.has(field.key)) rows.set(field.key, row(field));
    rows.get(field.key).show(field);
  }
  if (places.order !== (places.order = [...shown].join())) { // what has the cursor keeps it
    const focused = document.activeElement;
    places.form.replaceChildren(...Object.entries(SECTIONS).map(([section, title]) => [title, [...shown].filter((key) => key.startsWith(`${section}.`))])
      .filter(([, keys]) => keys.length).map(([title, keys]) => el("fieldset", {}, el("legend", {}, title), keys.map((key) => rows.get(key).node))));
    if (focused?.isConnected) focused.focus();
  }
  const unsaid = Object.keys(places.reading).filter((name) => left.includes(name) && !faults[name]).map((key) => ({key, text: "The file does not say it, and nobody gave it."}));
  const said = Object.entries(faults).flatMap(([key, texts]) => texts.map((text) => ({key, text})));
  places.other.replaceChildren(...toldAtFields(places.root, [...said, ...unsaid], {clear: true}));
  if (unsaid.length || [...said].some(({key}) => key === "inflow" || key in places.reading)) places.how.open = true;
  places.plan.hidden = !fields.length;
  const wrong = Object.keys(faults).length;
  say(!fields.length ? (wrong ? "not read: see beside the file" : mine.table && !mine.inflow ? "now the record of inflow" : "") :
    left.length || wrong ? `${left.length} still to be given or kept${wrong ? `, ${wrong} to be corrected` : ""}` : "all is given: it can be planned");
}

async function plan({target}) {
  try {
    const {words} = await ask("begin", wish());
    await opened(target, {words});
  } catch (faults) { await read(); say(textOf(faults), true); }
}

async function show(root) {
  const offered = await ask("offered"), {reading} = offered, fields = {};
  if (!root.isConnected) return; // another screen was opened, or this one again
  rows = new Map();
  for (const [name, [label, hint, choices]] of Object.entries(reading)) {
    const change = (value) => keep(mine.reading, name, value);
    const node = choices.length ? chosen(label, choices, mine.reading[name], change)
      : el("label", {}, label, el("input", {value: mine.reading[name] ?? "", placeholder: hint, onchange: (event) => change(event.target.value.trim())}));
    fields[name] = el("div", {"data-key": name}, node, el("div", {class: "fault"}));
  }
  places = {root, reading: fields, how: el("details", {}, el("summary", {}, "How the record is read"), el("div", {class: "fields"}, Object.values(fields))), other: el("div", {class: "fault"}), form: el("div", {class: "invented"})};
  places.plan = el("div", {hidden: true}, el("h2", {}, "What nobody gave"),
    el("p", {class: "key"}, "Give your number, or keep the assumption; what is kept is named in every result. Several numbers, one for each month, are separated by blanks."),
    field("name", "Name of the reservoir ", el("input", {value: mine.name, onchange: (event) => keep(mine, "name", event.target.value.trim())})),
    places.form, el("div", {class: "buttons"}, button("Plan it", plan)));
  const pair = [choice(offered.reservoirs, offered.reservoirs[0]), choice(offered.records, offered.records[0])];
  const opens = (text, body) => button(text, ({target}) => opened(target, body()));
  root.replaceChildren(el("div", {class: "start"},
    section("Your reservoir", box("table"), box("inflow"), places.how, places.other, places.plan),
    section("Bundled cases", offered.cases.map(({name, kind, says}) => el("div", {class: "case"},
      opens(name, () => ({words: ["--case", name]})), kind === "system" && " several reservoirs", says.map((text) => el("p", {class: "key"}, text)))),
    offered.plans.length > 0 && [el("h2", {}, "Saved plans"), el("div", {class: "buttons"}, offered.plans.map((name) => opens(name, () => ({plan: name}))))],
    offered.reservoirs.length > 0 && offered.records.length > 0 && [el("h2", {}, "Files of this folder"), el("label", {}, "Reservoir ", pair[0]), el("label", {}, "Record ", pair[1]),
      opens("Open", () => ({words: [pair[1].value, "--reservoir", pair[0].value]}))])));
  if (mine.table || mine.inflow) await read();
}
screen("start", "Start", show);
