"use strict";
// Two groups of features: a fraction pi of them is related to the response, the others are not.

/** The nodes of tau that nodes of tau and the fraction have, and the logs of the fractions. */
function fractionsOf({ lengths, logRelated }) {
  const places = lengths.map((_, i) => i);
  return {
    alphaOf: Array.from(repeat(places, lengths)),
    logRelated,
    logRest: logRelated.map((log) => Math.log(-Math.expm1(log))),
    related: logRelated.map(Math.exp),
    rest: logRelated.map((log) => -Math.expm1(log)),
  };
}

/** Return log(pi P + (1 - pi) P0), also where both are so near 1 that digits would be lost. */
function logMixed(logRelated, logRest, log, logNull) {
  if (log < -0.5 || logNull < -0.5) return logAddExp(logRelated + log, logRest + logNull);
  return Math.log1p(Math.exp(logRelated) * Math.expm1(log) + Math.exp(logRest) * Math.expm1(logNull));
}

/** Return the log of the average of exponentials. */
const logMean = (logs) => (logs.length === 1 ? logs[0] : logSum(logs) - Math.log(logs.length));

/** Features of which a fraction is related to the response, and the others are not. */
class TwoGroupPosterior {
  constructor({ contrasts, nodes, far }) {
    Object.assign(this, { nodes, contrasts, far, logWeights: nodes.logWeights });
    this.groups = this._groups(nodes.taus, fractionsOf(nodes));
    this.laws = this.groups.laws;
    this.featureLaws = this.laws;
    const logKept = this._mixed(this.groups, this.groups.logRatio.map((row) => row.map(logMean)));
    this.logRest = this.logWeights.map((weight, node) => weight - logKept[node]);
    this.featureWeights = this._featureWeights();
  }

  /** Return nodes of tau, each with all scales and at last 0, and what they say of training. */
  _groups(taus, fractions) {
    const { scales } = this.nodes;
    const u = Float64Array.from([...taus].flatMap((tau) => scales.map((s) => tau * s)).concat(0));
    const laws = new Laws(this.contrasts, u, new Float64Array(u.length));
    const { lam, df } = this.contrasts;
    const logs = laws.squares.map((squares, j) =>
      u.map((value, node) => {
        const explained = shared(lam, j).reduce((total, l) => total + Math.log1p(value * l), 0);
        return -0.5 * df[j] * Math.log(squares[node]) - 0.5 * explained;
      }),
    );
    const last = u.length - 1;
    const n = scales.length;
    // By tau, feature and scale.
    const logRatio = Array.from(taus, (_, t) =>
      logs.map((row) => Array.from({ length: n }, (_, s) => row[t * n + s] - row[last])),
    );
    return { laws, logRatio, ...fractions };
  }

  moveTo(contrasts) {
    this.laws.moveTo(contrasts);
    this.farGroups?.laws.moveTo(contrasts);
    this.contrasts = contrasts;
  }

  /** Return the sum over features of log(1 - pi + pi ratio) by node, from logs by tau. */
  _mixed({ alphaOf, logRelated, logRest, related, rest }, logRatio) {
    const result = new Float64Array(alphaOf.length);
    if (logRatio.some((row) => row.some((log) => Math.abs(log) > 200))) {
      // Products of such ratios could not be held.
      return result.map((_, node) => {
        const mixed = (total, log) => total + logAddExp(logRelated[node] + log, logRest[node]);
        return logRatio[alphaOf[node]].reduce(mixed, 0);
      });
    }
    const ratio = logRatio.map((row) => row.map(Math.exp));
    for (let node = 0; node < result.length; node += 1) {
      const own = ratio[alphaOf[node]];
      let logs = 0;
      let product = 1;
      for (let j = 0; j < own.length; j += 1) {
        product *= rest[node] + related[node] * own[j];
        if (product < 1e-200 || product > 1e200) {
          logs += Math.log(product);
          product = 1;
        }
      }
      result[node] = logs + Math.log(product);
    }
    return result;
  }

  /** Return log ratios of related to unrelated features by tau, and the log density of the latter. */
  _gained(x, code, { laws, logRatio }) {
    const last = laws.u.length - 1;
    const n = this.nodes.scales.length;
    let logNull = 0;
    const gained = logRatio.map(() => new Float64Array(laws.size));
    for (let j = 0; j < laws.size; j += 1) {
      const logs = laws.logDensity(j, x[j], laws.at(j, code));
      logNull += logs[last];
      for (let t = 0; t < gained.length; t += 1) {
        const own = logRatio[t][j];
        gained[t][j] =
          n === 1
            ? logs[t] - logs[last] + own[0]
            : logMean(own.map((value, s) => logs[t * n + s] - logs[last] + value));
      }
    }
    return { gained, logNull };
  }

