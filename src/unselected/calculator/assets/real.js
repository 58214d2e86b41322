"use strict";
// Naive Bayes of real-valued features: t distributions given nodes of tau, the size of effects.
// Given a code of the response phi (a unit vector for a class, a number for a real response),
// feature j has the location and the squared scale of `Laws.at`.

const LARGEST_VALUE = 1e100; // in deviations: further out values carry no more information
// A sum over nodes is doubtful where an end is not this far below the largest term, or where
// leaving out every second node changes it by more than this.
const FAR_DOWN = 25;
const LARGEST_DIFFERENCE = 1e-4;

const shared = (rows, j) => rows[rows.length === 1 ? 0 : j];

/** The contrasts of the features at given covariates z; without covariates, as they are. */
function contrastsAt(contrasts, z) {
  if (!contrasts.coefficients) return contrasts;
  const { center, coefficients, expected, inverse } = contrasts;
  const along = (matrix) => z.reduce((total, zi, i) => total + zi * dot(matrix[i], z), 0);
  const leverages = inverse.map(along);
  return {
    ...contrasts,
    mean: center.map((value, j) => value + dot(coefficients[j], z)),
    leverage: center.map((_, j) => shared(leverages, j)),
    codeMean: expected.map((matrix) =>
      matrix[0].map((_, d) => z.reduce((total, zi, i) => total + zi * matrix[i][d], 0)),
    ),
  };
}

/** The laws of the features at some nodes: u = tau^2, and d times the common variance. */
class Laws {
  constructor(contrasts, u, drawn) {
    const { beta, lam, within } = contrasts;
    this.u = u;
    // For each feature and contrast, by node: u / (1 + u lam), and how the location moves.
    const shares = lam.map((row) => Array.from(row, (l) => u.map((value) => value / (1 + value * l))));
    this.share = Array.from(within, (_, j) => shared(shares, j));
    this.move = Array.from(within, (_, j) =>
      Array.from(shared(lam, j), (l, i) =>
        this.share[j][i].map((value) => value * Math.sqrt(l) * beta[j][i]),
      ),
    );
    this.squares = Array.from(within, (w, j) =>
      u.map((value, node) => {
        const row = shared(lam, j);
        let total = w + drawn[node];
        for (let i = 0; i < row.length; i += 1) total += beta[j][i] ** 2 / (1 + value * row[i]);
        return total;
      }),
    );
    this.moveTo(contrasts);
  }

  /** Use the means and leverages of other covariates. */
  moveTo(contrasts) {
    this.contrasts = contrasts;
    this.half = contrasts.df.map((df) => 0.5 * (df + 1));
    this.size = contrasts.df.length;
    this.alike = contrasts.df.every((df) => df === contrasts.df[0]);
  }

  coordinates(j, code) {
    const [axes, mean] = [shared(this.contrasts.axes, j), shared(this.contrasts.codeMean, j)];
    return this.share[j].map((_, i) =>
      code.reduce((total, value, d) => total + (value - mean[d]) * axes[d][i], 0),
    );
  }

  /** Return the location and the squared scale (times df) of feature j, by node. */
  at(j, code) {
    const f = this.coordinates(j, code);
    const loc = new Float64Array(this.u.length).fill(this.contrasts.mean[j]);
    const squares = new Float64Array(this.u.length).fill(1 + this.contrasts.leverage[j]);
    f.forEach((coordinate, i) => {
      for (let node = 0; node < loc.length; node += 1) {
        loc[node] += coordinate * this.move[j][i][node];
        squares[node] += this.share[j][i][node] * coordinate ** 2;
      }
    });
    for (let node = 0; node < loc.length; node += 1) squares[node] *= this.squares[j][node];
    return { loc, squares };
  }

  /** Return the log density of x as feature j by node, without a constant of the feature. */
  logDensity(j, x, { loc, squares }) {
    if (isMissing(x)) return new Float64Array(loc.length);
    const [unit, half] = [Math.sqrt(squares[0]), this.half[j]];
    const logUnit = Math.log(unit);
    const gap = Math.max(-LARGEST_VALUE, Math.min(LARGEST_VALUE, (x - loc[0]) / unit));
    return loc.map((place, node) => {
      const [s, away] = [squares[node] / unit ** 2, gap - (place - loc[0]) / unit];
      return (half - 0.5) * Math.log(s) - half * Math.log(s + away * away) - logUnit;
    });
  }
}

