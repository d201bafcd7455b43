/** What `npm run test:nightly` runs, and how often: the second column of the fault catalogue (docs/reliability/fault-catalogue.md). */

/** One sweep, in parts that can be run one by one. */
export interface Entry {
  readonly name: string;
  /** Lines of the catalogue that it counts for; none where no fault has to strike. */
  readonly faults: readonly string[];
  /** `default`: one that `npm test` has too. */
  readonly suite: 'sweep' | 'default';
  /** Empty: all. */
  readonly file: string;
  /** What a test's title has in it, where the file has several. */
  readonly test?: string;
  /** Of each part, counted from 1. */
  readonly env: (part: number) => Readonly<Record<string, string>>;
  readonly parts: number;
}

const FAILING_PROGRAM_PARTS = 40;

const kills = (name: string, faults: readonly string[], test: string, parts: number): Entry => ({
  name: `kill-${name}`,
  faults,
  suite: 'sweep',
  file: 'kill.test.ts',
  test,
  env: () => ({ SWEEP_KILLS: '50' }),
  parts,
});

/** Whose steps the catalogue wants to be hit: what makes a repository, changes keys or settings, or migrates. */
const F05_COMMANDS = [
  'init',
  'keys add',
  'keys remove',
  'keys passwd',
  'keys rotate',
  'config',
  'sources',
  'destinations',
  'migration',
];

/** A part hits every so many-th step of these commands, from another one on than the part before. */
const steps = (name: string, parts: number, commands: readonly string[], every: number): Entry => ({
  ...kills(name, ['F05'], 'of init', parts),
  env: (part) => ({
    SWEEP_COMMAND: commands.join(','),
    SWEEP_EVERY: String(every),
    SWEEP_FIRST: String(1 + (part % every)),
  }),
});

const sweep = (
  name: string,
  faults: readonly string[],
  parts: number,
  env: Readonly<Record<string, string>> = {},
): Entry => ({ name, faults, suite: 'sweep', file: `${name}.test.ts`, env: () => env, parts });

export const ENTRIES: readonly Entry[] = [
  // What `npm test` leaves to other changes, all of it.
  {
    name: 'turns',
    faults: [],
    suite: 'default',
    file: '',
    env: (part) => ({ HOLDFAST_TURN: String(part) }),
    parts: 4,
  },
  sweep('names', ['F36'], 3, { SWEEP_NAMES: '1000' }),
  sweep('stale-cache', ['F46'], 5, { SWEEP_ROUNDS: '100' }),
  sweep('source-gone', ['F34'], 1, { SWEEP_ROUNDS: '56' }),
  sweep('shared-repository', ['F43'], 2, { SWEEP_ROUNDS: '60' }),
  sweep('lost-machine', ['F45'], 1, { SWEEP_ROUNDS: '8' }),
  sweep('source-faults', ['F32', 'F33', 'F35'], 4, { SWEEP_ROUNDS: '60' }),
  sweep('hung-mounts', ['F35'], 1, { SWEEP_ROUNDS: '12' }),
  sweep('agent-hung-mounts', ['F35'], 2),
  {
    name: 'state-damage',
    faults: ['F44'],
    suite: 'default',
    file: 'property/state-damage',
    env: () => ({ HOLDFAST_STATE_DAMAGE_TIMES: '20' }),
    parts: 1,
  },
  {
    name: 'prune-calls',
    faults: ['F08'],
    suite: 'default',
    file: 'fault/prune-faults',
    env: () => ({ HOLDFAST_PRUNE_FAULTS_EVERY: '1' }),
    parts: 1,
  },
  sweep('failing-state', ['F08', 'F10'], 1),
  sweep('every-call', ['F08'], 1),
  sweep('full-disk', ['F09', 'F10'], 4, { SWEEP_FILLS: '50' }),
  kills('restore', ['F04'], 'of restore', 6),
  kills('rekey', ['F03'], 'of rekey', 4),
  kills('prune', ['F03'], 'of prune', 16),
  // More than 1,000 each: many of the kills are followed by a second one.
  kills('first', ['F01'], 'of the first', 18),
  kills('incremental', ['F02'], 'of the incremental', 19),
  sweep('agent-kill', ['F01', 'F04'], 6, { SWEEP_KILLS: '50' }),
  sweep('damage', ['F22', 'F23', 'F24'], 10, { SWEEP_DAMAGES: '800' }),
  steps('steps', 20, F05_COMMANDS, 1),
  // Beyond what the catalogue asks for; in halves, since all of them are more than half an hour.
  steps('more-steps', 8, ['start', 'forget', 'recover', 'keys drill', 'keys rekey', 'backup'], 2),
  {
    name: 'failing-program',
    faults: ['F08', 'F10', 'F12', 'F33'],
    suite: 'sweep',
    file: 'failing-program.test.ts',
    env: (part) => ({ SWEEP_EVERY: String(FAILING_PROGRAM_PARTS), SWEEP_FIRST: String(part) }),
    parts: FAILING_PROGRAM_PARTS,
  },
];
