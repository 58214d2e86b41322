"use strict";
// Naive Bayes of bits and genotypes: log P(x = value) by value, class, node and vector of counts.

class Counts {
  constructor({ vectorOf, thresholds, rates, nodes }) {
    Object.assign(this, { vectorOf, thresholds, logWeights: nodes.logWeights });
    this.logs = rates.logs ? tablesByNode(rates) : tablesByAlpha(rates, nodes);
    this.G = this.logs[0].length;
    // At the mean of the posterior, for what single features add.
    const weights = this.logWeights.map(Math.exp);
    const mean = (table, v) => Math.log(table.reduce((t, row, i) => t + weights[i] * Math.exp(row[v]), 0));
    this.means = this.logs.map((tables) => tables.map((table) => table[0].map((_, v) => mean(table, v))));
  }

  /** Return values as bits; what is missing stays missing. Genotypes are as they should be. */
  read(values) {
    if (!this.thresholds) return values;
    return values.map((x, j) => (isMissing(x) ? NaN : Number(x > this.thresholds[j])));
  }

  byNode(row) {
    const known = this.vectorOf.map((_, j) => j).filter((j) => !isMissing(row[j]));
    const logs = Array.from({ length: this.G }, (_, g) =>
      this.logWeights.map((_, node) =>
        known.reduce((total, j) => total + this.logs[row[j]][g][node][this.vectorOf[j]], 0),
      ),
    );
    return { logs, logWeights: this.logWeights };
  }

  logEvidence(row) {
    const { logs, logWeights } = this.byNode(row);
    return logs.map((values) => logSum(values.map((value, node) => value + logWeights[node])));
  }

  logByFeature(row) {
    return row.map((x, j) => {
      if (isMissing(x)) return new Float64Array(this.G);
      return Float64Array.from(this.means[x], (of) => of[this.vectorOf[j]]);
    });
  }
}

/** Return a table from two of which it is the product. */
function productOf({ left, right }) {
  if (!right) return left;
  return left.map((row) => {
    const result = new Float64Array(right[0].length);
    right.forEach((other, r) => other.forEach((value, i) => (result[i] += row[r] * value)));
    return result;
  });
}

/** Return tables of all values: of the one that is left out they hold what the others leave. */
function tablesByNode({ logs, shape: [nValues, G, n], leftOut }) {
  const table = productOf(logs);
  const part = (row, value, g) => row.subarray((value * G + g) * n, (value * G + g + 1) * n);
  const each = (count, of) => Array.from({ length: count }, (_, i) => of(i));
  const others = each(nValues, (value) => each(G, (g) => table.map((row) => part(row, value, g))));
  const rest = others[0].map((ofClass, g) =>
    ofClass.map((row, node) =>
      row.map((_, v) => Math.log(-Math.expm1(logSum(others.map((of) => of[g][node][v]))))),
    ),
  );
  return [...others.slice(0, leftOut), rest, ...others.slice(leftOut)];
}

/** Return tables of all values with two groups of features. */
function tablesByAlpha({ u, ones, known, nullValues, thetaAndLogRatio }, nodes) {
  const n = nullValues[0].length;
  const table = productOf(thetaAndLogRatio).map((row) => nested(row, [row.length / n, n]));
  const theta = table.map((rows) => rows.slice(0, -1));
  const logRatio = table.map((rows) => rows[rows.length - 1]);
  const { alphaOf, logRelated, logRest } = fractionsOf(nodes);
  const related = alphaOf.map((alpha, node) =>
    logRatio[alpha].map((log) => expit(logRelated[node] - logRest[node] + log)),
  );
  const rest = alphaOf.map((alpha, node) =>
    logRatio[alpha].map((log) => expit(logRest[node] - logRelated[node] - log)),
  );
  // By class, alpha and vector: the probabilities of all values of related features.
  const draws = ones.map((of, g) =>
    theta.map((means, alpha) =>
      of.map((n, v) => furtherDraws(means.map((mean) => mean[v]), n, known[g][v], u[alpha])),
    ),
  );
  return nullValues.map((unrelated, value) =>
    draws.map((byAlpha) =>
      alphaOf.map((alpha, node) =>
        related[node].map((share, v) =>
          Math.log(share * byAlpha[alpha][v][value] + rest[node][v] * unrelated[v]),
        ),
      ),
    ),
  );
}

/**
 * Return the probabilities that 0, 1, ... of one or two further draws are ones, with u = 1 / alpha.
 * The means are those of theta, and for two draws of theta (1 - theta).
 */
function furtherDraws([theta, both], ones, known, u) {
  const zeros = known - ones;
  const total = 1 + known * u;
  if (both === undefined) return [(1 - theta + zeros * u) / total, (theta + ones * u) / total];
  const none = 1 - theta - both + (2 * zeros + 1) * u * (1 - theta) + zeros * (zeros + 1) * u ** 2;
  const one = 2 * (both + u * (zeros * theta + ones * (1 - theta)) + ones * zeros * u ** 2);
  const two = theta - both + (2 * ones + 1) * u * theta + ones * (ones + 1) * u ** 2;
  return [none, one, two].map((value) => value / total / (total + u));
}
