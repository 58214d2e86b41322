"use strict";
// Averages over likelihoods and over the power of each: the guard against dependence.

/** One likelihood with the posterior of its power eta and of the outlier fraction epsilon. */
class Power {
  constructor({ logWeight, eta, share, outlier, meanPower, points }) {
    Object.assign(this, { logWeight, eta, share, outlier, meanPower });
    this.weight = Math.exp(logWeight);
    // Values of eta and epsilon that intervals are over, with their log weights.
    this.points = Array.from(points.eta, (place, i) => ({
      eta: eta[place],
      epsilon: points.values[points.epsilon[i]],
      logWeight: points.logWeights[i],
    }));
  }

  /** Return log P(class), averaged over eta and epsilon. */
  logProba(evidence, logPrior) {
    const prior = logNormalized(logPrior);
    let result = prior.map((value) => value + Math.log(this.outlier));
    this.eta.forEach((eta, i) => {
      const logShare = Math.log(this.share[i]);
      const powered = logNormalized(prior.map((value, g) => value + eta * evidence[g]));
      result = result.map((value, g) => logAddExp(value, powered[g] + logShare));
    });
    return result;
  }

  /** Return the derivative of P(class g) with respect to log P(x | class h). */
  slope(evidence, logPrior) {
    const G = evidence.length;
    const result = Array.from({ length: G }, () => new Float64Array(G));
    this.eta.forEach((eta, i) => {
      const weight = this.share[i] * eta;
      const p = logNormalized(logPrior.map((value, g) => value + eta * evidence[g])).map(Math.exp);
      for (let g = 0; g < G; g += 1) {
        for (let h = 0; h < G; h += 1) result[g][h] += weight * p[g] * ((g === h) - p[h]);
      }
    });
    return result;
  }
}

/** Return log P(class | one eta and epsilon). */
function logProbaAt({ eta, epsilon }, evidence, logPrior) {
  const prior = logNormalized(logPrior);
  const powered = logNormalized(prior.map((value, g) => value + eta * evidence[g]));
  const [regular, outlier] = [Math.log1p(-epsilon), Math.log(epsilon)];
  return powered.map((value, g) => logAddExp(value + regular, prior[g] + outlier));
}

/** The likelihoods with their weights. */
class Average {
  constructor(powers) {
    this.powers = powers.map((power) => new Power(power));
  }
  logProba(evidence, logPrior) {
    const each = this.powers.map((power, i) => power.logProba(evidence[i], logPrior));
    return Array.from(logPrior, (_, g) =>
      logSum(this.powers.map((power, i) => each[i][g] + power.logWeight)),
    );
  }
}
