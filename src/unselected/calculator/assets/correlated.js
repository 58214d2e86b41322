"use strict";
// Likelihoods with correlations within classes: multivariate t distributions.

/** Return a function that solves equations with a positive definite matrix. */
function choleskySolver(matrix) {
  const n = matrix.length;
  const L = matrix.map((row) => Float64Array.from(row));
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let value = matrix[i][j];
      for (let m = 0; m < j; m += 1) value -= L[i][m] * L[j][m];
      L[i][j] = i === j ? Math.sqrt(value) : value / L[j][j];
    }
  }
  return (right) => {
    const x = Float64Array.from(right);
    for (let i = 0; i < n; i += 1) {
      for (let m = 0; m < i; m += 1) x[i] -= L[i][m] * x[m];
      x[i] /= L[i][i];
    }
    for (let i = n - 1; i >= 0; i -= 1) {
      for (let m = i + 1; m < n; m += 1) x[i] -= L[m][i] * x[m];
      x[i] /= L[i][i];
    }
    return x;
  };
}

class WithinClasses {
  constructor({ correlation, factor, spread, variances, shapes }, laws) {
    Object.assign(this, { factor, spread, variances, shapes, laws });
    this.correlation = correlation && symmetric(correlation, laws.variance.length);
    this.solvers = new Map();
  }

  /** Return what each known feature adds to log P(x | class), by shape: [shape][j][class]. */
  byFeature(values, scale) {
    const { location, variance, df, varying } = this.laws;
    const used = varying.filter((j) => !isMissing(values[j]));
    const G = location.length;
    return this.shapes.map((shape) => {
      const result = Array.from(values, () => new Float64Array(G));
      if (!used.length) return result;
      const solve = this._solver(used, shape.independence);
      for (let g = 0; g < G; g += 1) {
        const own = shape.variances === "by class and feature" ? this.variances[g] : null;
        const gaps = used.map((j) => {
          const gap = (values[j] - location[g][j]) / Math.sqrt(variance[j]) / scale;
          return own ? gap / Math.sqrt(own[j]) : gap;
        });
        const solved = solve(gaps);
        const products = gaps.map((gap, i) => gap * solved[i]);
        const logs = this._divided(products, shape, g, used, df);
        used.forEach((j, i) => {
          result[j][g] = logs[i];
        });
      }
      return result;
    });
  }

  _divided(products, shape, g, used, df) {
    const spread = shape.variances === "by class" ? this.spread[g] : 1;
    const terms = products.map((value) => value / (spread * df));
    const total = sum(terms);
    const share = total > 0 ? Math.log1p(total) / total : 1;
    const k = used.length;
    return terms.map((term, i) => {
      const log =
        shape.independence === 1
          ? -0.5 * (df + 1) * Math.log1p(term)
          : -0.5 * (df + k) * share * term;
      const variance = shape.variances === "by class and feature" ? this.variances[g][used[i]] : spread;
      return log - 0.5 * Math.log(variance);
    });
  }

  /** Return how equations with the shrunk correlations of some features are solved. */
  _solver(used, w) {
    if (w === 1) return (right) => right;
    const key = `${w}:${used.join()}`;
    if (!this.solvers.has(key)) {
      if (this.solvers.size > 50) this.solvers.clear();
      this.solvers.set(key, this._newSolver(used, w));
    }
    return this.solvers.get(key);
  }

  _newSolver(used, w) {
    if (this.correlation) {
      const R = this.correlation;
      return choleskySolver(used.map((i) => used.map((j) => (1 - w) * R[i][j] + (i === j ? w : 0))));
    }
    const U = this.factor.map((row) => used.map((j) => row[j]));
    const solveAmong = choleskySolver(
      U.map((a, i) => U.map((b, j) => dot(a, b) + (i === j ? w / (1 - w) : 0))),
    );
    const constant = used.map((_, i) => U.every((row) => row[i] === 0));
    return (right) => {
      const inner = solveAmong(U.map((row) => dot(row, right)));
      return right.map((value, i) => {
        if (constant[i]) return value;
        return (value - U.reduce((total, row, m) => total + row[i] * inner[m], 0)) / w;
      });
    };
  }
}

/** Return a symmetric matrix from its rows up to the diagonal, without that of ones. */
function symmetric(below, k) {
  const matrix = Array.from({ length: k }, () => new Float64Array(k).fill(1));
  let place = 0;
  for (let i = 0; i < k; i += 1) {
    for (let j = 0; j < i; j += 1) {
      matrix[i][j] = below[place];
      matrix[j][i] = below[place];
      place += 1;
    }
  }
  return matrix;
}

/** Return log P(x_j | class) of independent t distributions, [j][class]. */
function logIndependent(values, { location, variance, df, varying }, scale) {
  const result = Array.from(values, () => new Float64Array(location.length));
  for (const j of varying) {
    if (isMissing(values[j])) continue;
    location.forEach((of, g) => {
      const gap = (values[j] - of[j]) / scale;
      result[j][g] = -0.5 * (df + 1) * Math.log1p((gap * gap) / (df * variance[j]));
    });
  }
  return result;
}
