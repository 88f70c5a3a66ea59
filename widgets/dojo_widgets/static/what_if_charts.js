// Accuracy by number of votes, and by share escalated: a line with its interval, and where the controls stand.

import { drawing, element } from "./dom.js";
import { fixed } from "./numbers.js";
import { accuracyAxis, areaPath, labelPlaces, linePath, scaleOf, spaced } from "./what_if_layout.js";
import { byShare, byVotes, nearest, outcomeAt, poolOf } from "./what_if_states.js";
import { shareWords, timesWords, votesWords } from "./what_if_words.js";

const SIZE = { left: 40, right: 12, top: 10 };
const LABELLED = 90;
const TICKED_SHARES = [0, 0.1, 0.2, 0.3, 0.4, 0.5];

// Returns { node, show(data, place), dispose() }; `onPick(change)` is called for a click on a point of a chart.
export function whatIfCharts({ onPick }) {
  const votes = chart("Accuracy by votes", { onPick });
  const share = chart("Accuracy by share escalated", { onPick });
  let last = null;
  const draw = () => {
    if (!last) return;
    const [data, place] = last;
    const [ofVotes, ofShare] = [byVotes(data, place), byShare(data, place)];
    const before = outcomeAt(data, { ...data.base, pool: place.pool });
    const limit = poolOf(data, place.pool).limit.value;
    const ends = [...ofVotes, ...ofShare].flatMap(({ lo, hi, low, high }) => [lo, hi, low, high]);
    const axis = accuracyAxis([...ends, limit, before.accuracy]);
    const common = { data, place, axis, before };
    votes.draw({ ...common, points: ofVotes, limit, kind: votesKind(data, place) });
    share.draw({ ...common, points: ofShare, spread: !place.use_stronger, kind: shareKind(ofShare, place, data.spread) });
  };
  const watch = new ResizeObserver(draw);
  for (const one of [votes, share]) watch.observe(one.node);
  return {
    node: element("section", { class: "panel charts", "aria-label": "Accuracy" }, votes.node, share.node),
    show: (data, place) => {
      last = [data, place];
      draw();
    },
    dispose: () => watch.disconnect(),
  };
}

function votesKind(data, place) {
  return {
    name: "votes",
    at: place.votes,
    log: true,
    title: "by votes",
    aside: `${shareWords(place.alpha)} escalated, ${shareWords(data.level)} interval`,
    ticks: data.sizes,
    room: 20,
    words: (k) => String(k),
    under: "votes a document",
    stop: (value) => nearest(data.sizes, value),
  };
}

function shareKind(points, place, spread) {
  const cost = (alpha) => points.reduce((best, one) => (Math.abs(one.x - alpha) < Math.abs(best.x - alpha) ? one : best));
  return {
    name: "alpha",
    at: place.alpha,
    title: "by share escalated",
    aside: place.use_stronger ? votesWords(place.votes).toLowerCase() : `dotted: ${fixed(place.escalated_accuracy, 2)} \u00b1 ${spread}`,
    ticks: TICKED_SHARES,
    room: 44,
    words: (alpha) => shareWords(alpha),
    beneath: (alpha) => `\u00d7${timesWords(cost(alpha).cost)}`,
    under: "escalated, cost in calls",
    stop: (value) => nearest(points.map(({ x }) => x), value),
  };
}

function chart(label, { onPick }) {
  const svg = drawing("svg", { role: "img" });
  const title = element("p", { class: "chart-title" });
  const node = element("div", { class: "chart" }, title, svg);
  let invert = null;
  svg.addEventListener("click", (event) => {
    if (invert) onPick(invert(event.clientX - svg.getBoundingClientRect().left));
  });
  return {
    node,
    draw: (what) => {
      const width = node.clientWidth;
      const height = svg.clientHeight || 150;
      if (!width) return;
      const { kind, points, axis } = what;
      title.replaceChildren(kind.title, element("span", { class: "aside soft" }, ` ${kind.aside}`));
      title.title = `${kind.title}, ${kind.aside}`;
      const base = height - (kind.beneath ? 46 : 34);
      const across = scaleOf([points[0].x, points.at(-1).x], [SIZE.left, width - SIZE.right], kind);
      const up = scaleOf([axis.low, axis.high], [base, SIZE.top]);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("aria-label", `${label}. ${spoken(points, kind)}`);
      svg.replaceChildren(...parts({ ...what, across, up, base, width }));
      invert = (x) => ({ [kind.name]: nearestX(points, across, x) });
    },
  };
}

