"use strict";
// The Trade off screen: the front between two goals, whose points are planned.
import {ask, busy, button, choice, el, fronts, laid, lines, opened, say, screen, startsFrom, state, table, textOf} from "./page.js";

let chosen = {goals: ["energy", "firm-power"], points: 21, folder: ""};

async function show(root) {
  if (!state.info) return root.append(el("p", {}, "Open a case on the Start screen."));
  const told = await ask("fronts").catch((faults) => say(textOf(faults), true));
  if (!told) return;
  const goal = (place, title) => el("label", {}, title, choice(Object.entries(told.goals), chosen.goals[place], (name) => { chosen.goals[place] = name; }));
  const count = el("input", {type: "number", min: 3, max: 201, value: chosen.points, oninput: () => { chosen.points = count.valueAsNumber; }});
  const fault = el("div", {class: "fault", role: "alert"}), front = el("div");
  const find = button("Find the front", async () => {
    const found = await busy(find, (progress) => ask("find-front", {...chosen, wish: state.wish}, progress), fault);
    if (!found) return;
    say(`Found in ${found.seconds} s: ${found.command}`);
    earlier.append(el("option", {value: found.folder}, found.folder));
    earlier.value = found.folder;
    draw(front, found);
  });
  const again = async (folder) => draw(front, await ask("front", {folder})), earlier = choice(told.fronts, told.fronts.includes(chosen.folder) ? chosen.folder : told.fronts.at(-1), again);
  root.replaceChildren(el("h2", {}, "What more of one goal costs of the other"), el("div", {class: "fields"}, goal(0, "Between"), goal(1, "and"), el("label", {}, "Points", count), el("label", {}, "Fronts in this folder", earlier)),
    el("p", {class: "key"}, startsFrom("its file"), state.info.system && " Of several reservoirs every point is planned by itself, one after the other: fewer points take less time, and the page ends a command after ten minutes."),
    el("div", {class: "buttons"}, find), fault, front);
  if (earlier.value) await again(earlier.value);
}

function draw(box, front) {
  chosen.folder = front.folder;
  const [first, second] = front.values, order = [...first.keys()].sort((a, b) => first[a] - first[b]);
  const buttons = front.points.map((name) => button(name, ({currentTarget}) => plan(front.folder, name, currentTarget), {"aria-label": `plan ${name}`}));
  const place = el("div", {class: "chart", role: "img", "aria-label": `${front.labels.join(" against ")}: the numbers stand in the table`});
  const svg = el("svg", {class: "handles", role: "group", "aria-label": "points of the front"});
  const marks = front.points.map((name, number) => {
    const text = `${name}: ${front.labels.map((label, goal) => `${label} ${front.shown[goal][number]}`).join(", ")}`;
    const act = () => buttons[number].click();
    return el("g", {class: "handle point", role: "button", tabindex: 0, "aria-label": `plan ${text}`, onclick: act, onkeydown: (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); act(); } },
      onfocus: () => say(text), onpointerenter: () => say(text)}, el("circle", {r: 16, class: "target"}), el("circle", {r: 6, class: "dot"}));
  });
  svg.append(...marks);
  const missed = front.missed.some(Boolean), cells = (number) => [buttons[number], ...front.shown.map((each) => each[number]), ...(missed ? [front.missed[number] ? "limits missed" : ""] : [])];
  box.replaceChildren(el("p", {class: "key"}, "A point, or its button in the table, plans it in full and opens it on the Plan screen."),
    el("div", {class: "plan"}, el("div", {class: "chart"}, place, svg), el("div", {}, table(["Point", ...front.labels, ...(missed ? ["Limits"] : [])], front.points.map((_, number) => cells(number)), `Front ${front.folder}`))));
  const move = (plot) => { const at = laid(svg, plot); marks.forEach((mark, number) => mark.setAttribute("transform", `translate(${at(first[number], second[number])})`)); };
  fronts(place, front.labels, {series: [{}, lines("#003c6c")], hooks: {draw: [move]}}, [order.map((each) => first[each]), order.map((each) => second[each])]);
}

async function plan(folder, point, press) {
  const made = await busy(press, (progress) => ask("plan-point", {folder, point}, progress));
  if (made && await opened(press, {plan: made.plan})) say(`Planned: ${made.command}`);
}

screen("tradeoff", "Trade off", show);
