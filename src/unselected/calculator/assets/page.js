"use strict";
// The page: reads its content, makes the inputs, and shows the prediction whenever one changes.

class Calculator {
  constructor(content) {
    Object.assign(this, content);
    this.model = modelOf(content.model);
    const changed = () => this.update();
    this.inputs = this.features.map((feature, j) => new FeatureInput(feature, j, changed));
    this.others = this.covariates.map((covariate, i) => new CovariateInput(covariate, i, changed));
    this.level = element(
      "select",
      { id: "level", onchange: changed },
      ...[0.5, 0.8, 0.9, 0.95, 0.99].map((level) =>
        element("option", { value: level, selected: level === 0.9 }, `${100 * level} %`),
      ),
    );
    if (this.classes) {
      this.prevalence = new PrevalenceInput(this.classes, this.training, () => {
        this.update();
        this.paste.update();
      });
    }
    this.paste = new PasteBox({
      features: this.features,
      covariates: this.covariates,
      header: () => this.header(),
      predict: (values, covariates) => this.cells(values, covariates),
    });
    this._build();
    this.update();
  }

  _build() {
    const fill = (id, ...children) => document.getElementById(id).append(...children);
    document.title = this.title;
    fill("title", this.title);
    fill("lead", this.lead);
    fill("features", ...this.inputs.map(({ row }) => row));
    fill("covariates", ...this.others.map(({ row }) => row));
    document.getElementById("covariates-part").hidden = !this.others.length;
    document.getElementById("prevalence-part").hidden = !this.prevalence;
    if (this.prevalence) fill("prevalence", this.prevalence.content);
    fill("level-choice", element("label", { for: "level" }, "Interval"), this.level);
    fill("paste-part", this.paste.content);
    fill("about", ...this.about.map((line) => element("li", {}, line)));
    document.getElementById("clear").addEventListener("click", () => {
      this.inputs.forEach((input) => input.set(""));
      this.others.forEach((input) => input.reset());
      this.update();
    });
    this.chosen = element(
      "select",
      { id: "chosen", onchange: () => this.update() },
      ...(this.classes ?? []).map((name, g) => element("option", { value: g }, name)),
    );
    const several = this.classes?.length > 2;
    fill("chosen-class", ...(several ? [element("label", { for: "chosen" }, "Class"), this.chosen] : []));
  }

  /** Return the prediction of a case with coded covariates; missing values are NaN. */
  predict(values, coded, options) {
    const predict = this.classes ? predictClasses : predictNumber;
    return predict(this.model, values, coded, options);
  }

  code(covariates) {
    return codeCovariates(this.covariates, covariates);
  }

  /** Show the prediction of what is entered. */
  update() {
    const values = this.inputs.map((input) => input.read());
    const covariates = this.others.map((input) => input.read());
    const known = values.filter((value) => !isMissing(value)).length;
    document.getElementById("known").textContent = `${known} of ${values.length} values are known.`;
    if (covariates.some(isMissing)) {
      this._show([element("p", { class: "note" }, "Fill in what is needed first.")], [], "–");
      return;
    }
    const coded = this.code(covariates);
    const level = Number(this.level.value);
    if (this.classes) this._updateClasses(values, coded, level);
    else this._updateNumber(values, coded, level);
  }

  _show(outcome, contributions, strip) {
    document.getElementById("outcome").replaceChildren(...outcome);
    document.getElementById("contributions").replaceChildren(...contributions);
    document.getElementById("strip").textContent = strip;
  }