function nearestX(points, across, x) {
  return points.reduce((best, one) => (Math.abs(across(one.x) - x) < Math.abs(across(best.x) - x) ? one : best)).x;
}

function spoken(points, kind) {
  const told = points.length > 12 ? points.filter((_, at) => at % 10 === 0) : points;
  return told
    .map((one) => `${kind.words(one.x)}: ${fixed(one.accuracy, 3)} [${fixed(one.lo, 3)}, ${fixed(one.hi, 3)}]`)
    .join(". ");
}

function parts(what) {
  return [...frame(what), ...areas(what), ...levels(what), ...line(what), ...stand(what)].filter(Boolean);
}

function frame({ axis, kind, across, up, base, width }) {
  const labels = spaced(kind.ticks, across, kind.room);
  return [
    ...axis.ticks.flatMap((tick) => [
      drawing("line", { class: "grid-line", x1: SIZE.left, x2: width - SIZE.right, y1: up(tick), y2: up(tick) }),
      drawing("text", { class: "end", x: SIZE.left - 6, y: up(tick) + 4 }, fixed(tick, axis.digits)),
    ]),
    ...labels.flatMap((tick) => {
      // The last label ends where the chart does.
      const isLast = kind.beneath && tick === labels.at(-1);
      const place = { class: isLast ? "end" : "middle", x: isLast ? width - 2 : across(tick) };
      const under = kind.beneath && drawing("text", { ...place, y: base + 29 }, kind.beneath(tick));
      return [drawing("text", { ...place, y: base + 15 }, kind.words(tick)), under];
    }),
    drawing("text", { class: "middle", x: (SIZE.left + width) / 2, y: base + (kind.beneath ? 43 : 30) }, kind.under),
  ];
}

function areas({ points, spread, across, up }) {
  const along = (name) => points.map((one) => [across(one.x), up(one[name])]);
  return [
    drawing("path", { class: "interval", d: areaPath(along("hi"), along("lo")) }),
    spread && drawing("path", { class: "assumption", d: areaPath(along("high"), along("low")) }),
  ];
}

// The levels are named where there is room beside the curve; the finding and the table name them everywhere.
function levels({ limit, before, up, width, across, points, base }) {
  const right = width - SIZE.right;
  const y = up(before.accuracy);
  const level = (name, at, from, words) =>
    drawing("line", { class: name, x1: from, x2: right, y1: at, y2: at }, drawing("title", {}, words));
  const [ofOne, tends] = [`one vote ${fixed(before.accuracy, 3)}`, `tends to ${fixed(limit ?? 0, 3)}`];
  const found = [level("before", y, SIZE.left, ofOne)];
  if (limit == null) return found;
  found.push(level("limit", up(limit), across(points[0].x), tends));
  if (base < LABELLED) return found;
  const [ofLimit, ofBefore] = labelPlaces(up(limit), y);
  return [
    ...found,
    drawing("text", { class: "halo end", x: right, y: ofBefore }, ofOne),
    drawing("text", { class: "halo end", x: right, y: ofLimit }, tends),
  ];
}

function line({ points, kind, across, up }) {
  const curve = drawing("path", { class: "curve", d: linePath(points.map((one) => [across(one.x), up(one.accuracy)])) });
  if (points.length > 12) return [curve];
  const dots = points.map((one) =>
    drawing(
      "g",
      { class: "dot-target" },
      drawing("title", {}, `${kind.words(one.x)}: ${fixed(one.accuracy, 3)} [${fixed(one.lo, 3)}, ${fixed(one.hi, 3)}]`),
      drawing("circle", { class: "dot", cx: across(one.x), cy: up(one.accuracy), r: 3 }),
    ),
  );
  return [curve, ...dots];
}

function stand({ points, kind, across, up, base }) {
  const here = points.find(({ x }) => x === kind.at);
  if (!here) return [];
  const x = across(here.x);
  return [
    drawing("line", { class: "stand", x1: x, x2: x, y1: SIZE.top, y2: base }),
    drawing("line", { class: "whisker", x1: x, x2: x, y1: up(here.hi), y2: up(here.lo) }),
    drawing("circle", { class: "here", cx: x, cy: up(here.accuracy), r: 5.5 }),
  ];
}
