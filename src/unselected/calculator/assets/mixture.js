"use strict";
// The front door for a real response: an average over regressions, a mixture of t distributions.

const FARTHEST_VALUE = 1e6; // in deviations, of a feature of a direct regression
const LARGEST_SIGNAL = 4; // prior variance of a regression, in units of that of the response

/** A ridge regression on the features and, where it is quadratic, products of combinations. */
class DirectRegression {
  constructor(form) {
    Object.assign(this, form);
  }

  _map(row) {
    const k = row.length;
    const z = row.map((x, j) => {
      if (isMissing(x)) return 0;
      const away = (x - this.mean[j]) / this.scale[j];
      return Math.max(-FARTHEST_VALUE, Math.min(FARTHEST_VALUE, away)) / Math.sqrt(Math.max(k, 1));
    });
    const r = this.components.length ? this.components[0].length : 0;
    const scores = Array.from({ length: r }, (_, c) => sum(z.map((value, j) => value * this.components[j][c])));
    const products = scores.flatMap((a, i) =>
      scores.slice(i).map((b, j) => a * b * (j === 0 ? Math.sqrt(0.5) : 1)),
    );
    return [...z, ...products].map((value, i) => value - this.center[i]);
  }

  /** Return the location and squared scale of each component. */
  lawsOf(row) {
    const phi = this._map(row);
    const m = this.lengths.length;
    const seen = Array.from({ length: m }, (_, a) => sum(phi.map((value, i) => value * this.axes[i][a])));
    const unseen = phi.map((value, i) => value - dot(this.axes[i], seen));
    const [size, sizeUnseen] = [dot(phi, phi), dot(unseen, unseen)];
    const laws = Array.from(this.ridges, (ridge, r) => {
      let [mean, spread] = [0, 0];
      for (let a = 0; a < m; a += 1) {
        const shrunk = 1 + ridge * this.lengths[a] ** 2;
        mean += ((ridge * this.along[a]) / shrunk) * seen[a] * this.lengths[a];
        spread += (ridge / shrunk) * seen[a] ** 2;
      }
      const noise = this.noise[r];
      const before = noise * ridge * size;
      const after = Math.max(noise * (spread + ridge * sizeUnseen), 1e-9 * noise);
      const more = Math.max(1 / LARGEST_SIGNAL - 1 / Math.max(before, 1e-300), 0);
      const share = 1 / (1 + more * after);
      return {
        location: this.yCenter + this.unit * share * mean,
        squares: this.unit ** 2 * (noise * (1 + 1 / this.n) + share * after),
      };
    });
    return this.live.map(([r, scale]) => ({
      location: laws[r].location,
      squares: laws[r].squares * this.scales[scale],
    }));
  }
}

/** A regression of the features on the response, turned around. */
class InverseRegression {
  constructor(form) {
    Object.assign(this, form);
  }

  lawsOf(row) {
    const gaps = row.map((x, j) => (isMissing(x) ? 0 : (x - this.intercept[j]) / this.deviation[j]));
    const along = this.candidates.map(({ solved, precision, independent }) => {
      if (!independent) return { product: dot(gaps, solved), precision };
      const known = row.map((x, j) => (isMissing(x) ? 0 : solved[j] ** 2));
      return { product: dot(gaps, solved), precision: sum(known) };
    });
    return this.live.map(([candidate, power]) => {
      const { product, precision } = along[candidate];
      const eta = this.powers[power];
      const total = 1 + eta * precision;
      return {
        location: this.yCenter + (this.unit * eta * product) / total,
        squares: (this.unit ** 2 * (1 + 1 / this.n)) / total,
      };
    });
  }
}

class ResponseStack {
  constructor(form) {
    Object.assign(this, { prior: form.prior, covariates: form.covariates });
    this.transform = form.transform && new ResponseTransform(form.transform);
    this.normal = form.normal && new NormalScores(form.normal);
    const kinds = { linear: DirectRegression, quadratic: DirectRegression, inverse: InverseRegression };
    this.members = form.members.map((member) => ({ ...member, model: new kinds[member.kind](member.model) }));
  }