  _updateClasses(values, coded, level) {
    const { classes } = this;
    const prevalence = this.prevalence.read();
    const found = this.predict(values, coded, { prevalence, level, explained: true });
    const { contributions, prior } = found.explanation;
    const chosen = classes.length === 2 ? 0 : Number(this.chosen.value);
    const target = classes.length === 2 ? classes[1] : classes[chosen];
    const items = this.features.map(({ label }, j) => ({
      label,
      value: contributions[j][chosen],
      isKnown: !isMissing(values[j]),
    }));
    const before = covariatesText(this.covariates, "before any feature is known");
    const rows = contributionRows([{ label: before, value: prior[chosen], isKnown: true }, ...items], {
      shown: factor,
      left: "against",
      right: "for",
    });
    document.getElementById("contributions-title").textContent = `What speaks for and against ${target}`;
    const top = found.probabilities.indexOf(Math.max(...found.probabilities));
    const anyKnown = values.some((value) => !isMissing(value));
    const note = intervalNote(anyKnown, this._before(prevalence));
    this._show(
      [...probabilityRows(classes, found, level, anyKnown), element("p", { class: "note" }, note)],
      rows,
      `${classes[top]}: ${percent(found.probabilities[top])}`,
    );
  }

  /** Return in words what a probability starts from, before any feature is known. */
  _before(prevalence) {
    if (this.covariates.length) return "what the covariates say";
    return prevalence ? "the prevalence chosen below" : "the prevalence in training";
  }

  _updateNumber(values, coded, level) {
    const levels = [0.5 * (1 - level), 0.5, 0.5 * (1 + level)];
    const found = this.predict(values, coded, { levels });
    const [low, median, high] = found.quantiles;
    const outcome = [
      element("p", { class: "number" }, element("strong", {}, short(found.mean))),
      element("p", { class: "note" }, `${100 * level} % interval: ${short(low)} to ${short(high)}`),
      element("p", { class: "note" }, `median ${short(median)}, standard deviation ${short(found.std)}`),
    ];
    this._show(outcome, [], short(found.mean));
    this._explainNumber(values, coded, found.mean);
  }

  /** Show what each value adds to the mean, one after the other: each takes a prediction. */
  async _explainNumber(values, coded, mean) {
    this.run = (this.run ?? 0) + 1;
    const { run } = this;
    const items = [];
    for (const [j, { label }] of this.features.entries()) {
      if (!isMissing(values[j])) {
        await new Promise((resolve) => setTimeout(resolve));
        if (run !== this.run) return;
        items.push({ label, value: shiftOf(this.model, values, coded, j, mean), isKnown: true });
      }
    }
    document.getElementById("contributions-title").textContent = "What moves the prediction";
    const shown = (value) => (value > 0 ? "+" : "") + short(value);
    const rows = contributionRows(items, { shown, left: "lower", right: "higher" });
    document.getElementById("contributions").replaceChildren(...rows);
  }

  /** Return the names of the columns that pasted cases get. */
  header() {
    if (!this.classes) return ["mean", "std", "quantile_0.05", "quantile_0.5", "quantile_0.95"];
    const shown = this._shown().map((g) => this.classes[g]);
    const ends = shown.flatMap((name) => [`lower end of ${name}`, `upper end of ${name}`]);
    return [...shown.map((name) => `probability of ${name}`), ...ends, "predicted"];
  }

  _shown() {
    return this.classes.length === 2 ? [1] : this.classes.map((_, g) => g);
  }

  /** Return the cells of a pasted case. */
  cells(values, covariates) {
    const coded = this.code(covariates);
    if (!this.classes) {
      const { mean, std, quantiles } = this.predict(values, coded, { levels: [0.05, 0.5, 0.95] });
      return [mean, std, ...quantiles];
    }
    const prevalence = this.prevalence.read();
    const found = this.predict(values, coded, { prevalence, level: 0.9 });
    const { probabilities, intervals } = found;
    const guess = this.classes[probabilities.indexOf(Math.max(...probabilities))];
    return [
      ...this._shown().map((g) => probabilities[g]),
      ...this._shown().flatMap((g) => intervals[g]),
      guess,
    ];
  }
}

/** Return what is known before any feature is. */
const covariatesText = (covariates, otherwise) =>
  covariates.length ? `${covariates.map(({ name }) => name).join(", ")} alone` : otherwise;

const calculator = new Calculator(JSON.parse(document.getElementById("content").textContent));
