"use strict";
// Predictions of classes: probabilities, their intervals, and what each feature adds.

const MANY_NODES = 100; // distributions over more values are replaced by so many quantiles

/** Binary and real-valued features together, at the mean of the posterior. */
class Families {
  constructor({ isBinary, binary, real }) {
    const places = (kind) => isBinary.flatMap((is, j) => (is === kind ? [j] : []));
    Object.assign(this, { bits: places(true), reals: places(false), real });
    this.binary = binary && new Counts(binary);
    this.covariates = real?.covariates && new GivenCovariates(real.covariates);
  }

  logByFeature(row, coded) {
    const result = Array.from(row);
    const fill = (places, logs) => places.forEach((j, i) => (result[j] = logs[i]));
    if (this.binary) fill(this.bits, this.binary.logByFeature(this.bits.map((j) => row[j])));
    if (this.real) {
      const { values, scale } = this.given(this.reals.map((j) => row[j]), coded);
      fill(this.reals, logIndependent(values, this.real.laws, scale));
    }
    return result;
  }

  logEvidence(row, coded) {
    let total = null;
    if (this.real) {
      const { values, scale } = this.given(this.reals.map((j) => row[j]), coded);
      total = columnSums(logIndependent(values, this.real.laws, scale));
    }
    if (!this.binary) return total;
    const bits = this.binary.logEvidence(this.bits.map((j) => row[j]));
    return total ? total.map((value, g) => value + bits[g]) : bits;
  }

  logPrior(coded) {
    return this.covariates?.logProba(coded);
  }

  given(row, coded) {
    return this.covariates ? this.covariates.given(row, coded) : { values: row, scale: 1 };
  }
}

/** Return the sums over features, by class. */
function columnSums(rows) {
  return rows.reduce((total, row) => total.map((value, g) => value + row[g]), rows[0].map(() => 0));
}

const FITTED = { counts: Counts, real: Real, families: Families };

/** A fitted model of classes with its guard against dependence. */
class ClassModel {
  constructor({ logPsi, fitted, average, within }) {
    Object.assign(this, { logPsi });
    this.fitted = new FITTED[fitted.family](fitted);
    this.average = new Average(average);
    this.within = within && new WithinClasses(within, within.laws);
  }

  /** Return a row as the model sees it. */
  read(values) {
    return this.fitted.read ? this.fitted.read(values) : values;
  }

  logPrior(coded) {
    return this.fitted.logPrior?.(coded) ?? this.logPsi;
  }

  _others(row, coded) {
    if (!this.within) return [];
    const { values, scale } = this.fitted.given ? this.fitted.given(row, coded) : { values: row, scale: 1 };
    return this.within.byFeature(values, scale);
  }

  /** Return log P(x | class) by each likelihood. */
  evidence(row, coded) {
    return [this.fitted.logEvidence(row, coded), ...this._others(row, coded).map(columnSums)];
  }

  byFeature(row, coded) {
    return [this.fitted.logByFeature(row, coded), ...this._others(row, coded)];
  }

  byNode(row, coded) {
    return this.fitted.byNode(row, coded);
  }
}

/** Return the log class probabilities before features are seen, in another population. */
function logPriorWith(model, coded, prevalence) {
  const logPrior = model.logPrior(coded);
  if (!prevalence) return logPrior;
  const total = sum(prevalence);
  const logOdds = prevalence.map((value) => Math.log(value / total));
  if (logPrior === model.logPsi) return logOdds;
  return logNormalized(logPrior.map((value, g) => value + logOdds[g] - model.logPsi[g]));
}

/** What is wanted of a case: all of it from one evaluation of the model. */
class ClassPrediction {
  constructor(model, values, coded, prevalence) {
    Object.assign(this, { model, coded });
    this.row = model.read(values);
    this.logPrior = Array.from(logPriorWith(model, coded, prevalence));
    this.evidence = model.evidence(this.row, coded);
    this.logProba = model.average.logProba(this.evidence, this.logPrior);
  }

