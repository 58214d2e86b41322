"use strict";
// Naive Bayes of binary features: tables of log P(x = 1) for each node, class and feature.

class Bits {
  constructor(form) {
    const { vectorOf, thresholds, alphas, nodes } = form;
    Object.assign(this, { vectorOf, thresholds, logWeights: nodes.logWeights });
    this.alphas = alphas;
    this.nodes = nodes;
    this.logOne = alphas.logOne ?? alphas.ones.map((_, g) => this._table(g));
    this.G = this.logOne.length;
    const zero = (value) => Math.log(-Math.expm1(value));
    this.logZero = this.logOne.map((table) => table.map((row) => row.map(zero)));
    // At the mean of the posterior, for what single features add.
    const weights = this.logWeights.map(Math.exp);
    const mean = (table, v) => Math.log(table.reduce((t, row, i) => t + weights[i] * Math.exp(row[v]), 0));
    const vectors = Array.from(this.logOne[0][0], (_, v) => v);
    this.meanOne = this.logOne.map((table) => vectors.map((v) => mean(table, v)));
    this.meanZero = this.logZero.map((table) => vectors.map((v) => mean(table, v)));
  }

  /**
   * Return log P(x = 1 | class g) by node and vector of counts, with two groups of features.
   * A related feature has (theta + ones u) / (1 + known u), where u = 1 / alpha.
   */
  _table(g) {
    const { u, theta, ones, known, logRatio, logNullOne } = this.alphas;
    const { alphaOf, logRelated, logRest } = fractionsOf(this.nodes);
    return Array.from(alphaOf, (alpha, node) =>
      theta[alpha].map((mean, v) => {
        const value = (mean + ones[g][v] * u[alpha]) / (1 + known[g][v] * u[alpha]);
        const logOdds = logRelated[node] - logRest[node] + logRatio[alpha][v];
        const related = expit(logOdds);
        return Math.log(related * value + expit(-logOdds) * Math.exp(logNullOne[v]));
      }),
    );
  }

  /** Return values as bits; what is missing stays missing. */
  read(values) {
    if (!this.thresholds) return values;
    return values.map((x, j) => (isMissing(x) ? NaN : Number(x > this.thresholds[j])));
  }

  byNode(row) {
    const logs = this.logOne.map((table, g) =>
      Float64Array.from(table, (ones, node) => {
        const zeros = this.logZero[g][node];
        let total = 0;
        row.forEach((x, j) => {
          if (!isMissing(x)) total += x === 1 ? ones[this.vectorOf[j]] : zeros[this.vectorOf[j]];
        });
        return total;
      }),
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
      const table = x === 1 ? this.meanOne : this.meanZero;
      return Float64Array.from(table, (of) => of[this.vectorOf[j]]);
    });
  }
}
