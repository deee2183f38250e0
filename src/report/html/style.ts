/** How the report looks: quiet, figures in columns, colour only where it means something. */

const light = `
  --page: #ffffff; --card: #f6f8fa; --text: #1b1f24; --muted: #57606a; --line: #d5dbe1;
  --accent: #0a5cad; --bad: #a8321f; --warn: #7d5000; --good: #1a6b3c; --idle: #a5adb6;`;
const dark = `
  --page: #14171b; --card: #1c2127; --text: #e6e8eb; --muted: #a3adb8; --line: #353c45;
  --accent: #79b8ff; --bad: #ff9d8f; --warn: #e9bd62; --good: #7bd39a; --idle: #6c7681;`;

export const style = `
:root { color-scheme: light;${light} }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { color-scheme: dark;${dark} } }
:root[data-theme=dark] { color-scheme: dark;${dark} }
@media print { :root, :root[data-theme=dark], :root:not([data-theme=light]) { color-scheme: light;${light} } }
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.wide { max-width: 1180px; margin: 0 auto; padding: 0 clamp(14px, 3vw, 32px); }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
h1, h2, h3, h4, p, ul, ol, dl, figure { margin: 0; }
h1 { font-size: clamp(1.45rem, 1rem + 1.9vw, 2.1rem); line-height: 1.2; font-weight: 650; letter-spacing: -0.01em; text-wrap: balance; }
h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; margin-bottom: 0.9rem; }
h3, caption { font-size: 1rem; line-height: 1.4; font-weight: 600; }
h4 { font-size: 0.8125rem; font-weight: 600; color: var(--muted); margin: 0.8rem 0 0.15rem; }
a { color: var(--accent); }
.whole { white-space: nowrap; }
.muted, .quiet dd, .hint { color: var(--muted); }
.muted { font-size: 0.9rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--page); padding: 0.4rem 0.8rem; z-index: 2; }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; padding: 0.15rem 0.65rem; }
button:hover { border-color: var(--muted); }
header { padding: 1.4rem 0 1.8rem; border-bottom: 1px solid var(--line); }
.top { display: flex; justify-content: space-between; align-items: center; gap: 1rem; margin-bottom: 1.3rem; font-size: 0.9rem; }
.top b { font-weight: 650; }
.facts-line { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.1rem 0; margin-bottom: 0.7rem; }
.facts-line li:not(:last-child)::after { content: "·"; padding: 0 0.5em; }
.why { margin-top: 0.7rem; max-width: 75ch; font-size: 1.0625rem; }
.why p + p { margin-top: 0.35rem; }
h1 + .why:empty { display: none; }
.why.small { font-size: 0.9rem; color: var(--muted); margin-top: 1.1rem; }
.summary { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.1rem; margin-top: 1.2rem; }
.tiles { display: flex; flex-wrap: wrap; gap: 0.8rem 2.4rem; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end; max-width: 17rem; min-width: min-content; }
.tiles dt { font-size: 0.875rem; line-height: 1.35; }
.tiles dd { white-space: nowrap; font-size: 1.9rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.01em; }
.phase-bars { display: grid; gap: 0.8rem; }
.stack { display: block; width: 100%; height: 1.7rem; border-radius: 4px; background: var(--card); margin-top: 0.2rem; }
.keys { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; margin-top: 0.3rem; font-size: 0.875rem; color: var(--muted); }
.keys li { display: flex; align-items: center; gap: 0.4rem; }
.actions h2 { font-size: 1rem; margin-bottom: 0.45rem; }
.actions ol { list-style: none; padding: 0; counter-reset: action; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 0.7rem 1.2rem; }
.actions li { counter-increment: action; border-top: 2px solid var(--accent); padding-top: 0.45rem; font-size: 0.9375rem; line-height: 1.4; }
.actions b { font-weight: 600; } .actions b::before { content: counter(action) ". "; }
.actions a { text-decoration: none; color: inherit; } .actions a:hover { text-decoration: underline; }
.actions .muted { display: block; margin-top: 0.2rem; }
.cut { margin-top: 1rem; padding: 0.6rem 0.9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); font-size: 0.9rem; }
nav { border-bottom: 1px solid var(--line); font-size: 0.9rem; }
nav ul { list-style: none; padding: 0.55rem 0; display: flex; flex-wrap: wrap; gap: 0.15rem 1.1rem; }
nav a { text-decoration: none; display: inline-block; padding: 0.1rem 0; }
nav a:hover { text-decoration: underline; }
main.wide { padding-bottom: 3rem; }
section { padding-top: 2.1rem; }
section > * + *, details > * + * { margin-top: 1.1rem; }
section > h2 + * { margin-top: 0; }
.appendix { padding-top: 0; border-top: 1px solid var(--line); }
section:not(.appendix) + .appendix { margin-top: 2.4rem; }
.appendix:last-child { border-bottom: 1px solid var(--line); }
.appendix > details > summary { padding: 0.6rem 0; }
.appendix > details > summary h2 { display: inline; font-size: 1.0625rem; margin: 0; }
.appendix > details[open] { padding-bottom: 1.4rem; }
section > h3 + * { margin-top: 0.4rem; }
section > .muted, figcaption .muted { margin-top: 0.2rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.6rem; }
.scroll { overflow-x: auto; max-width: 100%; position: relative; }
@media screen { .long { max-height: 32rem; overflow-y: auto; border-bottom: 1px solid var(--line); }
  .long thead th { position: sticky; top: 0; background: var(--page); } }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.35rem; }
th, td { padding: 0.28rem 0.9rem 0.28rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); unicode-bidi: isolate; }
thead th { color: var(--muted); font-weight: 500; vertical-align: bottom; white-space: nowrap; border-bottom-color: var(--muted); }
tbody th { font-weight: 400; max-width: 30rem; }
td { max-width: 30rem; }
.n { text-align: right; white-space: nowrap; }
.short { white-space: nowrap; }
.prose { min-width: min(13rem, 60vw); }
.names { min-width: min(15rem, 60vw); overflow-wrap: anywhere; }
td.n:last-child, th.n:last-child { padding-right: 0.2rem; }
.bars { width: 100%; max-width: 56rem; }
.bars th, .bars td { border-bottom: 0; padding-top: 0.16rem; padding-bottom: 0.16rem; vertical-align: middle; }
.bars tbody th { white-space: nowrap; min-width: 0; width: 1%; }
.bars .deeper th { padding-left: 1.3rem; color: var(--muted); }
.bar { width: 100%; min-width: 6rem; }
.bar svg { display: block; width: 100%; height: 0.8rem; border-radius: 3px; background: var(--card); }
.deeper .bar svg { height: 0.55rem; }
.idle { fill: var(--idle); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.facts { display: grid; gap: 0.3rem; }
.facts div { display: grid; grid-template-columns: minmax(7rem, 11rem) 1fr; gap: 0.1rem 1rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.facts dd { white-space: pre-wrap; }
.bad dd { color: var(--bad); } .bad .hint { color: inherit; } .good dd { color: var(--good); }
.lead { font-size: 1.1rem; font-weight: 600; }
.plain { list-style: none; padding: 0; }
.cards { list-style: none; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.9rem; }
.card { overflow-wrap: anywhere; }
.card { border: 1px solid var(--line); border-left: 4px solid var(--muted); border-radius: 8px; padding: 0.9rem 1.1rem; background: var(--card); }
.card.high { border-left-color: var(--bad); } .card.medium { border-left-color: var(--warn); }
.card ul { padding-left: 1.15rem; }
.tag { display: inline-block; font-size: 0.75rem; font-weight: 600; border: 1px solid currentColor; border-radius: 99px; padding: 0 0.55rem; margin-right: 0.3rem; color: var(--muted); }
.high .tag { color: var(--bad); } .medium .tag { color: var(--warn); }
.figures { display: flex; flex-wrap: wrap; gap: 0.15rem 1.6rem; margin-top: 0.4rem; font-size: 0.9375rem; }
.figures div { display: flex; gap: 0.45rem; }
.command { display: flex; gap: 0.6rem; align-items: center; justify-content: space-between; border: 1px solid var(--line); border-radius: 6px; padding: 0.35rem 0.6rem; background: var(--page); }
.command button { flex: none; font-size: 0.8125rem; }
.legend { list-style: none; padding: 0; margin-top: 0.5rem; display: flex; flex-wrap: wrap; gap: 0.3rem; }
.legend button { display: flex; align-items: center; gap: 0.4rem; font-size: 0.8125rem; border-color: transparent; padding: 0.1rem 0.4rem; }
.legend button:hover { border-color: var(--line); }
.legend button[aria-pressed=false] { color: var(--muted); text-decoration: line-through; }
.legend button[aria-pressed=false] svg { opacity: 0.35; }
.legend svg, .swatch { width: 0.75rem; height: 0.75rem; flex: none; overflow: visible; }
.legend rect, .swatch rect, .spread rect { stroke: var(--muted); stroke-width: 0.6; }
.family { display: inline-flex; gap: 0.4rem; align-items: center; white-space: nowrap; }
.heat-map { display: block; width: 100%; height: clamp(8rem, 42vw, 26rem); border: 1px solid var(--line); background: var(--card); margin-top: 0.6rem; }
.heat-axis { display: flex; justify-content: space-between; gap: 1rem; margin-top: 0.2rem; }
.heat .legend { gap: 0.3rem 1rem; font-size: 0.8125rem; } .heat .legend li { display: flex; align-items: center; gap: 0.4rem; }
.plot { position: relative; height: 250px; margin-top: 0.6rem; }
.plot.tall { height: 320px; }
.spread { display: block; width: 84px; height: 20px; } .spread path { stroke: var(--muted); stroke-width: 1; }
details > summary { cursor: pointer; }
figure details { margin-top: 0.5rem; } figure details > summary { color: var(--muted); font-size: 0.875rem; }
.name summary { word-break: break-all; }
td details code, th details code { display: block; margin-top: 0.3rem; color: var(--muted); }
.folded { border-top: 1px solid var(--line); padding: 0.55rem 0; } .folded + .folded { margin-top: 0; }
.folded:last-child { border-bottom: 1px solid var(--line); }
.folded > summary .muted { margin-left: 0.35rem; }
.folded > summary h3 { display: inline; }
footer { border-top: 1px solid var(--line); padding: 1rem 0 2rem; color: var(--muted); font-size: 0.875rem; }
@media (max-width: 640px) {
  .facts div { grid-template-columns: 1fr; } .facts { gap: 0.55rem; }
  .plot { height: 220px; } .plot.tall { height: 280px; }
  header { padding: 0.7rem 0 1.1rem; } .top { margin-bottom: 0.45rem; } .facts-line { margin-bottom: 0.4rem; } .facts-line li:nth-child(n + 3) { display: none; }
  .facts-line li:nth-child(2)::after { content: none; } h1 { font-size: 1.35rem; } .why { margin-top: 0.4rem; font-size: 0.9375rem; line-height: 1.4; }
  .summary { gap: 0.7rem; margin-top: 0.8rem; } .tiles { gap: 0.5rem 0.9rem; } .tiles div { flex: 1 1 6rem; max-width: none; }
  .tiles dd { font-size: 1.3rem; } .tiles dt { font-size: 0.8125rem; } .stack { height: 1.3rem; } .keys { font-size: 0.8125rem; }
  .actions ol { gap: 0.45rem; } .actions li { padding-top: 0.25rem; font-size: 0.875rem; line-height: 1.35; }
  header > .wide { display: flex; flex-direction: column; } .why { display: contents; } .why p { margin-top: 0.4rem; font-size: 0.9375rem; line-height: 1.4; }
  .why p + p, .why.small p { order: 1; font-size: 0.875rem; color: var(--muted); }
  .actions .muted { margin-top: 0; font-size: 0.8125rem; } .actions .claim { display: none; }
  .phase-bars { gap: 0.4rem; } .phase-bars > div + div .keys li:nth-child(n + 3), .keys li:nth-child(n + 4) { display: none; }
  table.stacks thead, .bars thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stacks, table.stacks tbody, .bars, .bars tbody, table.stacks caption, .bars caption { display: block; }
  table.stacks tr { display: flex; flex-wrap: wrap; gap: 0 1.1rem; padding: 0.45rem 0; border-bottom: 1px solid var(--line); }
  table.stacks th, table.stacks td { border: 0; padding: 0; min-width: 0; max-width: 100%; text-align: left; }
  table.stacks tbody th { flex: 1 0 100%; font-weight: 600; overflow-wrap: anywhere; white-space: normal; }
  table.stacks td:empty { display: none; }
  table.stacks td::before { content: attr(data-label) " "; color: var(--muted); }
  .bars tr { display: flex; flex-wrap: wrap; gap: 0 0.8rem; padding: 0.3rem 0; }
  .bars tbody th { flex: 1 1 auto; width: auto; white-space: normal; padding: 0; } .bars td { padding: 0; } .bars td.n:empty { display: none; }
  .bars .bar { order: 3; flex: 0 0 100%; min-width: 0; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print {
  body { font-size: 11pt; } nav, .skip, button[data-theme-toggle], [data-copy], figure details, .folded, .appendix { display: none !important; }
  section { padding-top: 1.2rem; } figure, .card, tr { break-inside: avoid; } h2, h3, caption { break-after: avoid; }
  .scroll { overflow: visible; } canvas { max-width: 100%; height: auto !important; } .plot, .plot.tall { height: auto; } a { color: inherit; }
  #more { display: none; }
}
`;
