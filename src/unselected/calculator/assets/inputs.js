"use strict";
// The inputs: one for each feature and covariate, and what is wrong with their values.

/** Return a bit, or a number of copies of an allele, in words. */
function choiceText(value, choices) {
  if (choices.length > 2) return value === 1 ? "1 copy" : `${value} copies`;
  return value === 1 ? "1 (yes)" : "0 (no)";
}

/** The input of a feature; left empty it is missing. */
class FeatureInput {
  constructor(feature, number, changed) {
    this.feature = feature;
    const id = `feature-${number}`;
    this.note = element("p", { class: "note", id: `${id}-note` });
    const attributes = { id, "aria-describedby": `${id}-note` };
    this.field = feature.choices
      ? element(
          "select",
          { ...attributes, onchange: changed },
          element("option", { value: "" }, "unknown"),
          ...feature.choices.map((value) =>
            element("option", { value }, choiceText(value, feature.choices)),
          ),
        )
      : element("input", {
          ...attributes,
          type: "text",
          inputmode: "decimal",
          autocomplete: "off",
          placeholder: "unknown",
          oninput: changed,
        });
    const unit = feature.unit ? element("span", { class: "unit" }, feature.unit) : null;
    this.row = element(
      "div",
      { class: "field" },
      element("label", { for: id }, feature.label),
      element("span", { class: "entry" }, this.field, unit),
      this.note,
    );
    this.read();
  }

  /** Return the value, NaN where it is missing or no number, and say what is to be said of it. */
  read() {
    const { low, high, choices, threshold } = this.feature;
    const value = numberOf(this.field.value);
    const isBad = value === null;
    const isOutside = value < low || value > high;
    this.row.classList.toggle("bad", isBad);
    this.row.classList.toggle("outside", isOutside && !isBad);
    const range = low === null ? "" : `training: ${short(low)} to ${short(high)}`;
    const cut = threshold === null ? "" : `; counts as 1 above ${short(threshold)}`;
    if (isBad) this.note.textContent = "not a number: taken as unknown";
    else if (isOutside) this.note.textContent = `outside of the training range; ${range}${cut}`;
    else this.note.textContent = choices ? "" : range + cut;
    return isBad ? NaN : value;
  }

  set(value) {
    this.field.value = value;
  }
}

/** The input of a covariate, which is always needed. */
class CovariateInput {
  constructor(covariate, number, changed) {
    this.covariate = covariate;
    const id = `covariate-${number}`;
    const { kind, levels, name } = covariate;
    const options = kind === "levels" ? levels.map(String) : kind === "boolean" ? ["no", "yes"] : null;
    this.note = element("p", { class: "note", id: `${id}-note` });
    this.field = options
      ? element(
          "select",
          { id, onchange: changed },
          ...options.map((text, i) => element("option", { value: i }, text)),
        )
      : element("input", {
          id,
          type: "text",
          inputmode: "decimal",
          autocomplete: "off",
          required: true,
          "aria-describedby": `${id}-note`,
          oninput: changed,
        });
    this.row = element("div", { class: "field" }, element("label", { for: id }, name), this.field, this.note);
    this.reset();
  }

  reset() {
    this.field.value = this.covariate.kind === "number" ? short(this.covariate.mean) : "0";
  }

  /** Return the value, or the place of the level; NaN where there is none. */
  read() {
    const value = numberOf(this.field.value) ?? NaN;
    this.row.classList.toggle("bad", isMissing(value));
    this.note.textContent = isMissing(value) ? "needed: a number" : "";
    return value;
  }
}

/** How common the classes are where the case comes from. */
class PrevalenceInput {
  constructor(classes, training, changed) {
    Object.assign(this, { classes, training });
    this.fields = classes.map((name, g) =>
      element("input", {
        id: `prevalence-${g}`,
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        oninput: () => {
          if (classes.length === 2) this._complete(1 - g);
          changed();
        },
      }),
    );
    this.note = element("p", { class: "note", "aria-live": "polite" });
    const rows = classes.map((name, g) =>
      element(
        "div",
        { class: "field small" },
        element("label", { for: `prevalence-${g}` }, name),
        element("span", { class: "entry" }, this.fields[g], element("span", { class: "unit" }, "%")),
      ),
    );
    const slider = classes.length === 2 ? this._slider(changed) : null;
    const reset = element("button", { type: "button", onclick: () => (this.reset(), changed()) }, "as in training");
    this.content = element("div", {}, ...rows, slider, this.note, reset);
    this.reset();
  }

  _slider(changed) {
    this.slider = element("input", {
      type: "range",
      min: 0.1,
      max: 99.9,
      step: 0.1,
      "aria-label": `Prevalence of ${this.classes[1]} in per cent`,
      oninput: () => {
        this.fields[1].value = this.slider.value;
        this._complete(0);
        changed();
      },
    });
    return this.slider;
  }

  /** Fill in the other of two classes. */
  _complete(g) {
    const other = numberOf(this.fields[1 - g].value);
    if (other > 0 && other < 100) this.fields[g].value = String(Number((100 - other).toPrecision(12)));
  }

  reset() {
    this.fields.forEach((field, g) => (field.value = String(Number((100 * this.training[g]).toPrecision(4)))));
  }

  /** Return the prevalences, or null where they are those of the training cases. */
  read() {
    const values = this.fields.map((field) => numberOf(field.value));
    const fine = values.every((value) => value !== null && value > 0);
    this.note.textContent = fine ? "" : "give every class a prevalence above 0; the training one is used";
    if (!fine) return null;
    const total = sum(values);
    if (this.slider) this.slider.value = (100 * values[1]) / total;
    const shares = values.map((value) => value / total);
    if (Math.abs(total - 100) > 0.05) this.note.textContent = `the numbers are divided by their sum, ${short(total)}`;
    const same = this.fields.every(
      (field, g) => field.value === String(Number((100 * this.training[g]).toPrecision(4))),
    );
    return same ? null : shares;
  }
}
