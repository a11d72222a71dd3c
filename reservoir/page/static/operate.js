"use strict";
// The Operate screen: what the rules of a plan advise for a month.
import {ask, busy, button, choice, el, field, plain, save, say, screen, state, table, textOf, toldAtFields, upload, wide} from "./page.js";

const SLOW = "replan", RESTS = 300, ENDINGS = {level: "m", storage: "hm3", inflow: "m3s", "inflow-before": "m3s", released: "m3s"};
let told = null, typed = null, asked = {}, timer, parts = {}, latest = {}, unfolded = new Set();

async function show(root) {
  if (!state.saved.length) return first(root);
  const body = el("div"), plan = choice(state.saved, state.saved.includes(typed?.plan) ? typed.plan : state.saved.at(-1), (name) => load(body, name));
  root.replaceChildren(el("h2", {}, "What the rules of a plan advise for a month"), el("div", {class: "fields"}, el("label", {}, "Plan", plan)), body);
  await load(body, plan.value);
}
// No plan is saved yet: save what is open, and go on.
function first(root) {
  const name = el("input", {value: "my-plan", autocomplete: "off"}), fault = el("div", {class: "fault", role: "alert"});
  const go_on = button("Save the plan, and go on", async () => await save(go_on, name.value.trim(), {fault}) && show(root));
  root.append(el("p", {}, "Rules are fitted to a plan that is saved, and none is saved in this folder yet."),
    state.info ? el("div", {class: "buttons"}, el("label", {}, "Name of the plan ", name), go_on) : el("p", {}, "Open a case on the Start screen."), fault);
}

async function load(body, plan) {
  told = await ask("operable", {plan, units: state.units}).catch((faults) => say(textOf(faults), true));
  if (!told || !body.isConnected) return body.replaceChildren();
  latest = {};
  const choice = el("details", {open: !told.fitted.length}, el("summary", {}, told.fitted.length ? `Rules: ${told.fitted.join(", ")}` : "This plan has no rules yet"), families(body, plan));
  body.replaceChildren(...told.caveats.filter((each) => !state.info?.caveats.includes(each)).map((each) => el("p", {class: "key"}, each)), choice);
  if (!told.fitted.length) return;
  if (typed?.plan !== plan) typed = {plan, month: told.sites[0].month, values: {}, flood: "", ensemble: ""};
  parts = {fields: el("div"), fault: el("div", {class: "fault", role: "alert"}), advice: el("div")};
  body.append(parts.fields, parts.fault, parts.advice);
  fields();
}

function families(body, plan) {
  const boxes = Object.entries(told.families).map(([name, does]) => [name, el("input", {type: "checkbox", checked: (told.fitted.length ? told.fitted : told.usual).includes(name)}), does]);
  const fit = button(told.fitted.length ? "Fit these in their place" : "Fit these rules", async () => {
    const names = boxes.filter(([, box]) => box.checked).map(([name]) => name);
    if (!names.length) return say("Choose a family.", true);
    const found = await busy(fit, (progress) => ask("fit-rules", {plan, families: names, units: state.units}, progress));
    if (!found) return;
    await load(body, plan);
    say(`Fitted in ${found.seconds} s: ${found.command}`);
  });
  return el("fieldset", {}, el("legend", {}, "Families"), boxes.map(([name, box, does]) => el("div", {}, el("label", {class: "check"}, box, el("span", {}, el("b", {}, name), `: ${does}`)))), el("div", {class: "buttons"}, fit));
}

