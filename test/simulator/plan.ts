/** What happens in one simulation, as data: made from a seed, printed, replayed and made smaller. */
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { withClockAhead } from './clock-ahead.ts';
import { meetingOf } from './meeting.ts';
import { keeperOf, withRival } from './new-keys.ts';
import { withSleepyRecord } from './sleepy-records.ts';
import { DAY, GRACE_MS, HOUR, MINUTE } from './times.ts';

export interface Plan {
  readonly seed: number;
  readonly storage: 'objects' | 'directory';
  /** Of several who create one key exactly one succeeds; otherwise the last one's bytes stay. */
  readonly conditionalCreate: boolean;
  /** The storage's times are whole seconds. */
  readonly coarseTimes: boolean;
  /** At the end, without faults, everybody backs up once more, prune runs and a check reads everything. */
  readonly settles: boolean;
  readonly machines: readonly MachinePlan[];
}

export interface MachinePlan {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly faults: readonly Fault[];
  /** A copy of the machine with this name, made when it first does something: disk, and state of its random numbers. */
  readonly cloneOf?: string;
}

export interface Operation {
  readonly do:
    | 'backup'
    | 'isolated-backup'
    | 'plain-backup'
    | 'retention'
    | 'forget'
    | 'retag'
    | 'prune'
    | 'planned-prune'
    | 'rotate'
    | 'rekey';
  /** When it begins at the earliest, in milliseconds. */
  readonly atMs: number;
}

export const FAULT_KINDS = [
  // of any call
  'kill-before',
  'kill-after',
  'power-before',
  'power-after',
  'sleep-before',
  'sleep-after',
  'cancel',
  'wall-jump',
  'slow',
  // of calls to a storage that is reached through a network
  'storage-jump',
  'lost-request',
  'lost-reply',
  'late',
  'outage',
  // of lists
  'partial-list',
  'stale-list',
  'broken-list',
  // of puts and deletes
  'hidden-put',
  'delete-returns',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** It hits the first suitable call of the machine from this one on, */
  readonly step: number;
  /** and of these, if given, one for a key or file whose path has this part; before a key stands `put`, `list`, …, */
  readonly at?: string;
  /** and the one that is made by the operation planned for this time, `step` counted from its beginning. */
  readonly duringMs?: number;
  /** How long, or how far. */
  readonly ms: number;
}

/** The storage does not do what its contract says. */
export const LIES: ReadonlySet<FaultKind> = new Set([
  'partial-list',
  'stale-list',
  'hidden-put',
  'delete-returns',
  'storage-jump',
]);

/** Where it hurts most: what is stored, and in which order, is what everything else rests on. */
const PLACES = [
  'packs/',
  'index/',
  'snapshots/',
  'heads/',
  'trash/',
  'leases/',
  'leases/prune',
  '.json',
  'keys/',
];

/** What prune decides by. */
const LISTED = ['snapshots/', 'packs/', 'trash/', 'index/', 'heads/'];

/** Share of plans in which somebody is held up while others do what he must not miss. */
const MEETINGS = 0.3;

/** Share of plans with a store in which a pruner's clock is set ahead. */
const AHEAD = 0.1;
/** Share of plans in which keys are rotated. */
const NEW_KEYS = 0.1;
/** Share of these in which two machines rotate the keys at about the same moments. */
const RIVALS = 0.5;
/** Share of plans with a store in which somebody sleeps while he marks packs or stores a snapshot again, and of those with new keys. */
const SLEEPY = { usual: 0.03, newKeys: 0.3 };
const MORE_SEEDS = 1_000_000_007;

/** How many calls one operation makes, or so. */
const STEPS_OF_OPERATION = 120;

export function planOf(seed: number): Plan {
  const plan = planWithMore(seed);
  const random = seededRandom(seed + 2 * MORE_SEEDS);
  const share = plan.machines.some(({ name }) => name.startsWith('keeper')) ? SLEEPY.newKeys : SLEEPY.usual;
  if (plan.storage !== 'objects' || random.next() >= share) return plan;
  return { ...plan, machines: withSleepyRecord(plan.machines, random) };
}

function planWithMore(seed: number): Plan {
  const plan = usualPlanOf(seed);
  // Numbers of their own: the other plans stay as they are.
  const random = seededRandom(seed + MORE_SEEDS);
  const kind = random.next();
  if (kind >= 1 - NEW_KEYS) {
    const keeper = { ...keeperOf(plan.machines, random), faults: [] };
    const faults = faultsOf(keeper, plan.storage, random);
    const machines = [...plan.machines, { ...keeper, faults }];
    return { ...plan, machines: random.next() < RIVALS ? withRival(machines, keeper, random) : machines };
  }
  if (plan.storage !== 'objects' || kind >= AHEAD) return plan;
  return { ...plan, machines: withClockAhead(plan.machines, random) };
}

