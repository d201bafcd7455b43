/** What a process does that plays simulations, whichever it plays: its arguments say which seeds, its messages what came of them. */
import type { WorkerReport, WorkerTask } from './runner.ts';
import { shrink, type BrokenPromise, type Played } from './shrink.ts';

/** Enough for plans of seven machines, and seldom more than a minute. */
const MOST_TRIES = 400;

export interface Game<Plan, Found extends BrokenPromise> {
  readonly planOf: (seed: number) => Plan;
  readonly smaller: (plan: Plan) => Iterable<Plan>;
  readonly simulate: (plan: Plan, options?: { readonly traced?: boolean }) => Promise<Played<Found>>;
  readonly failureText: (plan: Plan, violation: Found, trace: readonly string[]) => string;
}

export async function playSeeds<Plan, Found extends BrokenPromise>(game: Game<Plan, Found>): Promise<void> {
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
  const report = (message: WorkerReport): void => void process.send?.(message);

  for (let seed = task.from; seed < task.below && !over.signal.aborted; seed += task.step) {
    if (task.announces) report({ kind: 'seed', seed });
    const plan = game.planOf(seed);
    const { violation, counts: more, trace } = await game.simulate(plan, { traced: task.replay });
    seeds += 1;
    for (const [what, count] of more) counts.set(what, (counts.get(what) ?? 0) + count);
    if (task.replay)
      report({
        kind: 'text',
        text: [...trace, violation?.message ?? 'Every promise was kept.'].join('\n'),
      });
    if (violation === undefined) continue;
    if (!task.shrinks) {
      report({ kind: 'violation', seed, promise: violation.promise, text: violation.message });
      if (task.untilFirst) break;
      continue;
    }
    const { plan: smallest } = await shrink(plan, violation.promise, game, MOST_TRIES);
    const again = await game.simulate(smallest, { traced: true });
    const shown = again.violation ?? violation;
    report({
      kind: 'violation',
      seed,
      promise: shown.promise,
      text: game.failureText(smallest, shown, again.trace),
    });
    if (task.untilFirst) break;
  }
  report({ kind: 'end', seeds, counts: Object.fromEntries(counts) });
}
