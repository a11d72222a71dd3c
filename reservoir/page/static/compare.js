"use strict";
// The Compare screen: plans beside a base that is chosen first, and batches over ranges of keys.
import {amounts, ask, busy, button, chart, choice, durations, el, fronts, keyList, lines, months, opened, plain, say, screen, section, shown, startsFrom, state, table, textOf, unitOf, wide, withUnit} from "./page.js";

const LOOKS = ["#005b96", "#b34700", "#00695c", "#5b2a86", "#8a6d00", "#a3195b", "#37474f", "#2e7d32"], DASHES = [[], [9, 3], [6, 2, 2, 2], [2, 2]], INK = "#000";
const MOST_BANDS = 4;
let chosen = {base: "", others: []}, parts = {}, site = "", asked = 0;

const look = (place) => place ? {stroke: LOOKS[(place - 1) % LOOKS.length], dash: DASHES[Math.floor((place - 1) / LOOKS.length) % DASHES.length]} : {stroke: INK, dash: [3, 4], width: 2.5};
const pale = (place) => `${look(place).stroke}${place ? "" : "000"}26`;
const key = (names, first = 0) => el("p", {class: "key"}, names.flatMap((name, place) => {
  const {stroke, dash} = look(place + first);
  return [el("svg", {width: 34, height: 10, "aria-hidden": "true"}, el("path", {d: "M0 5H34", stroke, "stroke-width": 2.5, "stroke-dasharray": dash.join(" "), fill: "none"})), ` ${name}${place + first ? "" : " (base)"} `];
}));

// Which plans: one base, and any number of others.
async function list() {
  const {plans, example} = await ask("plans");
  if (!plans.includes(chosen.base)) chosen = {base: plans[0] ?? "", others: plans.filter((each) => !each.includes("/")).slice(1, 8)};
  const radio = (name) => el("input", {type: "radio", name: "base", "aria-label": `${name} is the base`, checked: name === chosen.base, onchange: () => { chosen.base = name; list(); }});
  const check = (name) => el("input", {type: "checkbox", "aria-label": `compare ${name}`, checked: chosen.others.includes(name), disabled: name === chosen.base,
    onchange: ({target}) => { chosen.others = target.checked ? [...chosen.others, name] : chosen.others.filter((each) => each !== name); compare(); }});
  const row = (name) => [name, radio(name), check(name), button("Open", ({currentTarget}) => opened(currentTarget, {plan: name}))];
  if (example) parts.example.textContent = `Such as ${example.key} from ${example.first} to ${example.last} in 5 steps.`;
  parts.list.replaceChildren(plans.length ? table(["plan", "base", "compared", "open"], plans.map(row)) : el("p", {}, "No plan is saved here yet: save one on the Plan screen, or plan a range below."));
  compare();
}
async function compare() {
  const others = chosen.others.filter((each) => each !== chosen.base), mine = ++asked;
  if (!others.length) return parts.result.replaceChildren(el("p", {class: "key"}, chosen.base ? "Choose the plans that are compared with the base." : ""));
  say("comparing …");
  try {
    const told = await ask("compared", {plans: [chosen.base, ...others], units: state.units});
    if (mine === asked) { draw(told); say(`${others.length} compared with ${chosen.base}`); }
  } catch (faults) { if (mine === asked) { say("Not compared.", true); parts.result.replaceChildren(el("p", {class: "fault", role: "alert"}, textOf(faults))); } }
}