  get probabilities() {
    return this.logProba.map(Math.exp);
  }

  /** Return [lower, upper] for each class: quantiles over nodes and powers. */
  intervals(level) {
    const tails = [0.5 * (1 - level), 0.5 * (1 + level)];
    const parts = this._parts();
    return this.logPrior.map((_, g) => {
      const values = parts.flatMap((part) => Array.from(part.values[g]));
      const weights = parts.flatMap((part) => Array.from(part.weights[g], (w) => w * part.share));
      return weightedQuantiles(values, weights, tails);
    });
  }

  /** Return probabilities and weights by class, for each likelihood. */
  _parts() {
    const { powers } = this.model.average;
    const { logs, logWeights } = this.model.byNode(this.row, this.coded);
    const joint = logWeights.map((weight, node) =>
      logSum(logs.map((of, g) => of[node] + this.logPrior[g] + weight)),
    );
    const weights = logNormalized(joint).map(Math.exp);
    const parts = [this._byPower(logs, weights, powers[0])];
    this.evidence.slice(1).forEach((evidence, i) => {
      parts.push(this._byPower(Array.from(evidence, (value) => [value]), [1], powers[i + 1]));
    });
    return parts;
  }

  /** Return P(class | x) for each node and each power, and their weights. */
  _byPower(logs, weights, power) {
    const G = logs.length;
    const part = { values: logs.map(() => []), weights: logs.map(() => []), share: power.weight };
    const total = sum(power.points.map(({ logWeight }) => Math.exp(logWeight)));
    const byEta = new Map(power.points.map(({ eta }) => [eta, []]));
    for (const point of power.points) byEta.get(point.eta).push(point);
    for (const [eta, points] of byEta) {
      const probability = logs.map(() => new Float64Array(weights.length));
      for (let node = 0; node < weights.length; node += 1) {
        const terms = logNormalized(logs.map((of, g) => eta * of[node] + this.logPrior[g]));
        for (let g = 0; g < G; g += 1) probability[g][node] = Math.exp(terms[g]);
      }
      for (let g = 0; g < G; g += 1) {
        const thin = thinned(probability[g], weights, power.points.length);
        const prior = Math.exp(this.logPrior[g]);
        thin.values.forEach((value, i) => {
          for (const { epsilon, logWeight } of points) {
            part.values[g].push((1 - epsilon) * value + epsilon * prior);
            part.weights[g].push((thin.weights[i] * Math.exp(logWeight)) / total);
          }
        });
      }
    }
    return part;
  }

  /** Return prior log odds, what each feature adds, and the log odds; see `odds`. */
  explanation() {
    const { powers } = this.model.average;
    const logs = this.model.byFeature(this.row, this.coded);
    const contributions = Array.from(this.row, (_, j) =>
      odds(
        this.logPrior.map((_, g) =>
          powers.reduce((total, power, i) => total + power.weight * power.meanPower * logs[i][j][g], 0),
        ),
      ),
    );
    return { prior: odds(this.logPrior), contributions, logOdds: odds(this.logProba) };
  }
}

/** Replace distributions over many nodes by some of their quantiles, denser in the tails. */
function thinned(values, weights, nPowers) {
  if (values.length <= MANY_NODES || nPowers === 1) return { values, weights };
  const levels = Array.from({ length: MANY_NODES }, (_, i) => expit(-9 + (18 * i) / (MANY_NODES - 1)));
  const shares = levels.map((level) => level * (1 - level));
  const total = sum(shares);
  return {
    values: weightedQuantiles(values, weights, levels),
    weights: shares.map((share) => share / total),
  };
}

/** Return log odds: of the second of two classes, or of each against the geometric mean of all. */
function odds(logs) {
  if (logs.length === 2) return [logs[1] - logs[0]];
  const mean = sum(logs) / logs.length;
  return logs.map((value) => value - mean);
}
