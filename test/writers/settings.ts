/** What a person can ask of a run of many writers. */
import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run test:writers -- [options]
  --writers N    backups in one repository, a third of them by agents (default 5)
  --minutes M    how long they work (default 10)
  --grace S      seconds between marking a pack and deleting it (default 120)
  --keep N       snapshots of each source that retention keeps (default 4)
  --seed N       another choice of moments (default: by the clock)
  --scratch DIR  where everything goes (default: the system's)
  --json FILE    where all figures go
  --leave        keep the directory afterwards
`;

export interface RunSettings {
  readonly writers: number;
  readonly minutes: number;
  readonly graceSeconds: number;
  readonly keep: number;
  readonly seed: number;
  readonly scratch: string | undefined;
  readonly json: string | undefined;
  readonly leave: boolean;
}

/** The arguments cannot be understood; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws {UsageError} */
export function understand(parameters: readonly string[]): RunSettings {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      writers: { type: 'string', default: '5' },
      minutes: { type: 'string', default: '10' },
      grace: { type: 'string', default: '120' },
      keep: { type: 'string', default: '4' },
      seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000_000)) },
      scratch: { type: 'string' },
      json: { type: 'string' },
      leave: { type: 'boolean', default: false },
    },
  });
  const whole = (name: 'writers' | 'grace' | 'keep' | 'seed', atLeast: number): number => {
    const number = Number(values[name]);
    if (!Number.isSafeInteger(number) || number < atLeast)
      throw new UsageError(`--${name} is "${values[name]}", which is no whole number from ${atLeast} on`);
    return number;
  };
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new UsageError(`--minutes is "${values.minutes}", which is no time`);
  return {
    writers: whole('writers', 1),
    minutes,
    graceSeconds: whole('grace', 1),
    keep: whole('keep', 1),
    seed: whole('seed', 1),
    scratch: values.scratch,
    json: values.json,
    leave: values.leave,
  };
}
