"use strict";
// Many cases at once: a pasted table in, a CSV file out.

const PREVIEW = 20; // rows that are shown
const TOGETHER = 25; // rows that are predicted before the page may do something else

/** Return the cases of a pasted table; throws where a column or a cell is not as needed. */
function readCases(text, features, covariates) {
  const [header, ...rows] = parseTable(text);
  const place = new Map(header.map((name, i) => [name, i]));
  const columns = features.map(({ name }) => place.get(name) ?? null);
  const others = covariates.map(({ name }) => {
    if (!place.has(name)) throw new Error(`the column ${name} is missing, which the model needs`);
    return place.get(name);
  });
  if (columns.every((column) => column === null)) {
    throw new Error("no column has the name of a feature: the first line must have the names");
  }
  const used = new Set([...columns, ...others]);
  const kept = header.map((_, i) => i).filter((i) => !used.has(i));
  const absent = features.filter((_, j) => columns[j] === null).map(({ name }) => name);
  const cases = rows.map((cells, row) => {
    const where = (i) => `line ${row + 2}, column ${header[i]}`;
    const number = (i) => {
      const value = numberOf(cells[i] ?? "");
      if (value === null) throw new Error(`${where(i)}: ${cells[i]} is not a number`);
      return value;
    };
    const values = columns.map((column) => (column === null ? NaN : number(column)));
    features.forEach(({ strict, choices, name }, j) => {
      if (strict && !choices.includes(values[j]) && !isMissing(values[j])) {
        const why = choices.length > 2 ? `none of ${choices.join(", ")}` : "neither 0 nor 1";
        throw new Error(`line ${row + 2}, column ${name}: ${values[j]} is ${why}`);
      }
    });
    const coded = covariates.map(({ kind, levels }, c) => {
      const i = others[c];
      if (kind !== "levels") {
        const value = number(i);
        if (isMissing(value)) throw new Error(`${where(i)} is missing, which the model needs`);
        return value;
      }
      const level = levels.map(String).indexOf(cells[i] ?? "");
      if (level < 0) throw new Error(`${where(i)}: ${cells[i]} is none of ${levels.join(", ")}`);
      return level;
    });
    return { kept: kept.map((i) => cells[i] ?? ""), values, covariates: coded };
  });
  return { names: kept.map((i) => header[i]), cases, absent };
}

/** The box: predicts while a table is pasted or changed, a few rows at a time. */
class PasteBox {
  constructor({ features, covariates, header, predict }) {
    Object.assign(this, { features, covariates, header, predict, run: 0, csv: "" });
    const names = [...covariates, ...features].map(({ name }) => name);
    this.text = element("textarea", {
      id: "paste",
      rows: 6,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: `id\t${names.slice(0, 3).join("\t")}\t…`,
      oninput: () => this.update(),
    });
    this.status = element("p", { class: "note", role: "status" });
    this.preview = element("div", { class: "wide" });
    this.copy = element("button", { type: "button", disabled: true, onclick: () => this._copy() }, "Copy CSV");
    this.download = element(
      "button",
      { type: "button", disabled: true, onclick: () => this._download() },
      "Download CSV",
    );
    const template = element(
      "button",
      { type: "button", onclick: () => this._template(names) },
      "Insert the header",
    );
    this.content = element(
      "div",
      {},
      element("label", { for: "paste" }, "Table with a header, from a spreadsheet or a CSV file"),
      this.text,
      element("p", { class: "buttons" }, template, this.copy, this.download),
      this.status,
      this.preview,
    );
  }

  _template(names) {
    this.text.value = toCsv([["id", ...names]]).replaceAll("\n", "") + "\n";
    this.update();
    this.text.focus();
  }

  async update() {
    this.run += 1;
    const run = this.run;
    this.csv = "";
    this.preview.replaceChildren();
    this.copy.disabled = this.download.disabled = true;
    this.status.textContent = "";
    if (!this.text.value.trim()) return;
    let table;
    try {
      table = readCases(this.text.value, this.features, this.covariates);
    } catch (error) {
      this.status.textContent = error.message;
      return;
    }
    const ids = table.names.length ? table.names : ["case"];
    const rows = [[...ids, ...this.header(), "values outside of the training range"]];
    for (const [i, one] of table.cases.entries()) {
      if (i % TOGETHER === 0) {
        this.status.textContent = `${i} of ${table.cases.length} cases …`;
        await new Promise((resolve) => setTimeout(resolve));
        if (run !== this.run) return;
      }
      const outside = this.features.filter(({ low, high }, j) => one.values[j] < low || one.values[j] > high);
      const id = table.names.length ? one.kept : [i + 1];
      rows.push([...id, ...this.predict(one.values, one.covariates), outside.length]);
    }
    this._show(rows, table.absent);
  }

  _show(rows, absent) {
    const [header, ...body] = rows;
    this.csv = toCsv(rows);
    const cell = (value) => (typeof value === "number" ? short(value) : String(value));
    this.preview.replaceChildren(
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...header.map((name) => element("th", {}, name)))),
        element(
          "tbody",
          {},
          ...body
            .slice(0, PREVIEW)
            .map((row) => element("tr", {}, ...row.map((value) => element("td", {}, cell(value))))),
        ),
      ),
    );
    this.copy.disabled = this.download.disabled = body.length === 0;
    const folded = body.length > PREVIEW ? `, the first ${PREVIEW} shown` : "";
    const lacking = absent.length ? `; not in the table, taken as unknown: ${absent.join(", ")}` : "";
    this.status.textContent = `${body.length} cases${folded}${lacking}`;
  }

  async _copy() {
    try {
      await navigator.clipboard.writeText(this.csv);
      this.status.textContent = "copied";
    } catch {
      this.status.textContent = "the browser does not allow copying: download the file instead";
    }
  }

  _download() {
    const address = URL.createObjectURL(new Blob([this.csv], { type: "text/csv" }));
    element("a", { href: address, download: "predictions.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}
