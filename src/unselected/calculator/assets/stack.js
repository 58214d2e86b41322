"use strict";
// The front door for classes: an average over models with different numbers of features.

/** A transform of columns that makes their distributions normal. */
class NormalScores {
  constructor({ values, scores, scoresOf, slopes }) {
    Object.assign(this, { values, slopes });
    this.scores = scoresOf.map((place) => scores[place]);
  }
  apply(row) {
    return row.map((x, j) => {
      if (isMissing(x)) return NaN;
      const [values, scores] = [this.values[j], this.scores[j]];
      const beyond = x - Math.max(values[0], Math.min(values[values.length - 1], x));
      const tail = Math.max(-1, Math.min(1, this.slopes[j] * beyond));
      return interpolate(x, values, scores) + tail;
    });
  }
}

/** Evidence that is linear in the features. A missing value adds nothing, a row of them is none. */
class LinearEvidence {
  constructor({ centers, coefficients, intercepts }) {
    Object.assign(this, { centers, coefficients, intercepts });
  }
  byFeature(row) {
    return row.map((x, j) => {
      const gap = isMissing(x) ? 0 : x - this.centers[j];
      return Array.from(this.coefficients[j], (slope) => gap * slope);
    });
  }
  evidence(row) {
    const each = this.byFeature(row);
    const known = Number(!row.every(isMissing));
    return Array.from(this.intercepts, (own, g) => known * own + sum(each.map((of) => of[g])));
  }
}

class StackModel {
  constructor({ logPsi, members, normal, isBinary, thresholds, path, power, linear }) {
    Object.assign(this, { logPsi, thresholds, path, power });
    this.linear = linear && new LinearEvidence(linear);
    this.members = members.map(({ columns, logWeight, model }) => ({
      columns,
      logWeight,
      model: new ClassModel({ ...model, logPsi }),
    }));
    this.main = this.members[this.members.length - 1].model;
    this.normal = normal && new NormalScores(normal);
    this.reals = isBinary.flatMap((is, j) => (is ? [] : [j]));
    this.average = new Average([
      { logWeight: 0, eta: [1], share: [1], outlier: 0, meanPower: 1, points: { eta: [0], epsilon: [0], values: [0], logWeights: [0] } },
    ]);
  }

  read(values) {
    const row = Array.from(values, (x, j) => {
      const cut = this.thresholds[j];
      return cut === null || isMissing(x) ? x : Number(x > cut);
    });
    if (!this.normal) return row;
    this.normal.apply(this.reals.map((j) => row[j])).forEach((score, i) => (row[this.reals[i]] = score));
    return row;
  }

  logPrior(coded) {
    return this.main.fitted.logPrior(coded) ?? this.logPsi;
  }

  /** Return each member with the evidence that it gives a row. */
  _each(row, coded) {
    return this.members.map((member) => ({
      ...member,
      evidence: member.model.evidence(member.columns.map((j) => row[j]), coded),
    }));
  }

  evidence(row, coded) {
    return [this._pooled(this._evidence(this._each(row, coded), this.logPrior(coded)), this._linear(row))];
  }

  /** Return what is linear in the features, for each class. */
  _linear(row) {
    return this.linear ? this.linear.evidence(row) : this.logPsi.map(() => 0);
  }

  /** Return evidence of the average with its power, and with what is linear. */
  _pooled(evidence, linear) {
    return evidence.map((value, g) => this.power * value + linear[g]);
  }

  _evidence(each, logPrior, part = 1) {
    const logs = each.map(({ model, logWeight, evidence }) =>
      model.average
        .logProba(evidence.map((own) => own.map((value) => part * value)), Array.from(logPrior))
        .map((value) => value + logWeight),
    );
    return Array.from(logPrior, (prior, g) => logSum(logs.map((of) => of[g])) - prior);
  }

  /** Return the evidence of each member, likelihood and power, and their log weights. */
  byNode(row, coded) {
    const logPrior = Array.from(this.logPrior(coded));
    const logs = logPrior.map(() => []);
    const logWeights = [];
    const linear = this._linear(row);
    for (const { model, logWeight, evidence } of this._each(row, coded)) {
      model.average.powers.forEach((power, i) => {
        for (const point of power.points) {
          const own = logProbaAt(point, evidence[i], logPrior).map((value, g) => value - logPrior[g]);
          this._pooled(own, linear).forEach((value, g) => logs[g].push(value));
          logWeights.push(point.logWeight + power.logWeight + logWeight);
        }
      });
    }
    return { logs, logWeights: logNormalized(logWeights) };
  }

  /** Return what each feature adds: integrals along the path from no evidence to all of it. */
  byFeature(row, coded) {
    const logPrior = Array.from(this.logPrior(coded));
    const G = logPrior.length;
    const each = this._each(row, coded);
    const totals = Array.from(this.path.steps, (t) =>
      this._evidence(each, logPrior, t).map((value, g) => Math.exp(value + logPrior[g])),
    );
    const result = Array.from(row, () => new Float64Array(G));
    for (const { model, columns, logWeight, evidence } of each) {
      const logs = model.byFeature(columns.map((j) => row[j]), coded);
      model.average.powers.forEach((power, i) => {
        const factors = this._factors(power, evidence[i], logPrior, totals, logWeight);
        columns.forEach((column, j) => {
          for (let g = 0; g < G; g += 1) result[column][g] += dot(factors[g], logs[i][j]);
        });
      });
    }
    const added = this.linear ? this.linear.byFeature(row) : row.map(() => logPrior.map(() => 0));
    const found = result.map((values, j) => this._pooled(values, added[j]));
    return [this._withRest(found, this._pooled(this._evidence(each, logPrior), this._linear(row)))];
  }

  _factors(power, evidence, logPrior, totals, logWeight) {
    const share = Math.exp(logWeight + power.logWeight);
    const factors = logPrior.map(() => new Float64Array(logPrior.length));
    this.path.steps.forEach((t, s) => {
      const slope = power.slope(evidence.map((value) => t * value), logPrior);
      factors.forEach((row, g) => {
        for (let h = 0; h < row.length; h += 1) {
          row[h] += (this.path.weights[s] * share * slope[g][h]) / totals[s][g];
        }
      });
    });
    return factors;
  }

  /** Spread what is missing from contributions in proportion to their size. */
  _withRest(found, evidence) {
    const centred = (values) => {
      const mean = sum(values) / values.length;
      return values.map((value) => value - mean);
    };
    const own = found.map(centred);
    const missing = centred(evidence).map((value, g) => value - sum(own.map((row) => row[g])));
    const sizes = own.map((row) => row.map((value) => Math.abs(value) + 1e-300));
    const totals = missing.map((_, g) => sum(sizes.map((row) => row[g])));
    return found.map((row, j) => row.map((value, g) => value + (sizes[j][g] / totals[g]) * missing[g]));
  }
}