  logDensities(x, code) {
    return this.logTerms(x, code).map((value, node) => value - this.logWeights[node]);
  }

  /** Return the logs of the terms of the sum over nodes. */
  logTerms(x, code) {
    const { gained, logNull } = this._gained(x, code, this.groups);
    const terms = this._mixed(this.groups, gained);
    for (let node = 0; node < terms.length; node += 1) terms[node] += this.logRest[node] + logNull;
    return terms;
  }

  logPredictive(x, code) {
    const terms = this.logTerms(x, code);
    return this.isDoubtful(terms) ? this.logPredictiveFar(x, code) : logSum(terms);
  }

  /** Return the same on nodes that reach as far as the prior does. */
  logPredictiveFar(x, code) {
    this.farGroups ??= this._farGroups();
    const { gained, logNull } = this._gained(x, code, this.farGroups);
    const mixed = this._mixed(this.farGroups, gained);
    return logSum(mixed.map((value, node) => value + this.farGroups.logTerms[node])) + logNull;
  }

  _farGroups() {
    const { taus, logPrior, logRelated, logOfFraction, omittedByTau, omittedByPattern, nOmitted } = this.far;
    const logOmitted = omittedByTau.map((row) =>
      nOmitted.map((_, pattern) => row.reduce((total, x, i) => total + x * omittedByPattern[i][pattern], 0)),
    );
    const n = logRelated.length;
    const fractions = fractionsOf({
      lengths: Array.from(taus, () => n),
      logRelated: Float64Array.from({ length: taus.length * n }, (_, node) => logRelated[node % n]),
    });
    const unrelated = logOmitted[taus.length];
    const logTerms = fractions.logRelated.map((related, node) => {
      const tau = fractions.alphaOf[node];
      const omitted = nOmitted.reduce((total, number, pattern) => {
        const log = logMixed(related, fractions.logRest[node], logOmitted[tau][pattern], unrelated[pattern]);
        return total + number * log;
      }, 0);
      return logPrior[tau] + logOfFraction[node % n] + omitted;
    });
    return { ...this._groups(taus, fractions), logTerms };
  }

  isDoubtful(terms) {
    const { leastFractionIsOne } = this.nodes;
    const { alphaOf } = this.groups;
    const top = terms.reduce((a, b) => Math.max(a, b), -Infinity);
    const of = Array.from(this.nodes.taus, () => ({ all: 0, even: 0, place: 0, first: 0, last: 0 }));
    terms.forEach((value, node) => {
      const tau = of[alphaOf[node]];
      const term = Math.exp(value - top);
      if (tau.place === 0) tau.first = term;
      tau.last = term;
      tau.all += term;
      if (tau.place % 2 === 0) tau.even += term;
      tau.place += 1;
    });
    if (isDoubtfulSum(of.map(({ all }) => Math.log(all)))) return true;
    if (leastFractionIsOne) return false;
    if (of.some(({ first, last }) => Math.max(first, last) > Math.exp(-FAR_DOWN))) return true;
    const difference = sum(of.map(({ all, even }) => Math.abs(2 * even - all)));
    return difference / sum(of.map(({ all }) => all)) > LARGEST_DIFFERENCE;
  }

  /** Return the posterior weights that each feature gives the taus, scales and tau = 0. */
  _featureWeights() {
    const { alphaOf, logRelated, logRest } = this.groups;
    const weights = this.logWeights.map(Math.exp);
    const n = this.nodes.scales.length;
    return Array.from({ length: this.laws.size }, (_, j) => {
      const result = new Float64Array(this.laws.u.length);
      const means = this.groups.logRatio.map((row) => logMean(row[j]));
      const of = new Float64Array(means.length);
      alphaOf.forEach((alpha, node) => {
        of[alpha] += weights[node] * expit(logRelated[node] - logRest[node] + means[alpha]);
      });
      of.forEach((weight, t) => {
        for (let s = 0; s < n; s += 1) {
          result[t * n + s] = (weight * Math.exp(this.groups.logRatio[t][j][s] - means[t])) / n;
        }
      });
      result[result.length - 1] = Math.max(1 - sum(result), 0);
      return result;
    });
  }
}
