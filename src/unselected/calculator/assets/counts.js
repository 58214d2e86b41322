"use strict";
// Naive Bayes of bits and genotypes: log P(x = value) by value, class, node and vector of counts.

class Counts {
  constructor({ vectorOf, thresholds, alphas, nodes }) {
    Object.assign(this, { vectorOf, thresholds, logWeights: nodes.logWeights });
    this.logs = alphas.logs ? withRest(alphas.logs) : tablesOf(alphas, nodes);
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

/** Return tables of all values: of the one that has none they hold what the others leave. */
function withRest(logs) {
  const others = logs.filter((tables) => tables !== null);
  const rest = others[0].map((table, g) =>
    table.map((row, node) => row.map((_, v) => Math.log(-Math.expm1(logSum(others.map((of) => of[g][node][v])))))),
  );
  return logs.map((tables) => tables ?? rest);
}

/** Return tables of all values with two groups of features. */
function tablesOf({ u, theta, ones, known, logRatio, nullValues }, nodes) {
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