function usualPlanOf(seed: number): Plan {
  const random = seededRandom(seed);
  const writers = 2 + random.below(4);
  const pruners = 1 + random.below(2);
  const storage: Plan['storage'] = random.next() < 0.25 ? 'directory' : 'objects';
  const rounds = roundsOf(random);
  const machines: MachinePlan[] = [];
  for (let n = 1; n <= writers; n += 1) machines.push(writerOf(`writer${n}`, rounds, random));
  for (let n = 1; n <= pruners; n += 1) machines.push(prunerOf(`pruner${n}`, rounds, random));
  if (random.next() < 0.1)
    machines.push({ ...writerOf('clone1', rounds.slice(1), random), cloneOf: 'writer1' });
  const facts = {
    seed,
    storage,
    conditionalCreate: storage === 'directory' || random.next() < 0.7,
    coarseTimes: random.next() < 0.5,
    settles: random.next() < 0.15,
  };
  if (random.next() < MEETINGS) {
    const named = (kind: string): string[] =>
      machines.map(({ name }) => name).filter((name) => name.startsWith(kind));
    return { ...facts, machines: meetingOf(named('writer'), named('pruner'), storage, random) };
  }
  return {
    ...facts,
    machines: machines.map((one) => ({ ...one, faults: faultsOf(one, storage, random) })),
  };
}

/** Fewer machines, operations and faults; each candidate leaves one of them out. */
export function* smaller(plan: Plan): Generator<Plan> {
  const { machines } = plan;
  for (const machine of machines)
    yield { ...plan, machines: machines.filter((one) => one !== machine && one.cloneOf !== machine.name) };
  for (const machine of machines) {
    const changed = (change: Partial<typeof machine>): Plan => ({
      ...plan,
      machines: machines.map((one) => (one === machine ? { ...one, ...change } : one)),
    });
    for (const operation of machine.operations)
      yield changed({ operations: machine.operations.filter((one) => one !== operation) });
    for (const fault of machine.faults)
      yield changed({ faults: machine.faults.filter((one) => one !== fault) });
  }
}

/** All act around the same times, since what matters happens when they meet; in between marked packs become due. */
function roundsOf(random: SeededRandom): number[] {
  const rounds: number[] = [];
  let atMs = 0;
  for (let n = 2 + random.below(3); n > 0; n -= 1) {
    rounds.push(atMs);
    atMs += random.next() < 0.7 ? GRACE_MS + random.below(2 * HOUR) : random.below(DAY);
  }
  return rounds;
}

function writerOf(name: string, rounds: readonly number[], random: SeededRandom): MachinePlan {
  const operations: Operation[] = [];
  for (const round of rounds) {
    if (random.next() < 0.5) {
      const kind = random.next();
      const what = kind < 0.08 ? 'isolated-backup' : kind < 0.16 ? 'plain-backup' : 'backup';
      operations.push({ do: what, atMs: round + offset(random) });
    }
    if (random.next() < 0.25) {
      const kind = random.next();
      operations.push({
        do: kind < 0.6 ? 'retention' : kind < 0.9 ? 'forget' : 'retag',
        atMs: round + offset(random),
      });
    }
  }
  return { name, operations, faults: [] };
}

function prunerOf(name: string, rounds: readonly number[], random: SeededRandom): MachinePlan {
  const operations: Operation[] = [];
  for (const round of rounds) {
    if (random.next() < 0.15) operations.push({ do: 'retention', atMs: round + offset(random) });
    if (random.next() < 0.7)
      operations.push({ do: random.next() < 0.8 ? 'prune' : 'planned-prune', atMs: round + offset(random) });
  }
  return { name, operations, faults: [] };
}

function offset(random: SeededRandom): number {
  return random.next() < 0.7 ? random.below(30_000) : random.below(20 * MINUTE);
}

function faultsOf({ operations }: MachinePlan, storage: Plan['storage'], random: SeededRandom): Fault[] {
  const faults: Fault[] = [];
  const kinds = storage === 'objects' ? FAULT_KINDS : FAULT_KINDS.slice(0, 9);
  const most = Math.ceil(operations.length / 2);
  for (let n = random.below(most + 1); n > 0; n -= 1) {
    const kind = kinds[random.below(kinds.length)] ?? 'slow';
    const step = random.below(operations.length * STEPS_OF_OPERATION);
    const places = kind.endsWith('-list') ? LISTED : PLACES;
    const at = random.next() < 0.5 ? places[random.below(places.length)] : undefined;
    faults.push({ kind, step, ms: extentOf(kind, random), ...(at === undefined ? {} : { at }) });
  }
  return faults.sort((a, b) => a.step - b.step);
}

function extentOf(kind: FaultKind, random: SeededRandom): number {
  switch (kind) {
    case 'sleep-before':
    case 'sleep-after':
      return [MINUTE, 10 * MINUTE, HOUR, DAY, 3 * DAY, 8 * DAY][random.below(6)] ?? MINUTE;
    case 'wall-jump':
      return ([HOUR, DAY, 400 * DAY, 3_650 * DAY][random.below(4)] ?? HOUR) * (random.next() < 0.5 ? -1 : 1);
    case 'storage-jump':
      return ([MINUTE, 10 * MINUTE, HOUR][random.below(3)] ?? MINUTE) * (random.next() < 0.5 ? -1 : 1);
    case 'slow':
      return random.below(15 * MINUTE);
    case 'outage':
      return random.below(20 * MINUTE);
    case 'late':
    case 'hidden-put':
    case 'stale-list':
      return 1_000 + random.below(59_000);
    case 'delete-returns':
      return random.below(HOUR);
    case 'kill-before':
    case 'kill-after':
    case 'power-before':
    case 'power-after':
    case 'cancel':
    case 'lost-request':
    case 'lost-reply':
    case 'partial-list':
    case 'broken-list':
      return 5_000 + random.below(MINUTE);
  }
}
