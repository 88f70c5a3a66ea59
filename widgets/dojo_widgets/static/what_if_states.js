// What a place of the controls comes to: looked up and added, no DOM. The same as `outcome_at` in Python.

export const COSTS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50];
export const ACCURACIES = Array.from({ length: 51 }, (_, at) => (50 + at) / 100);

// The traits that a place consists of.
export const CONTROLS = [
  "pool",
  "votes",
  "alpha",
  "escalated_accuracy",
  "use_stronger",
  "escalated_cost",
  "tries",
  "fallback",
];

export function nearest(stops, value) {
  return stops.reduce((best, stop) => (Math.abs(stop - value) < Math.abs(best - value) - 1e-12 ? stop : best));
}

export function poolOf(data, key) {
  return data.pools.find((pool) => pool.key === key) || data.pools[0];
}

// A place on stops that were computed; what is missing or unknown is taken from the place shown first.
export function placeOf(data, asked) {
  const given = Object.fromEntries(CONTROLS.map((name) => [name, asked[name] ?? data.start[name]]));
  return {
    pool: poolOf(data, given.pool).key,
    votes: nearest(data.sizes, given.votes),
    alpha: nearest(data.shares, given.alpha),
    escalated_accuracy: Math.min(1, Math.max(data.assumed[0], given.escalated_accuracy)),
    use_stronger: Boolean(given.use_stronger) && data.stronger != null,
    escalated_cost: Math.max(0, given.escalated_cost),
    tries: nearest(data.tries, given.tries),
    fallback: Boolean(given.fallback),
  };
}

export function samePlace(a, b) {
  return CONTROLS.every((name) => a[name] === b[name]);
}

// A value between knots, on the straight line that joins their values.
export function between(knots, values, at) {
  const last = knots.length - 1;
  if (at <= knots[0]) return values[0];
  if (at >= knots[last]) return values[last];
  const above = knots.findIndex((knot) => knot >= at);
  const share = (at - knots[above - 1]) / (knots[above] - knots[above - 1]);
  return values[above - 1] + share * (values[above] - values[above - 1]);
}

export function sweepCell(data, { tries, fallback }) {
  return data.failures.sweep.find((cell) => cell.tries === tries && cell.fallback === fallback);
}

export function outcomeAt(data, place) {
  const pool = poolOf(data, place.pool);
  const row = pool.rows.find(({ k }) => k === place.votes);
  const step = data.shares.indexOf(place.alpha);
  const escalated = pool.escalated[step];
  const cell = sweepCell(data, place);
  const accuracy = place.use_stronger ? realAccuracy(row, step) : assumedAccuracy(data, pool, row, step, place);
  const calls = place.votes + (escalated / pool.n) * (place.escalated_cost - 1);
  return {
    ...accuracy,
    n: pool.n,
    escalated,
    tail: escalated ? (row.kept[0] - row.kept[step]) / escalated : null,
    strongerTail: pool.stronger_tail ? pool.stronger_tail[step] : null,
    attempts: cell.attempts,
    cost: calls * cell.attempts,
    wrong: (1 - accuracy.accuracy) * data.scale,
    failed: cell.rate * data.scale,
    failed_clustered: cell.clustered * data.scale,
  };
}

function realAccuracy(row, step) {
  const accuracy = row.real[step];
  return { accuracy, lo: row.real_lo[step], hi: row.real_hi[step], low: accuracy, high: accuracy };
}

function assumedAccuracy(data, pool, row, step, place) {
  const assumed = place.escalated_accuracy;
  const routed = (accuracy) => {
    return (row.kept[step] + pool.escalated[step] * Math.min(1, Math.max(0, accuracy))) / pool.n;
  };
  return {
    accuracy: routed(assumed),
    lo: between(data.assumed, row.lo[step], assumed),
    hi: between(data.assumed, row.hi[step], assumed),
    low: routed(assumed - data.spread),
    high: routed(assumed + data.spread),
  };
}

// What every number of votes comes to at a place: [{ x: k, ...outcome }].
export function byVotes(data, place) {
  return data.sizes.map((k) => ({ x: k, ...outcomeAt(data, { ...place, votes: k }) }));
}

// What every share comes to at a place: [{ x: alpha, ...outcome }].
export function byShare(data, place) {
  return data.shares.map((alpha) => ({ x: alpha, ...outcomeAt(data, { ...place, alpha }) }));
}
