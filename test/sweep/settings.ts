/** What a person can set for a sweep, and the line it ends with. */

/** A number from the environment. */
export function sweepCount(name: string, usual: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return usual;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${name} is "${text}", which is no count`);
  return count;
}

/** From SWEEP_SEED, else another one each time. */
export function sweepSeed(): number {
  return sweepCount('SWEEP_SEED', 1 + (Date.now() % 1_000_000_000));
}

/** One line with the figures of a sweep. */
export function say(line: string): void {
  process.stdout.write(`\n${line}\n`);
}
