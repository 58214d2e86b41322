"use strict";
// A real response, predicted by naive Bayes: its density on a grid of its own for each row.
// The grid is equidistant in z, where y = mean + unit sinh(z). Sums over it converge geometrically.

const SCAN = 0.5; // step of the scan for peaks
const POINTS = 33; // of a grid at first; they are doubled until sums agree
const MOST_POINTS = 1 << 15;
const NEGLIGIBLE = 60; // log densities so far below the largest are left out
const AGREEMENT = 1e-6; // of sums with and without every second point; the error is its square
const FARTHEST_FEATURE = 1e8; // in deviations

class RegressionModel {
  constructor(form) {
    Object.assign(this, { form, varying: form.varying });
    this.posterior = posteriorOf(form);
  }

  /** Return the prediction of a row: a density on a grid. */
  predict(values, coded) {
    const { form, posterior } = this;
    const law = { center: form.yMean, leverage: form.leverage };
    if (form.covariates) {
      const z = basisOf(form.covariates.axes, coded);
      law.center = dot(form.covariates.coefficients, z);
      law.leverage = quadraticForm(form.covariates.inverse, z);
      posterior.moveTo(contrastsAt(form.contrasts, z));
    }
    const x = this.varying.map((j) => values[j]).map((value, j) => this._clipped(value, j));
    const near = new Grid(this, law, (y) => this._logFeatures(x, y));
    if (!posterior.isDoubtful(this._terms(x, near.likeliest))) return near;
    return new Grid(this, law, (y) => posterior.logPredictiveFar(x, [y / form.unit]));
  }

  _clipped(x, j) {
    const { mean } = this.posterior.laws.contrasts;
    const reach = FARTHEST_FEATURE * Math.sqrt(this.posterior.laws.squares[j][0]);
    return isMissing(x) ? x : mean[j] + Math.max(-reach, Math.min(reach, x - mean[j]));
  }

  _terms(x, y) {
    return this.posterior.logTerms(x, [y / this.form.unit]);
  }

  _logFeatures(x, y) {
    return logSum(this._terms(x, y));
  }
}

/** A predictive distribution on a grid. */
class Grid {
  constructor({ form }, { center, leverage }, logFeatures) {
    Object.assign(this, { center, unit: form.unit });
    const squares = form.n * form.unit ** 2 * (1 + leverage);
    const logOf = (z) => {
      const away = form.unit * Math.sinh(z);
      const logPrior = -0.5 * (form.df + 1) * Math.log1p(away ** 2 / squares);
      return logPrior + logFeatures(center + away) + Math.log(Math.cosh(z));
    };
    this._place(logOf, 6 + 40 / form.df);
    this._normalize(logOf);
  }

  /** Find an interval of z that has all of the mass, and little else. */
  _place(logOf, farthest) {
    let [low, high] = [-Math.ceil(farthest), Math.ceil(farthest)];
    for (;;) {
      const scan = Array.from({ length: Math.round((high - low) / SCAN) + 1 }, (_, i) => low + SCAN * i);
      const values = scan.map(logOf);
      const best = Math.max(...values);
      if (Math.max(values[0], values[values.length - 1]) < best - NEGLIGIBLE) {
        const isPeak = (v, i) => i > 0 && i < scan.length - 1 && v >= values[i - 1] && v > values[i + 1];
        const peaks = scan.filter((_, i) => isPeak(values[i], i));
        [this.low, this.high] = [peaks[0] - SCAN, peaks[peaks.length - 1] + SCAN];
        break;
      }
      [low, high] = [Math.floor(1.5 * low), Math.ceil(1.5 * high)];
    }
    this._widen(logOf);
    for (;;) {
      const z = this._points(POINTS);
      const values = z.map(logOf);
      const best = Math.max(...values);
      const live = values.map((value) => value > best - NEGLIGIBLE);
      const first = Math.max(live.indexOf(true) - 1, 0);
      const last = Math.min(live.lastIndexOf(true) + 1, POINTS - 1);
      [this.low, this.high] = [z[first], z[last]];
      if (last - first >= (POINTS - 1) / 2) return;
    }
  }

  /** Move both ends out until no mass is outside. */
  _widen(logOf) {
    for (;;) {
      const width = this.high - this.low;
      const [left, middle, right] = [this.low, 0.5 * (this.low + this.high), this.high].map(logOf);
      const least = Math.max(left, middle, right) - NEGLIGIBLE;
      if (left <= least && right <= least) return;
      if (left > least) this.low -= width;
      if (right > least) this.high += width;
    }
  }

  _points(n) {
    const step = (this.high - this.low) / (n - 1);
    return Array.from({ length: n }, (_, i) => this.low + step * i);
  }

  _normalize(logOf) {
    let z = this._points(POINTS);
    let logs = z.map(logOf);
    while (!converged(z, logs) && z.length < MOST_POINTS) {
      const finer = this._points(2 * z.length - 1);
      const known = logs;
      logs = finer.map((place, i) => (i % 2 === 0 ? known[i / 2] : logOf(place)));
      z = finer;
    }
    this.z = z;
    this.step = z[1] - z[0];
    this.weights = logNormalized(logs).map(Math.exp);
    this.likeliest = this._y(z[logs.indexOf(Math.max(...logs))]);
  }

  _y(z) {
    return this.center + this.unit * Math.sinh(z);
  }

  get mean() {
    return this.center + this.unit * dot(this.weights, this.z.map(Math.sinh));
  }

  get std() {
    const y = this.z.map(Math.sinh);
    const mean = dot(this.weights, y);
    return this.unit * Math.sqrt(dot(this.weights, y.map((value) => (value - mean) ** 2)));
  }

  /** Return P(response below that of z): a series of sine integrals. */
  _cdf(z) {
    const below = this.z.map((place) => 0.5 + sineIntegral((Math.PI * (z - place)) / this.step) / Math.PI);
    return dot(this.weights, below);
  }

  quantile(level) {
    let [low, high] = [0, this.z.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this._cdf(this.z[middle]) < level) low = middle;
      else high = middle;
    }
    return this._y(increasingRoot((z) => this._cdf(z), level, this.z[low], this.z[high]));
  }
}

/** Whether every second point gives the same integral, mean and variance. */
function converged(z, logs) {
  const weights = logNormalized(logs).map(Math.exp);
  const mean = dot(weights, z);
  const spread = Math.sqrt(dot(weights, z.map((value) => (value - mean) ** 2)));
  return [0, 1, 2].every((power) => {
    const terms = weights.map((weight, i) => weight * ((z[i] - mean) / Math.max(spread, 1e-300)) ** power);
    const even = sum(terms.filter((_, i) => i % 2 === 0));
    return Math.abs(2 * even - sum(terms)) <= AGREEMENT;
  });
}