// Fields hold what was typed, else what is usual; in the units of the page.
function fields() {
  const {sizes, units} = told;
  for (const [key, value] of Object.entries(typed.values)) {
    const ending = ENDINGS[key.split(" of ")[0]], number = Number(plain(value));
    if (typed.sizes && typed.sizes[ending] !== sizes[ending] && value.trim() && Number.isFinite(number)) typed.values[key] = String(Number((number * typed.sizes[ending] / sizes[ending]).toPrecision(7)));
  }
  typed.sizes = sizes;
  const month = choice(told.months.map((name, place) => [String(place + 1), name]), String(typed.month), (number) => { typed.month = Number(number); fields(); });
  const file = el("input", {type: "file", accept: ".csv,.xlsx,.nc", onchange: () => send(file.files[0])});
  const many = told.sites.length > 1, ends = ({levels: [low, high]}) => [low, high].map((end) => end.toLocaleString("en", {maximumFractionDigits: 1})).join(" to ");
  const of = (site, key, text, usual = "", hint = "") => {
    const name = many ? `${key} of ${site.name}` : key;
    const input = el("input", {inputmode: "decimal", autocomplete: "off", value: typed.values[name] ?? usual, placeholder: hint, oninput: () => { typed.values[name] = input.value; advise(); }});
    input.dataset.site = site.name;
    input.dataset.name = key;
    return field(name, text, input);
  };
  const flow = (site, ago) => site.inflow[(typed.month - 1 - ago + 12) % 12];
  const site = (each) => el("fieldset", {}, el("legend", {}, each.name), el("div", {class: "fields typed"},
    each.stores && of(each, "level", `Level, ${units.m} (${ends(each)})`, typed.values[many ? `storage of ${each.name}` : "storage"]?.trim() ? "" : String(each.level)),
    each.stores && of(each, "storage", `or storage, ${units.hm3}`),
    of(each, "inflow", `Inflow of the month, ${units.m3s}`, typed.ensemble ? "" : String(flow(each, 0)), typed.ensemble ? "by the forecast" : ""),
    of(each, "inflow-before", `Inflow of the month before, ${units.m3s}`, "", `mean ${flow(each, 1).toLocaleString("en")}`),
    each.delayed && of(each, "released", `Release of the month before, ${units.m3s}`, "", "as in the plan")));
  const flood = el("input", {inputmode: "decimal", value: typed.flood, oninput: () => { typed.flood = flood.value; advise(); }});
  const column = told.sites[0].flood;
  parts.fields.replaceChildren(el("div", {class: "fields typed"}, field("month", "Month", month), column && field("flood-index", column, flood), field("ensemble", "Forecast with members (date, member, inflow)", file),
    typed.ensemble && button(`Without ${typed.ensemble.split("/").pop()}`, () => { typed.ensemble = ""; fields(); })), ...told.sites.map(site));
  advise();
}

async function send(file) {
  if (!file) return;
  try { typed.ensemble = await upload(file.name, file); } catch (faults) { return refused([{text: textOf(faults), key: "ensemble"}]); }
  for (const key of Object.keys(typed.values)) if (key.split(" of ")[0] === "inflow") delete typed.values[key];
  fields();
}

// The rules that answer at once follow the typing; the one that plans again answers when the hand rests.
function advise() {
  const quick = told.fitted.filter((name) => name !== SLOW);
  clearTimeout(timer);
  if (quick.length) question(quick);
  if (quick.length < told.fitted.length) timer = setTimeout(() => question([SLOW]), RESTS);
}
async function question(names) {
  const part = names.includes(SLOW) ? "slow" : "quick", mine = asked[part] = (asked[part] ?? 0) + 1, values = {};
  for (const input of parts.fields.querySelectorAll("[data-site]")) (values[input.dataset.site] ??= {})[input.dataset.name] = input.value;
  try {
    const answer = await ask("advice", {plan: typed.plan, month: typed.month, units: state.units, families: names, values, "flood-index": typed.flood, ensemble: typed.ensemble});
    if (mine < asked[part]) return;
    parts.fault.replaceChildren(...toldAtFields(parts.fields, [], {clear: true}));
    if (part === "quick" && latest[SLOW]) latest[SLOW].old = true;
    for (const rule of answer.rules) latest[rule.family] = rule;
    draw(answer);
    say(`Advice of ${names.length === 1 ? names[0] : `${names.length} rules`} in ${answer.seconds} s`);
  } catch (faults) { if (mine === asked[part]) refused(faults); }
}
function refused(faults) {
  parts.fault.replaceChildren(...toldAtFields(parts.fields, faults, {clear: true}));
  say("Not answered: the last good advice stays.", true);
}

function draw({heads, assumed}) {
  const rules = told.fitted.map((name) => latest[name]).filter(Boolean);
  const turn = (name) => unfolded.delete(name) || unfolded.add(name);
  const fold = (rule, ...inside) => el("details", {open: unfolded.has(rule.family)}, el("summary", {onclick: () => turn(rule.family)}, `Why ${rule.family}`), ...inside);
  const family = (rule) => rule.old ? `${rule.family} …` : rule.family;
  const similar = rules[0].rows?.find(([title]) => title === "Optimised years");
  const warned = rules.flatMap((rule) => rule.warnings.map((each) => el("p", {class: "fault"}, `${rule.family}: ${each}`)));
  const each = told.system
    ? rules.flatMap((rule) => [wide(`Rule ${family(rule)}`, table(rule.heads, rule.table, `Rule ${family(rule)}`)), fold(rule, el("ul", {}, rule.reasons.map((reason) => el("li", {}, reason))))])
    : [wide("Advice of each rule", table(heads, rules.map((rule) => [family(rule), ...rule.cells]), "Advice of each rule")), similar && el("p", {}, `Optimised years: ${similar[1]}`),
      ...rules.map((rule) => fold(rule, el("div", {class: "words"}, table(["What", "Advice"], rule.rows))))];
  parts.advice.replaceChildren(...each.filter(Boolean), ...assumed.map((words) => el("p", {class: "key"}, words)), ...warned);
}

screen("operate", "Operate", show);
