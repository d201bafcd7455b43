/** The style of the settings page, for light and dark screens, wide and narrow ones. */

export const CONSOLE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f5; --card: #fff; --sunken: #f0f3f1; --text: #1d2422; --soft: #56615d; --line: #dde3e0; --strong-line: #84918c;
  --accent: #22665a; --on-accent: #fff; --accent-soft: #e3f0ec;
  --good: #1a6b4a; --good-soft: #e0f2e9; --warning: #835200; --warning-soft: #fbeed6; --bad: #ab231b; --bad-soft: #fbe6e4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121615; --card: #1a201e; --sunken: #141918; --text: #e6ebe8; --soft: #a0ada8; --line: #2d3633; --strong-line: #6d7a75;
    --accent: #7fc4b4; --on-accent: #0d2420; --accent-soft: #1d332e;
    --good: #6bd0a5; --good-soft: #17322a; --warning: #e6b659; --warning-soft: #352a14; --bad: #f49a92; --bad-soft: #3a1e1c;
  }
}
* { box-sizing: border-box; }
html { scrollbar-gutter: stable; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.25rem; }
.skip { position: absolute; left: -100rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.5rem 1rem; background: var(--card); z-index: 1; }

.top { background: var(--card); border-bottom: 1px solid var(--line); }
.bar, .top nav, main, .foot { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
.bar { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding-top: 0.9rem; padding-bottom: 0.6rem; }
.brand { display: flex; align-items: center; gap: 0.6rem; font-weight: 650; text-decoration: none; color: inherit; }
.brand small { color: var(--soft); font-weight: 400; }
.who { display: flex; align-items: center; gap: 0.9rem; min-width: 0; }
.who > span { color: var(--soft); font-size: 0.9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.top nav { overflow-x: auto; }
.top nav ul { display: flex; gap: 0.25rem; margin: 0 -0.75rem; padding: 0; list-style: none; }
.top nav a {
  display: block; padding: 0.55rem 0.75rem; border-bottom: 3px solid transparent; color: var(--soft);
  text-decoration: none; white-space: nowrap;
}
.top nav a:hover { color: var(--text); }
.top nav a:focus-visible { outline-offset: -3px; }
.top nav a[aria-current] { border-bottom-color: var(--accent); color: var(--text); font-weight: 600; }

main { padding-top: 1.75rem; padding-bottom: 2rem; }
main.small { max-width: 27rem; padding-top: 4rem; }
.foot { padding-bottom: 2rem; color: var(--soft); font-size: 0.85rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 0.35rem; font-size: 1.05rem; }
h3 { margin: 1.25rem 0 0.25rem; font-size: 0.95rem; }
p { margin: 0.35rem 0 0.85rem; max-width: 44rem; }
p:last-child { margin-bottom: 0; }
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem 1.5rem; margin-bottom: 1.25rem; }
.head p { margin: 0; width: 100%; max-width: none; color: var(--soft); }
.back { display: inline-block; margin-bottom: 0.5rem; font-size: 0.9rem; }
.card { margin: 0 0 1.25rem; padding: 1.25rem 1.4rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.7rem; }
.quiet { color: var(--soft); font-weight: 400; }
.small-text { font-size: 0.875rem; }
.mark { display: block; margin: 0 auto 1rem; }
.centered { text-align: center; margin-bottom: 1.5rem; }

.note { margin: 0 0 1.25rem; padding: 0.8rem 1.1rem; border-radius: 0.6rem; border-left: 0.3rem solid var(--good); background: var(--good-soft); max-width: none; }
.note.bad { border-color: var(--bad); background: var(--bad-soft); }
.note.warning { border-color: var(--warning); background: var(--warning-soft); }
.note p { max-width: none; }

.tag { display: inline-block; padding: 0.05rem 0.6rem; border-radius: 1rem; background: var(--line); color: var(--soft); font-size: 0.85rem; font-weight: 550; line-height: 1.5; letter-spacing: 0; white-space: nowrap; vertical-align: middle; }
.tag.good { background: var(--good-soft); color: var(--good); }
.tag.warning { background: var(--warning-soft); color: var(--warning); }
.tag.bad { background: var(--bad-soft); color: var(--bad); }

.card > dl:first-child { margin-top: 0; }
.card > dl:last-child { margin-bottom: 0; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: 0.45rem 1.5rem; margin: 0.5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }

.field { margin: 0 0 1.1rem; max-width: 30rem; }
label, legend { display: block; margin-bottom: 0.25rem; padding: 0; font-weight: 550; }
.field .hint { margin: 0.25rem 0 0; color: var(--soft); font-size: 0.875rem; }
.field .problem { margin: 0.25rem 0 0; color: var(--bad); font-size: 0.9rem; font-weight: 550; }
input, select {
  width: 100%; padding: 0.5rem 0.7rem; background: var(--card); color: inherit; border: 1px solid var(--strong-line);
  border-radius: 0.45rem; font: inherit;
}
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
input[type=checkbox] { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--accent); flex: none; }
fieldset { margin: 0 0 1.1rem; padding: 0; border: 0; min-width: 0; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.35rem 1rem; }
.choices label { display: flex; align-items: center; gap: 0.55rem; margin: 0; font-weight: 400; }
.row { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 0.75rem; }
.row .field { margin: 0; flex: 1 1 12rem; }
.actions { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.6rem 0.75rem; margin-top: 1rem; }
.actions form { margin: 0; }

