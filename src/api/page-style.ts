/** The style of the product's own page, for light and dark screens. */

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f5; --card: #fff; --text: #1d2422; --soft: #5c6763; --line: #dfe4e1;
  --good: #1f7a55; --warning: #9a6200; --bad: #b3261e; --accent: #2f6f62;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121615; --card: #1b211f; --text: #e6ebe8; --soft: #98a5a0; --line: #2f3835;
    --good: #5cc79a; --warning: #e3ae4d; --bad: #f2867d; --accent: #7fc4b4;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; align-items: center; justify-content: space-between; padding-top: 1.25rem; }
h1 { display: flex; align-items: center; gap: 0.5rem; margin: 0; font-size: 1.25rem; }
h1 small { color: var(--soft); font-size: 0.8rem; font-weight: 400; }
h2 { margin: 0 0 0.5rem; font-size: 1rem; }
section, #sentence, #notice {
  margin: 1rem 0; padding: 1rem 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.6rem;
}
#sentence { border-left: 0.35rem solid var(--soft); font-size: 1.2rem; font-weight: 600; overflow-wrap: anywhere; }
#sentence.good { border-left-color: var(--good); }
#sentence.warning { border-left-color: var(--warning); }
#sentence.bad { border-left-color: var(--bad); }
#notice { border-color: var(--bad); }
[hidden] { display: none !important; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th { color: var(--soft); font-size: 0.8rem; font-weight: 500; text-align: left; white-space: nowrap; }
th, td { padding: 0.4rem 1rem 0.4rem 0; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr { border-top: 1px solid var(--line); }
td { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.path, td.outcome { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
td.path bdi { font-family: ui-monospace, monospace; font-size: 0.9em; }
td.number, th.number { text-align: right; }
td small { display: block; color: var(--soft); }
.good { color: var(--good); } .warning { color: var(--warning); } .bad { color: var(--bad); }
#sentence.good, #sentence.warning, #sentence.bad { color: inherit; }
.quiet, footer { color: var(--soft); }
progress { width: 6rem; height: 0.5rem; accent-color: var(--accent); }
code, pre { font-family: ui-monospace, monospace; }
pre { padding: 0.75rem 1rem; background: var(--ground); border-radius: 0.4rem; }
a { color: var(--accent); }
button {
  padding: 0.35rem 0.9rem; background: var(--card); color: inherit; border: 1px solid var(--line);
  border-radius: 0.4rem; font: inherit; cursor: pointer;
}
button:hover { border-color: var(--accent); }
footer { padding-bottom: 2rem; font-size: 0.85rem; }
`.trimStart();
