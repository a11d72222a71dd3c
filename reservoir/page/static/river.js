"use strict";
// A system as it is drawn: from above down, its reservoirs to choose one of, and the links between them.
import {el} from "./page.js";

const TALL = 36, DASHES = {"": null, spilled: "1 3"};

// `drawn` has places and links; `choose` is told the name of another place. Arrow keys go along the river.
export function river({places, links}, chosen, choose) {
  const apart = links.some(({carries, late}) => carries || late) ? 76 : 58;
  const wide = Math.max(...places.map(({name}) => name.length)) * 9 + 28, most = Math.max(...places.map(({x}) => x)) + 0.5;
  const at = new Map(places.map(({name, x, y}) => [name, [x * (wide + 24), y * apart + TALL / 2 + 4]]));
  const width = most * (wide + 24) + 60, height = Math.max(...places.map(({y}) => y)) * apart + TALL + (links.some(({to}) => !to) ? 34 : 8);
  const group = el("svg", {class: "river", role: "radiogroup", "aria-label": "Reservoirs of the system", viewBox: `0 0 ${width} ${height}`, width},
    links.map((link) => arrow(link, at, wide)),
    places.map(({name}, place) => {
      const [x, y] = at.get(name), own = name === chosen;
      return el("g", {role: "radio", "aria-checked": String(own), "aria-label": name, tabindex: own ? 0 : -1, transform: `translate(${x},${y})`,
        onclick: () => own || choose(name), onkeydown: (event) => go(event, place)},
        el("rect", {x: -wide / 2, y: -TALL / 2, width: wide, height: TALL, rx: 6}), el("text", {"text-anchor": "middle", y: 5}, name));
    }));
  function go(event, place) {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, " ": 0, Enter: 0}[event.key];
    if (step == null) return;
    event.preventDefault();
    choose(places[(place + step + places.length) % places.length].name);
  }
  return group;
}

// What leaves the system goes down from a corner.
function arrow({from, to, carries, late}, at, wide) {
  const [middle, y] = at.get(from), x = to ? middle : middle - wide / 2 + 14, [right, down] = at.get(to) ?? [x, y + TALL + 22];
  const [start, end] = [y + TALL / 2, down - TALL / 2 - 1], words = [carries, late && `${late} later`].filter(Boolean).join(", ");
  return el("g", {class: "link"},
    el("path", {d: `M${x} ${start}L${right} ${end - 6}`, "stroke-dasharray": carries in DASHES ? DASHES[carries] : "6 3"}),
    el("path", {class: "head", d: `M${right} ${end}l-5 -9h10z`}),
    words && el("text", {x: (x + right) / 2 + 8, y: (start + end) / 2 + 4}, words));
}