/** The log of a product of many factors for each node, of which hardly any logarithm is taken. */
class LogProducts {
  constructor(size) {
    this.logs = new Float64Array(size);
    this.product = new Float64Array(size).fill(1);
  }
  times(node, factor) {
    const product = this.product[node] * factor;
    if (product > 1e-100 && product < 1e100) {
      this.product[node] = product;
    } else {
      this.logs[node] += Math.log(this.product[node]) + Math.log(factor);
      this.product[node] = 1;
    }
  }
  value(node) {
    return this.logs[node] + Math.log(this.product[node]);
  }
}

/** Return values, each as often as is said. */
const repeat = (values, lengths) =>
  Float64Array.from(lengths.flatMap((n, i) => new Array(n).fill(values[i])));

/** The nodes of a common variance: where `rules` lay them, at their weights given the features. */
function variancesOf(contrasts, { lengths, logAlpha, logWeights, rules, shrinkage }) {
  const { df } = contrasts;
  const times = lengths.flatMap((n, t) => Array.from({ length: n }, (_, i) => rules[t][2] + i * rules[t][3]));
  const tauOf = repeat(lengths.map((_, t) => t), lengths);
  const logVariance = Float64Array.from(times, (s, node) => {
    const [center, width] = rules[tauOf[node]];
    return center + width * Math.sinh(s);
  });
  const u = repeat(logAlpha.map((a) => Math.exp(-a)), lengths);
  const laws = new Laws(contrasts, u, logVariance.map((log) => shrinkage * Math.exp(log)));
  const logs = logVariance.map((log, node) => 0.5 * shrinkage * df.length * log + Math.log(Math.cosh(times[node])));
  laws.squares.forEach((squares, j) => {
    for (let node = 0; node < logs.length; node += 1) logs[node] -= 0.5 * df[j] * Math.log(squares[node]);
  });
  let start = 0;
  lengths.forEach((n, t) => {
    const own = logs.subarray(start, (start += n));
    const total = logSum(own) - logWeights[t];
    own.forEach((log, i) => (own[i] = log - total));
  });
  return { laws, logWeights: logs };
}

/** The laws of features at nodes, and the weights of these. */
function lawsAt(contrasts, nodes) {
  if (nodes.rules) return variancesOf(contrasts, nodes);
  const { lengths, logAlpha, logVariance, logWeights, shrinkage } = nodes;
  const u = repeat(logAlpha.map((a) => Math.exp(-a)), lengths);
  const drawn = logWeights.map((_, node) => (shrinkage ? shrinkage * Math.exp(logVariance[node]) : 0));
  return { laws: new Laws(contrasts, u, drawn), logWeights };
}

/** Features that are all related to the response. */
class CommonPosterior {
  constructor({ contrasts, nodes, wide }) {
    this.logWeights = nodes.logWeights;
    this.laws = lawsAt(contrasts, nodes).laws;
    this.far = wide;
    this.featureLaws = this.laws;
    const weights = this.logWeights.map(Math.exp);
    this.featureWeights = Array.from(contrasts.df, () => weights);
  }

  /** The nodes that reach far, which few rows need. */
  get wide() {
    this.farLaws ??= lawsAt(this.laws.contrasts, this.far);
    return this.farLaws;
  }

  moveTo(contrasts) {
    this.laws.moveTo(contrasts);
    this.farLaws?.laws.moveTo(contrasts);
  }

  logDensities(x, code, laws = this.laws) {
    if (laws.alike) return this._logDensitiesAlike(x, code, laws);
    const total = new Float64Array(laws.u.length);
    for (let j = 0; j < laws.size; j += 1) {
      const logs = laws.logDensity(j, x[j], laws.at(j, code));
      for (let node = 0; node < total.length; node += 1) total[node] += logs[node];
    }
    return total;
  }

