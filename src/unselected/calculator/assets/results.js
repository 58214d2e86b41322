"use strict";
// The results: probabilities or a number, each with an interval, and which features speak for what.

const SHOWN = 12; // features that are shown without unfolding

/** Return rows of probabilities with their intervals, where a feature that could have one is known. */
function probabilityRows(classes, { probabilities, intervals }, level, anyKnown) {
  const top = probabilities.indexOf(Math.max(...probabilities));
  return classes.map((name, g) => {
    const [low, high] = intervals[g];
    const range = anyKnown ? [bar(low, high, "range")] : [];
    const track = element("span", { class: "track" }, bar(0, probabilities[g]), ...range);
    const ends = `${100 * level} % interval: ${percent(low)} to ${percent(high)}`;
    return element(
      "div",
      { class: g === top ? "outcome top" : "outcome" },
      element("span", { class: "name" }, name),
      element("strong", { class: "value" }, percent(probabilities[g])),
      track,
      ...(anyKnown ? [element("span", { class: "note" }, ends)] : []),
    );
  });
}

/** Return what the interval tells, and what not. */
function intervalNote(anyKnown, before) {
  if (!anyKnown) return `No feature is known: this is ${before}. There is no interval, which would be of what features say.`;
  return `An interval tells how sure the model is of what the features say. It takes ${before} as certain.`;
}

/** Return signed bars of what is known, the largest first, with the rest folded. */
function contributionRows(items, { shown = short, left, right }) {
  const known = items.filter(({ isKnown }) => isKnown);
  known.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (!known.length) return [element("p", { class: "note" }, "No value is known yet.")];
  const most = Math.max(...known.map(({ value }) => Math.abs(value)), 1e-300);
  const rows = known.map(({ label, value }) =>
    element(
      "div",
      { class: "contribution" },
      element("span", { class: "name" }, label),
      element(
        "span",
        { class: "track signed" },
        bar(0.5, 0.5 + (0.5 * value) / most, value < 0 ? "against" : "for"),
      ),
      element("span", { class: "value" }, shown(value)),
    ),
  );
  const header = element(
    "div",
    { class: "contribution header" },
    element("span"),
    element("span", { class: "sides" }, element("span", {}, `← ${left}`), element("span", {}, `${right} →`)),
    element("span"),
  );
  const rest = rows.splice(SHOWN);
  const more = rest.length
    ? [element("details", {}, element("summary", {}, `${rest.length} more`), ...rest)]
    : [];
  return [header, ...rows, ...more];
}

/** Return a factor of odds. */
const factor = (log) => `× ${short(Number(Math.exp(log).toPrecision(3)))}`;
