/** A process that plays simulations: its arguments say which, its messages what came of them. */
import './process-hooks.ts';
import type { WorkerReport, WorkerTask } from './runner.ts';

// After the hooks, so that what the product draws while it is loaded is the same every time.
const { planOf } = await import('./plan.ts');
const { simulate } = await import('./simulate.ts');
const { shrink } = await import('./shrink.ts');
const { failureText } = await import('./failure-text.ts');

/** Enough for plans of seven machines, and seldom more than a minute. */
const MOST_TRIES = 400;

const [text = '{}'] = process.argv.slice(2);
const task = JSON.parse(text) as WorkerTask;
const counts = new Map<string, number>();
let seeds = 0;
/** Asked to end: after the seed at hand, with what came of those so far. */
const over = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => over.abort());
// Who started it has died: nobody will read what comes of the seeds.
process.on('disconnect', () => process.exit(1));
// That alone does not keep it running.
process.channel?.unref();
if (process.send !== undefined && !process.connected) process.exit(1);

function report(message: WorkerReport): void {
  process.send?.(message);
}

for (let seed = task.from; seed < task.below && !over.signal.aborted; seed += task.step) {
  const plan = planOf(seed);
  const { violation, counts: more, trace } = await simulate(plan, { traced: task.replay });
  seeds += 1;
  for (const [what, count] of more) counts.set(what, (counts.get(what) ?? 0) + count);
  if (task.replay)
    report({ kind: 'text', text: [...trace, violation?.message ?? 'Every promise was kept.'].join('\n') });
  if (violation === undefined) continue;
  if (!task.shrinks) {
    report({ kind: 'violation', seed, promise: violation.promise, text: violation.message });
    if (task.untilFirst) break;
    continue;
  }
  const { plan: smallest } = await shrink(plan, violation.promise, MOST_TRIES);
  const again = await simulate(smallest, { traced: true });
  const shown = again.violation ?? violation;
  report({
    kind: 'violation',
    seed,
    promise: shown.promise,
    text: failureText(smallest, shown, again.trace),
  });
  if (task.untilFirst) break;
}
report({ kind: 'end', seeds, counts: Object.fromEntries(counts) });
