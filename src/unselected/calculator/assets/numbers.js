"use strict";
// Numbers: packed arrays, sums of logarithms, the t distribution, quantiles of weighted values.

/** Return an array of doubles from base64, as nested arrays of the given shape. */
function unpackArray({ shape, f64 }) {
  const text = atob(f64);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const flat = Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  return nested(flat, shape);
}

function nested(flat, shape) {
  if (shape.length <= 1) return flat;
  const [n, ...rest] = shape;
  const size = rest.reduce((a, b) => a * b, 1);
  return Array.from({ length: n }, (_, i) => nested(flat.subarray(i * size, (i + 1) * size), rest));
}

/** Return a tree of JSON values with all packed arrays in it unpacked. */
function unpack(tree) {
  if (tree === null || typeof tree !== "object") return tree;
  if (Array.isArray(tree)) return tree.map(unpack);
  if ("f64" in tree) return unpackArray(tree);
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, unpack(value)]));
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);

function logSum(logs) {
  let top = -Infinity;
  for (let i = 0; i < logs.length; i += 1) if (logs[i] > top) top = logs[i];
  if (!Number.isFinite(top)) return top;
  let total = 0;
  for (let i = 0; i < logs.length; i += 1) total += Math.exp(logs[i] - top);
  return top + Math.log(total);
}

function logAddExp(a, b) {
  if (a === -Infinity && b === -Infinity) return -Infinity;
  return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
}

/** Return logs of numbers that sum to 1, in proportion to the given ones. */
function logNormalized(logs) {
  const total = logSum(logs);
  return logs.map((value) => value - total);
}

const expit = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const isMissing = (x) => Number.isNaN(x);

/** The log of the gamma function of x > 0, by Stirling's series. */
function logGamma(x) {
  let shift = 0;
  let product = 1;
  while (x + shift < 15) {
    product *= x + shift;
    shift += 1;
  }
  const z = x + shift;
  const w = 1 / (z * z);
  const series =
    (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - (w * 691) / 360360))))) / z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}

/** The regularized incomplete beta function: a continued fraction, by Lentz's method. */
function incompleteBeta(a, b, x, rest = 1 - x) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, rest, x);
  const logFront = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(rest);
  const away = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return (Math.exp(logFront) * fraction) / a;
}

/** The distribution function of Student's t. */
function studentCdf(t, df) {
  const tail = 0.5 * incompleteBeta(0.5 * df, 0.5, df / (df + t * t), (t * t) / (df + t * t));
  return t > 0 ? 1 - tail : tail;
}

/** The sine integral Si(x): a series near 0, and elsewhere a continued fraction. */
function sineIntegral(x) {
  const t = Math.abs(x);
  let value = 0;
  if (t <= 2.5) {
    let term = t;
    for (let k = 1; Math.abs(term) > 1e-18 * t && k < 60; k += 2) {
      value += term / k;
      term *= (-t * t) / ((k + 1) * (k + 2));
    }
  } else {
    // E1(it) = exp(-it) h, h = 1 / (1 + it - 1 / (3 + it - 4 / (5 + it - ...))), by Lentz's method.
    let [b, cr, ci] = [1, 1e300, 0];
    let size = 1 + t * t;
    let [dr, di] = [1 / size, -t / size];
    let [hr, hi] = [dr, di];
    for (let i = 1; i < 2000; i += 1) {
      const a = -i * i;
      b += 2;
      const [er, ei] = [a * dr + b, a * di + t];
      size = er * er + ei * ei;
      [dr, di] = [er / size, -ei / size];
      size = cr * cr + ci * ci;
      [cr, ci] = [b + (a * cr) / size, t - (a * ci) / size];
      const [sr, si] = [cr * dr - ci * di, cr * di + ci * dr];
      [hr, hi] = [hr * sr - hi * si, hr * si + hi * sr];
      if (Math.abs(sr - 1) + Math.abs(si) < 1e-16) break;
    }
    value = 0.5 * Math.PI + Math.cos(t) * hi - Math.sin(t) * hr;
  }
  return x < 0 ? -value : value;
}

/**
 * Return where an increasing function reaches a target, between two ends, to the last digits:
 * by the Illinois method, with a bisection after every second step.
 */
function increasingRoot(f, target, low, high) {
  let [a, b] = [low, high];
  let [fa, fb] = [f(a) - target, f(b) - target];
  for (let i = 0; i < 200; i += 1) {
    const guess = i % 3 === 2 ? NaN : a - (fa * (b - a)) / (fb - fa);
    const x = guess > a && guess < b ? guess : 0.5 * (a + b);
    const fx = f(x) - target;
    if (Math.abs(fx) < 2e-16 || b - a <= 4e-16 * (Math.abs(a) + Math.abs(b))) return x;
    if (fx < 0) {
      [a, fa, fb] = [x, fx, 0.5 * fb];
    } else {
      [b, fb, fa] = [x, fx, 0.5 * fa];
    }
  }
  return 0.5 * (a + b);
}

/** Return y at x on the line through points with increasing xs; beyond the ends it is constant. */
function interpolate(x, xs, ys) {
  const last = xs.length - 1;
  if (x <= xs[0]) return ys[0];
  if (x >= xs[last]) return ys[last];
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return ys[low] + ((ys[high] - ys[low]) * (x - xs[low])) / (xs[high] - xs[low]);
}

/** Return quantiles of weighted values; each value stands for the interval half-way to the next. */
function weightedQuantiles(values, weights, levels) {
  // Nodes that say nothing have equal values, but for rounding, which must not order them.
  const places = Float64Array.from(values, (value) => Math.round(value * 1e12));
  const order = Uint32Array.from(values, (_, i) => i).sort(
    (i, j) => places[i] - places[j] || weights[i] - weights[j],
  );
  const sorted = Float64Array.from(order, (i) => values[i]);
  const below = new Float64Array(order.length);
  let total = 0;
  order.forEach((i, place) => {
    total += weights[i];
    below[place] = total - 0.5 * weights[i];
  });
  return levels.map((level) => interpolate(level, below, sorted));
}