  predict(values, coded) {
    let row = Array.from(values);
    let scores = this.normal ? this.normal.apply(row) : row;
    let [moved, factor] = [0, 1];
    if (this.covariates) {
      const { axes, coefficients, inverse, n, slopes } = this.covariates;
      const z = basisOf(axes, coded);
      moved = dot(coefficients, z);
      factor = (1 + quadraticForm(inverse, z)) / (1 + 1 / n);
      row = scores.map(
        (x, j) => (x - sum(z.map((value, i) => value * slopes[i][j]))) / Math.sqrt(factor),
      );
      scores = row;
    }
    const parts = this.prior.map((part) => ({ ...part }));
    for (const { columns, normal, model, df, weights } of this.members) {
      const seen = columns.map((j) => (normal ? scores : row)[j]);
      model.lawsOf(seen).forEach((law, i) => parts.push({ ...law, weight: weights[i], df }));
    }
    const total = sum(parts.map(({ weight }) => weight));
    const mixture = new StudentMixture(
      parts.map((part) => ({
        df: part.df,
        weight: part.weight / total,
        location: moved + Math.sqrt(factor) * part.location,
        squares: part.squares * factor,
      })),
    );
    return this.transform ? new TransformedMixture(mixture, this.transform) : mixture;
  }
}

/** The Box-Cox transform of a skewed response, straight beyond the training responses. */
class ResponseTransform {
  constructor(form) {
    Object.assign(this, form);
    this.ends = [this.shift, (this.high - this.low) / this.unit + this.shift].map((u) => this._boxCox(u));
  }

  _boxCox(u) {
    return this.power === 0 ? Math.log(u) : (u ** this.power - 1) / this.power;
  }

  apply(y) {
    const inside = Math.max(this.low, Math.min(this.high, this.sign * y));
    const u = (inside - this.low) / this.unit + this.shift;
    const beyond = (u ** (this.power - 1) * (this.sign * y - inside)) / this.unit;
    return this.center + this.sign * this.scale * (this._boxCox(u) + beyond);
  }

  invert(z) {
    const wanted = (this.sign * (z - this.center)) / this.scale;
    const inside = Math.max(this.ends[0], Math.min(this.ends[1], wanted));
    const u = this.power === 0 ? Math.exp(inside) : (1 + this.power * inside) ** (1 / this.power);
    const beyond = (wanted - inside) * u ** (1 - this.power);
    return this.sign * (this.low + this.unit * (u - this.shift + beyond));
  }
}

/** Distributions of the response, where its transform has a mixture of t distributions. */
class TransformedMixture {
  constructor(mixture, transform) {
    Object.assign(this, { mixture, transform });
    const points = Array.from({ length: 65 }, (_, i) => Math.sinh(transform.step * (i - 32)));
    const summed = mixture.parts.flatMap(({ weight, location, squares, df }) => {
      const heights = points.map((t) => Math.sqrt(1 + t * t) * (1 + (t * t) / df) ** (-(df + 1) / 2));
      const total = sum(heights);
      return points.map((t, i) => ({
        share: (weight * heights[i]) / total,
        y: transform.invert(location + Math.sqrt(squares) * t),
      }));
    });
    this.mean = sum(summed.map(({ share, y }) => share * y));
    this.std = Math.sqrt(sum(summed.map(({ share, y }) => share * (y - this.mean) ** 2)));
  }

  cdf(y) {
    return this.mixture.cdf(this.transform.apply(y));
  }

  quantile(level) {
    return this.transform.invert(this.mixture.quantile(level));
  }
}

class StudentMixture {
  constructor(parts) {
    this.parts = parts;
    this.mean = sum(parts.map(({ weight, location }) => weight * location));
    this.std = Math.sqrt(
      sum(
        parts.map(
          ({ weight, location, squares, df }) =>
            weight * ((squares * df) / (df - 2) + (location - this.mean) ** 2),
        ),
      ),
    );
  }

  cdf(y) {
    return sum(
      this.parts.map(
        ({ weight, location, squares, df }) => weight * studentCdf((y - location) / Math.sqrt(squares), df),
      ),
    );
  }

  quantile(level) {
    const ends = [-1, 1].map((sign) => {
      let width = this.std;
      while (sign * (this.cdf(this.mean + sign * width) - level) < 0) width *= 2;
      return this.mean + sign * width;
    });
    return increasingRoot((y) => this.cdf(y), level, ...ends);
  }
}