function draw(told) {
  const {names} = told, sites = Object.keys(told.drawn[0].fans);
  if (!sites.includes(site)) site = sites.includes(state.site) ? state.site : sites[0];
  const rows = table(told.heads, told.rows);
  [...rows.tBodies[0].rows].forEach((row, place) => {
    const name = told.rows[place][0], press = button(name, () => opened(press, {plan: told.plans[names.indexOf(name)]}), {class: "link"});
    row.cells[0].replaceChildren(press);
    row.addEventListener("click", ({target}) => target === press || press.click());
    if (told.failing.includes(place)) row.classList.add("wrong");
  });
  const [fans, power, fronted] = [0, 1, 2].map(() => el("div", {class: "chart"})), medians = el("details");
  const places = choice(sites, site, (name) => { site = name; storages(told, fans, medians); });
  parts.result.replaceChildren(
    section("What differs in the inputs", wide("differences", table(["plan", "what", `in ${names[0]}`, "in the plan"], told.differences))),
    section("What the plans come to", el("div", {class: "sentences"}, told.sentences.map((each) => el("p", {}, each))), wide("figures", rows),
      el("p", {class: "key"}, "In brackets: the change against the base, in the years that keep their limits in both. A click on a row opens that plan.")),
    section(`Storage through the year, ${unitOf("_hm3")}`, sites.length > 1 && el("label", {}, "Reservoir ", places), fans, key(names),
      el("p", {class: "key"}, names.length <= MOST_BANDS ? "Lines: medians; bands: 5 to 95 % of the years." : "Lines: medians; band: 5 to 95 % of the years of the base."), medians),
    section("Power that is exceeded, MW, by part of the time", power, key(names)),
    told.fronts.length ? section(`Fronts: ${told.fronts[0].labels.join(" against ")}`, fronted, key(told.fronts.map(({name}) => name), 1)) : "",
    el("p", {class: "key"}, "The same by ", el("code", {}, told.command)));
  storages(told, fans, medians);
  durations(power, 240, names.map((_, place) => lines("", look(place))), told.drawn.map(({duration}) => duration));
  if (told.fronts.length) {
    const points = told.fronts.map(({values: [x, y]}) => { const order = [...x.keys()].sort((a, b) => x[a] - x[b]); return [order.map((k) => x[k]), order.map((k) => y[k])]; });
    fronts(fronted, told.fronts[0].labels, {height: 260, series: [{}, ...points.map((_, place) => lines("", {...look(place + 1), spanGaps: true, points: {show: true}}))]}, uPlot.join(points));
  }
}
function storages(told, node, medians) {
  node.replaceChildren();
  const of = told.drawn.map(({fans}) => fans[site] ?? null), steps = told.steps, x = [...Array(steps.length + 1).keys()];
  const spread = (values) => x.map((at) => values?.length ? values[Math.round(at * (values.length - 1) / steps.length)] : null);
  const banded = of.map((_, place) => place).filter((place) => of[place] && (!place || of.length <= MOST_BANDS));
  const series = [{}, ...banded.flatMap(() => [lines("transparent"), lines("transparent")]), ...of.map((_, place) => lines("", look(place)))];
  chart(node, {scales: {x: {time: false, range: [0, steps.length]}}, series, bands: banded.map((place, k) => ({series: [2 * k + 1, 2 * k + 2], fill: pale(place)})),
    axes: [months(steps), amounts("_hm3")]},
  [x, ...banded.flatMap((place) => [spread(of[place][2]), spread(of[place][0])]), ...of.map((fan) => spread(fan?.[1]))]);
  const rows = steps.map((step, k) => [step, ...of.map((fan) => shown("_hm3", spread(fan?.[1])[k + 1]))]);
  medians.replaceChildren(el("summary", {}, "Medians as a table"), wide("medians", table([withUnit("end of", "_hm3"), ...told.names], rows)));
}

// A range over a key or two, which the command plans.
function batch() {
  const input = (label, more = {}) => { const node = el("input", {autocomplete: "off", ...more}); return [node, el("label", {}, label, node)]; };
  const rows = ["", "second "].map((which) => [input(`${which ? "And a second key" : "Key"}`, {list: "varied"}), input(`${which}from`, {inputmode: "decimal"}), input(`${which}to`, {inputmode: "decimal"}), input(`${which}steps`, {inputmode: "numeric", value: 5})]);
  const [name, named] = input("Name of the batch", {value: "batch"}), fault = el("p", {class: "fault", role: "alert"}), told = el("p", {class: "key"});
  const press = button("Plan the range", async () => {
    const keys = rows.map((row) => row.map(([node]) => plain(node.value))).filter(([each]) => each).map(([each, first, last, count]) => ({key: each, first, last, count}));
    const answer = await busy(press, (progress) => ask("varied", {name: name.value.trim(), keys, units: state.units, wish: state.wish}, progress), fault);
    if (!answer) return press.isConnected && list(); // plans that were whole; elsewhere the words of the end stay
    [chosen.base, ...chosen.others] = answer.plans;
    told.replaceChildren("Planned by ", el("code", {}, answer.varied));
    await list();
  });
  return section("Plan a range of one key, or of two", el("p", {class: "key"}, "A plan for each value, and the plan without the change as the base. Numbers are in the unit that the key ends with. ", parts.example),
    el("p", {class: "key"}, startsFrom("BATCH.toml")), rows.map((row) => el("div", {class: "fields"}, row.map(([, label]) => label))), keyList("varied"),
    el("div", {class: "fields"}, named), fault, el("div", {class: "buttons"}, press), told);
}

screen("compare", "Compare", (root) => {
  parts = {list: el("div", {class: "wide"}), result: el("div"), example: el("span")};
  root.append(section("Plans of this folder", parts.list), parts.result, state.info ? batch() : "");
  list().catch((faults) => say(textOf(faults), true));
});
