"use strict";
// The model of a page, from its packed form, and everything that is shown of a case.

const MODELS = {
  classes: ClassModel,
  stack: StackModel,
  regression: RegressionModel,
  mixture: ResponseStack,
};

function modelOf(form) {
  const tree = unpack(form);
  return new MODELS[tree.form](tree);
}

/** Return probabilities of the classes, and on request their intervals and what features add. */
function predictClasses(model, values, coded, { prevalence, level, explained } = {}) {
  const prediction = new ClassPrediction(model, values, coded, prevalence);
  return {
    probabilities: prediction.probabilities,
    ...(level ? { intervals: prediction.intervals(level) } : {}),
    ...(explained ? { explanation: prediction.explanation() } : {}),
  };
}

/** Return mean, standard deviation and quantiles of the response. */
function predictNumber(model, values, coded, { levels = [] } = {}) {
  const law = model.predict(values, coded);
  return { mean: law.mean, std: law.std, quantiles: levels.map((level) => law.quantile(level)) };
}

/** Return by how much a known value moves the mean response, compared with leaving it out. */
function shiftOf(model, values, coded, j, mean) {
  if (isMissing(values[j])) return 0;
  return mean - model.predict(Array.from(values, (x, i) => (i === j ? NaN : x)), coded).mean;
}
