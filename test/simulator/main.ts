/**
 * `npm run test:simulator -- --seeds 100000 --from 1`, `-- --seed 17 --replay`, `-- --defects`, and the same of
 * `test:attacker`: docs/reliability/simulator.md and attacker.md say what is simulated.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findDefects } from './defects.ts';
import { runSeeds, type RunResult } from './runner.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    replay: { type: 'boolean', default: false },
    defects: { type: 'boolean', default: false },
    /** Only those whose name contains this. */
    only: { type: 'string', default: '' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Attacks in place of faults. */
    attacker: { type: 'boolean', default: false },
  },
});

const folder = values.attacker ? 'attacker' : 'simulator';

// Its processes get the signal too, and end with what they have.
const over = new AbortController();
process.on('SIGINT', () => over.abort());

function totals({ seeds, violations, counts, seconds }: RunResult): string {
  const lines = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `  ${count} × ${what}`);
  const speed = `${(seeds / seconds).toFixed(1)} seeds/s`;
  return [
    `${seeds} seeds, ${violations.length} violations, ${seconds.toFixed(0)} s, ${speed}`,
    ...lines,
  ].join('\n');
}

if (values.defects) {
  process.exitCode = await findDefects({
    most: Number(values.seeds === '1000' ? 10_000 : values.seeds),
    from: Number(values.from),
    only: values.only,
    folder,
    processes: Number(values.processes),
  });
} else {
  const one = values.seed === undefined ? undefined : Number(values.seed);
  const from = one ?? Number(values.from);
  const result = await runSeeds({
    from,
    below: one === undefined ? from + Number(values.seeds) : from + 1,
    replay: values.replay,
    shrinks: !values.replay,
    untilFirst: false,
    folder,
    processes: Number(values.processes),
    signal: over.signal,
    onReport: (report) => {
      if (report.kind === 'text' || report.kind === 'violation') console.log(report.text);
    },
  });
  console.log(totals(result));
  if (result.violations.length > 0) process.exitCode = 1;
}