button, .button {
  display: inline-block; padding: 0.5rem 1.05rem; background: var(--card); color: var(--text); border: 1px solid var(--strong-line);
  border-radius: 0.45rem; font: inherit; font-weight: 550; text-decoration: none; cursor: pointer; white-space: nowrap;
}
button:hover, .button:hover { border-color: var(--accent); background: var(--accent-soft); }
.main-action { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.main-action:hover { background: var(--accent); color: var(--on-accent); filter: brightness(1.1); }
.danger { border-color: var(--bad); color: var(--bad); }
.danger:hover { border-color: var(--bad); background: var(--bad-soft); }
.plain { padding: 0.3rem 0.75rem; font-size: 0.9rem; }
.wide { width: 100%; text-align: center; }

details > summary { width: fit-content; cursor: pointer; }
details.ask > summary { list-style: none; }
details.ask > summary::-webkit-details-marker { display: none; }
details.ask[open] { flex-basis: 100%; max-width: 34rem; padding: 0.9rem 1.1rem; background: var(--sunken); border-radius: 0.6rem; white-space: normal; text-align: left; }
details.ask[open] > summary { margin-bottom: 0.6rem; }

.secret { margin: 0.75rem 0; padding: 0.9rem 1rem; background: var(--sunken); border: 1px dashed var(--strong-line); border-radius: 0.5rem; font: 0.95rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; user-select: all; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
pre { margin: 0.5rem 0; padding: 0.75rem 1rem; background: var(--sunken); border-radius: 0.5rem; white-space: pre-wrap; }

.scroll { position: relative; overflow-x: auto; margin: 0 -1.4rem; padding: 0 1.4rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.95rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th { color: var(--soft); font-size: 0.85rem; font-weight: 550; text-align: left; white-space: nowrap; }
th, td { padding: 0.6rem 1.25rem 0.6rem 0; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr { border-top: 1px solid var(--line); }
td { font-variant-numeric: tabular-nums; }
td time { white-space: nowrap; }
td small { display: block; color: var(--soft); }
td.name { min-width: 10rem; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
.pages { margin-top: 1rem; }
.empty { padding: 1.5rem 0; text-align: center; color: var(--soft); }
.empty p { margin-inline: auto; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.9rem; margin-bottom: 1.25rem; }
.tile { padding: 0.9rem 1.1rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.7rem; }
.tile span { display: block; color: var(--soft); font-size: 0.85rem; }
.tile small { display: block; color: var(--bad); }
.tile strong { font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.switch { display: inline-flex; border: 1px solid var(--strong-line); border-radius: 0.45rem; overflow: hidden; }
.switch a { padding: 0.35rem 0.9rem; color: inherit; text-decoration: none; }
.switch a[aria-current] { background: var(--accent); color: var(--on-accent); }
.switch a:focus-visible { outline-offset: -3px; }
.chart { display: block; width: 100%; min-width: 36rem; height: auto; margin-top: 0.75rem; }
.chart text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.chart .grid { stroke: var(--line); }
.chart .area { fill: var(--accent); opacity: 0.16; }
.chart .curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.chart .bar-good { fill: var(--accent); }
.chart .bar-bad { fill: var(--bad); }
meter { width: 100%; max-width: 16rem; height: 0.9rem; }

@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.6rem; }
  .who > span { display: none; }
  .top nav ul { flex-wrap: wrap; gap: 0; }
  .card { padding: 1.1rem 1rem; }
  .scroll { margin: 0 -1rem; padding: 0 1rem; }
  main.small { padding-top: 2rem; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .button { transition: background 0.12s, border-color 0.12s; }
}
`.trimStart();
