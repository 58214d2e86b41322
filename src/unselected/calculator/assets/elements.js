"use strict";
// Elements of the page. Names come from data: they are set as text, never as HTML.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return a number with four digits, as people write it. */
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/** Return a probability in per cent, with more digits near 0 and 1. */
function percent(p) {
  const rest = Math.min(p, 1 - p);
  if (rest < 0.0001) return p < 0.5 ? "< 0.01 %" : "> 99.99 %";
  return `${(100 * p).toFixed(rest < 0.001 ? 2 : rest < 0.1 ? 1 : 0)} %`;
}

/** Return a bar that fills a part of its track, from one place to another. */
function bar(from, to, className = "") {
  const fill = element("span", { class: `fill ${className}` });
  fill.style.left = `${100 * Math.min(from, to)}%`;
  fill.style.width = `${100 * Math.abs(to - from)}%`;
  return fill;
}
