"use strict";
// The Trade off screen: the front between two goals, whose points are planned.
import {ask, busy, chart, el, go, lines, open, say, screen, state, table, textOf} from "./page.js";

let chosen = {goals: ["energy", "firm-power"], points: 21, folder: ""};

async function show(root) {
  const box = el("div");
  root.append(box);
  if (!state.info) return box.append(el("p", {}, "Open a case on the Start screen."));
  const told = await ask("fronts").catch((faults) => say(textOf(faults), true));
  if (!told) return;
  const goal = (place, title) => {
    const node = el("select", {onchange: () => { chosen.goals[place] = node.value; }}, Object.entries(told.goals).map(([name, label]) => el("option", {value: name, selected: name === chosen.goals[place]}, label)));
    return el("label", {}, title, node);
  };
  const count = el("input", {type: "number", min: 3, max: 201, value: chosen.points, oninput: () => { chosen.points = count.valueAsNumber; }});
  const fault = el("div", {class: "fault", role: "alert"}), front = el("div");
  const find = el("button", {type: "button", onclick: async () => {
    fault.replaceChildren();
    const found = await busy(find, (progress) => ask("find-front", chosen, progress));
    if (!found) return fault.append(document.getElementById("state").textContent);
    say(`Found in ${found.seconds} s: ${found.command}`);
    earlier.append(el("option", {value: found.folder}, found.folder));
    earlier.value = found.folder;
    draw(front, found);
  }}, "Find the front");
  const earlier = el("select", {onchange: async () => draw(front, await ask("front", {folder: earlier.value}))}, told.fronts.map((name) => el("option", {value: name}, name)));
  box.append(el("h2", {}, "What more of one goal costs of the other"), el("div", {class: "fields"}, goal(0, "Between"), goal(1, "and"), el("label", {}, "Points", count), el("label", {}, "Fronts in this folder", earlier)),
    el("div", {class: "buttons"}, find), fault, front);
  if (!told.fronts.length) return;
  earlier.value = told.fronts.includes(chosen.folder) ? chosen.folder : told.fronts.at(-1);
  draw(front, await ask("front", {folder: earlier.value}));
}

function draw(box, front) {
  chosen.folder = front.folder;
  const [first, second] = front.values, order = [...first.keys()].sort((a, b) => first[a] - first[b]);
  const buttons = front.points.map((name) => el("button", {type: "button", onclick: () => plan(front.folder, name, buttons[front.points.indexOf(name)]), "aria-label": `plan ${name}`}, name));
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
  const move = (plot) => {
    const {left, top} = plot.over.getBoundingClientRect(), outer = plot.root.getBoundingClientRect();
    svg.setAttribute("width", plot.width);
    svg.setAttribute("height", plot.height);
    marks.forEach((mark, number) => mark.setAttribute("transform", `translate(${plot.valToPos(first[number], "x") + left - outer.left},${plot.valToPos(second[number], "y") + top - outer.top})`));
  };
  const numbers = (_, splits) => splits.map((each) => each.toLocaleString("en")), padded = (_, low, high) => { const more = (high - low || 1) / 20; return [low - more, high + more]; };
  chart(place, {scales: {x: {time: false, range: padded}, y: {range: padded}}, series: [{}, lines("#003c6c")], hooks: {draw: [move]},
    axes: [{label: front.labels[0], size: 44, space: 110, values: numbers}, {label: front.labels[1], size: 76, values: numbers}]}, [order.map((each) => first[each]), order.map((each) => second[each])]);
}

async function plan(folder, point, button) {
  const made = await busy(button, (progress) => ask("plan-point", {folder, point}, progress));
  const told = made && await busy(button, (progress) => ask("open", {plan: made.plan}, progress));
  if (!told) return;
  open(told);
  go("plan");
  say(`Planned: ${made.command}`);
}

screen("tradeoff", "Trade off", show);
