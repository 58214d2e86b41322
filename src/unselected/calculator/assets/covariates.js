"use strict";
// Covariates: their coding, what they say of the classes, and features as they would be without.

/** Return the values of covariates as the numbers that the model needs. */
function codeCovariates(columns, values) {
  return columns.flatMap(({ kind, levels }, i) => {
    if (kind !== "levels") return [values[i]];
    return levels.slice(1).map((_, place) => Number(values[i] === place + 1));
  });
}

/** Return the uncorrelated axes of coded covariates, with the intercept first. */
function basisOf({ center, transform }, coded) {
  const away = coded.map((value, i) => value - center[i]);
  const axes = transform.length ? transform[0].length : 0;
  return [1, ...Array.from({ length: axes }, (_, a) => sum(away.map((value, i) => value * transform[i][a])))];
}

const quadraticForm = (matrix, z) => sum(z.map((value, i) => value * dot(matrix[i], z)));

class GivenCovariates {
  constructor(form) {
    Object.assign(this, form);
  }

  basis(coded) {
    return basisOf(this.axes, coded);
  }

  /** Return features as they would be with the mean covariates, and a factor of their deviations. */
  given(row, coded) {
    const z = this.basis(coded);
    const leverage = quadraticForm(this.inverse, z);
    const scale = Math.sqrt((1 + leverage) / (1 + 1 / this.n));
    const away = z.map((value, i) => value - this.meanCovariates[i]);
    const values = Array.from(row, (x, j) => x - sum(away.map((value, i) => value * this.slopes[i][j])));
    return { values, scale };
  }

  /** Return log P(class | covariates): softmax averaged over the normal law of the logits. */
  logProba(coded) {
    const { axes, mean, covariance, nodes, weights, contrasts, logTotals } = this.classes;
    if (!axes.transform.length || !axes.transform[0].length) return Array.from(logTotals);
    const z = basisOf(axes, coded);
    const [q, k] = [mean.length, z.length];
    const center = mean.map((row) => dot(row, z));
    const spread = Array.from({ length: q }, (_, a) =>
      Array.from({ length: q }, (_, b) =>
        sum(z.map((zi, i) => zi * sum(z.map((zj, j) => zj * covariance[a * k + i][b * k + j])))),
      ),
    );
    const root = symmetricRoot(spread);
    const logs = Array.from(logTotals, () => []);
    nodes.forEach((node, i) => {
      const at = center.map((value, b) => value + sum(Array.from(node, (x, a) => x * root[a][b])));
      const proba = logNormalized(contrasts.map((row) => dot(row, at)));
      proba.forEach((value, g) => logs[g].push(value + Math.log(weights[i])));
    });
    return logNormalized(logs.map(logSum));
  }
}

/** Return the symmetric root of a positive semidefinite matrix, by Jacobi's rotations. */
function symmetricRoot(matrix) {
  const n = matrix.length;
  const A = matrix.map((row) => Array.from(row));
  const V = A.map((_, i) => A.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 60; sweep += 1) {
    let off = 0;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (A[p][q] === 0) continue;
        off = Math.max(off, Math.abs(A[p][q]));
        const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let i = 0; i < n; i += 1) {
          [A[i][p], A[i][q]] = [c * A[i][p] - s * A[i][q], s * A[i][p] + c * A[i][q]];
        }
        for (let i = 0; i < n; i += 1) {
          [A[p][i], A[q][i]] = [c * A[p][i] - s * A[q][i], s * A[p][i] + c * A[q][i]];
          [V[i][p], V[i][q]] = [c * V[i][p] - s * V[i][q], s * V[i][p] + c * V[i][q]];
        }
      }
    }
    if (off < 1e-300) break;
  }
  const roots = A.map((row, i) => Math.sqrt(Math.max(row[i], 0)));
  return V.map((a) => V.map((b) => sum(roots.map((root, m) => a[m] * root * b[m]))));
}
