"""How a report looks, besides what all pages have in common."""

STYLE = """
:root { --bar: #6a8fc4; --low: #b3541e; --mark: #ffe3a3; --missing: #d6e4fb; --shade: 30, 95, 190; }
body { max-width: 75rem; }
main p { max-width: 46rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .75rem .15rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-weight: normal; border-bottom: 1px solid var(--line); }
tbody th { font-weight: normal; }
td, th { white-space: nowrap; }
.bar { position: relative; display: inline-block; width: clamp(4rem, 22vw, 18rem); height: .8rem;
  background: linear-gradient(var(--line), var(--line)) 0 100% / 100% 1px no-repeat; }
.bar i, .bar b { position: absolute; height: .7rem; top: .05rem; }
.bar i { background: var(--bar); left: 0; }
.bar b { height: 0; top: .35rem; border-top: 2px solid var(--ink); }
.few { color: var(--quiet); }
.few i { opacity: .4; }
.doubt { border-left: .25rem solid var(--low); padding-left: .75rem; }
article { border-top: 1px solid var(--line); padding: .5rem 0; max-width: 60rem; }
article h4 { font-size: .85rem; font-weight: normal; color: var(--quiet); margin: 0; }
article dl { margin: .25rem 0; grid-template-columns: 8rem 1fr; max-width: none; }
article dt { overflow-wrap: anywhere; }
article dd { white-space: pre-wrap; }
mark { color: inherit; background: var(--mark); border-radius: .15rem; }
mark.missing { background: var(--missing); text-decoration: underline dotted; }
summary { cursor: pointer; margin: .5rem 0; }
.attention td { min-width: 1.7rem; padding: .1rem; font-size: .75rem; text-align: center;
  vertical-align: middle; border: 1px solid var(--line); }
.attention td.most { outline: 2px solid var(--ink); outline-offset: -2px; }
.attention thead th { border: 0; padding: .25rem 0; vertical-align: bottom; color: inherit; }
.attention thead th span { writing-mode: vertical-rl; transform: rotate(180deg); }
.attention tbody th { text-align: right; padding-right: .5rem; position: sticky; left: 0;
  background: var(--paper); }
@media (max-width: 40rem) {
  article dl { grid-template-columns: 1fr; }
  th, td { padding-right: .5rem; }
  thead th { white-space: normal; }
  .name { display: inline-block; width: max-content; max-width: 6rem; white-space: normal;
    overflow-wrap: anywhere; }
}
@media (prefers-color-scheme: dark) {
  :root { --bar: #7ea3d8; --low: #e08a52; --mark: #5b4514; --missing: #23406e;
    --shade: 110, 165, 245; }
}
"""