  /** Return the same where all features have as many degrees of freedom: with few logarithms. */
  _logDensitiesAlike(x, code, laws) {
    const n = laws.u.length;
    const scales = new LogProducts(n);
    const distances = new LogProducts(n);
    let logUnits = 0;
    for (let j = 0; j < laws.size; j += 1) {
      if (isMissing(x[j])) continue;
      const { loc, squares } = laws.at(j, code);
      const unit = Math.sqrt(squares[0]);
      logUnits += Math.log(unit);
      const gap = Math.max(-LARGEST_VALUE, Math.min(LARGEST_VALUE, (x[j] - loc[0]) / unit));
      for (let node = 0; node < n; node += 1) {
        const s = squares[node] / squares[0];
        const away = gap - (loc[node] - loc[0]) / unit;
        scales.times(node, s);
        distances.times(node, s + away * away);
      }
    }
    const half = laws.size ? laws.half[0] : 0;
    return Float64Array.from(
      { length: n },
      (_, node) => (half - 0.5) * scales.value(node) - half * distances.value(node) - logUnits,
    );
  }

  /** Return the logs of the terms of the sum over nodes. */
  logTerms(x, code) {
    return this.logDensities(x, code).map((value, node) => value + this.logWeights[node]);
  }

  /** Return the log density of a row, averaged over the nodes. */
  logPredictive(x, code) {
    const terms = this.logTerms(x, code);
    return this.isDoubtful(terms) ? this.logPredictiveFar(x, code) : logSum(terms);
  }

  logPredictiveFar(x, code) {
    const { laws, logWeights } = this.wide;
    return logSum(this.logDensities(x, code, laws).map((value, node) => value + logWeights[node]));
  }

  isDoubtful(terms) {
    return isDoubtfulSum(terms);
  }
}

/** Whether a sum has mass at an end, or between its terms, given their logs. */
function isDoubtfulSum(logs) {
  const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  if (Math.max(logs[0], logs[logs.length - 1]) > top - FAR_DOWN) return true;
  let [all, even] = [0, 0];
  logs.forEach((value, i) => {
    const term = Math.exp(value - top);
    all += term;
    if (i % 2 === 0) even += term;
  });
  return Math.abs((2 * even) / all - 1) > LARGEST_DIFFERENCE;
}

const posteriorOf = (form) => (form.nodes.taus ? new TwoGroupPosterior(form) : new CommonPosterior(form));

/** Naive Bayes of real-valued features and classes. */
class Real {
  constructor(form) {
    const { varying, thresholds, covariates, nClasses } = form;
    Object.assign(this, { varying, thresholds, form, G: nClasses });
    this.covariates = covariates && new GivenCovariates(covariates);
    this.posterior = posteriorOf(form);
    this.codes = Array.from({ length: nClasses }, (_, g) =>
      Array.from({ length: nClasses }, (_, h) => Number(g === h)),
    );
  }

  read(values) {
    return this.thresholds ? Counts.prototype.read.call(this, values) : values;
  }

  /** Return the varying features of a row, with the posterior at its covariates. */
  _values(row, coded) {
    if (this.covariates) {
      this.posterior.moveTo(contrastsAt(this.form.contrasts, this.covariates.basis(coded)));
    }
    return this.varying.map((j) => row[j]);
  }

  byNode(row, coded) {
    const x = this._values(row, coded);
    const logs = this.codes.map((code) => this.posterior.logDensities(x, code));
    return { logs, logWeights: this.posterior.logWeights };
  }

  logEvidence(row, coded) {
    const x = this._values(row, coded);
    return this.codes.map((code) => this.posterior.logPredictive(x, code));
  }

  logByFeature(row, coded) {
    const x = this._values(row, coded);
    const { featureLaws: laws, featureWeights } = this.posterior;
    const result = Array.from(row, () => new Float64Array(this.G));
    this.varying.forEach((column, j) => {
      if (isMissing(x[j])) return;
      const weights = featureWeights[j];
      this.codes.forEach((code, g) => {
        const logs = laws.logDensity(j, x[j], laws.at(j, code));
        result[column][g] = logSum(logs.map((value, node) => value + Math.log(weights[node])));
      });
    });
    return result;
  }

  logPrior(coded) {
    return this.covariates?.logProba(coded);
  }

  given(row, coded) {
    return this.covariates ? this.covariates.given(row, coded) : { values: row, scale: 1 };
  }
}
