"""How a page looks, and its one script: tables are sorted by a click on a heading."""

# The palette of the pictures (`unselected.plots`), on paper and on a dark screen.
_ON_PAPER = {
    "ink": "#1a1a1a",
    "paper": "#ffffff",
    "dark": "#0b3d6e",
    "middle": "#d9630f",
    "light": "#8a8a8a",
    "pale": "#dcdcdc",
    "band": "#a9c3df",
    "muted": "#555555",
}
_ON_A_DARK_SCREEN = {
    "ink": "#e8e8e8",
    "paper": "#16181c",
    "dark": "#8fc1f3",
    "middle": "#ff9f55",
    "light": "#9a9a9a",
    "pale": "#3a3d42",
    "band": "#34557a",
    "muted": "#b0b0b0",
}


def _variables(colors: dict[str, str]) -> str:
    return ":root{" + "".join(f"--{name}:{color};" for name, color in colors.items()) + "}"


STYLE = (
    _variables(_ON_PAPER)
    + "@media screen and (prefers-color-scheme:dark){"
    + _variables(_ON_A_DARK_SCREEN)
    + "}"
    + """
:root{color-scheme:light dark}
body{font:15px/1.45 system-ui,sans-serif;max-width:80rem;margin:0 auto;padding:.6rem 1rem 3rem;
color:var(--ink);background:var(--paper)}
h1{font-size:1.15rem;margin:.2rem 0;color:var(--muted);font-weight:600;overflow-wrap:anywhere}
h2{font-size:1.15rem;border-bottom:1px solid var(--pale);margin:2rem 0 .6rem}
p{max-width:60rem;margin:.5rem 0}
.verdict h2{border:0;margin:0;font-size:.8rem;text-transform:uppercase;letter-spacing:.06em;
color:var(--muted)}
.verdict p{font-size:1.15rem;max-width:none;margin:.25rem 0}
.verdict li{margin:.15rem 0}.verdict ul{margin:.4rem 0;padding-left:1.2rem}
.row{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:0 1.2rem;
align-items:start;margin-top:.5rem}
figure{margin:0 0 1rem;min-width:0}
.row figure{max-width:30rem}
figure svg{width:100%;height:auto;display:block}
figure svg text{fill:var(--ink)}
figure.wide{overflow-x:auto}figure.wide svg{min-width:44rem}
figcaption{font-size:.85rem;color:var(--muted);margin-top:.2rem;max-width:60rem}
table{border-collapse:collapse;font-size:.8rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .35rem;text-align:right;border-bottom:1px solid var(--pale);vertical-align:top}
th{vertical-align:bottom}th:first-child,td:first-child{text-align:left}td+td{white-space:nowrap}
.sortable td:last-child{white-space:normal}
.sortable th{cursor:pointer}.sortable th:focus-visible{outline:2px solid var(--dark)}
th[aria-sort=ascending]::after{content:" \\2191"}th[aria-sort=descending]::after{content:" \\2193"}
.table{overflow-x:auto}
summary{cursor:pointer;font-size:.9rem;margin:.5rem 0;color:var(--dark)}
@media(max-width:46rem){figure.wide svg{margin-bottom:.3rem}
figure.wide figcaption{position:sticky;left:0}
figure.wide figcaption::before{content:"\\2190\\2192 Move the picture sideways to see all of it. "}}
@media(max-width:40rem){th+th{min-width:9rem}.verdict p{font-size:1.05rem}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:10pt;padding:0}
figure,tr{break-inside:avoid}h2{break-after:avoid}
.row{grid-template-columns:repeat(2,1fr)}.verdict+.row{grid-template-columns:repeat(3,1fr)}
details:not([open]),section.folded:not(:has([open])){display:none}
figure.wide,.table{overflow:visible}figure.wide svg{min-width:0}}
"""
)

# Numbers are compared as numbers; what has none stands last.
SCRIPT = """
document.querySelectorAll("table.sortable").forEach(table => {
  const value = (row, place) => row.cells[place].textContent.trim();
  table.querySelectorAll("th").forEach((head, place) => {
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      const rows = [...table.tBodies[0].rows];
      const compare = (a, b) => {
        const [x, y] = [value(a, place), value(b, place)], [m, n] = [parseFloat(x), parseFloat(y)];
        if (isNaN(m) && isNaN(n)) return up ? x.localeCompare(y) : y.localeCompare(x);
        if (isNaN(m) || isNaN(n)) return isNaN(m) ? 1 : -1;
        return up ? m - n : n - m;
      };
      table.tBodies[0].append(...rows.sort(compare));
      table.querySelectorAll("th").forEach(each => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
});
"""
