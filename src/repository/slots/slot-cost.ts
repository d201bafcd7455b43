/** What it may cost to try the key slots that a storage shows: anybody who may write there can plant some. */
import { RepositoryError } from '../../base/errors.ts';
import { formatBytes } from '../../base/units.ts';
import { DEFAULT_COST, type Argon2Cost } from '../../codec/kdf.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import type { SlotFile } from './slot-file.ts';

/** What more there is was put there by a stranger. */
export const MOST_SLOTS = 64;

/** Costs outside of these are refused: a planted slot must neither exhaust memory nor weaken the passphrase. */
const COST_LIMITS = { minM: 65_536, maxM: 1_048_576, maxT: 8, maxP: 8, memoryShare: 1 / 4 } as const;
/** What repositories are usually made with may take so much of the memory of a small machine: it has to open them. */
const USUAL_SHARE = 3 / 4;

/**
 * KiB times passes of all slots that one passphrase is tried on: as many of the usual cost as a repository can have, which
 * take about half a minute. Cheap ones come first, so that nothing dearer can keep these from being tried.
 */
const MOST_WORK = MOST_SLOTS * workOf(DEFAULT_COST);

export interface SlotTries {
  /** In the order in which they are tried. */
  readonly tried: readonly SlotFile[];
  /** How many are not tried, since all together would take too long. */
  readonly left: number;
  /** Why one of the others is not tried. */
  readonly refused: RepositoryError | undefined;
}

/**
 * The slots that a secret of this kind is tried on.
 * @param slots oldest first
 * @param allowWeak accept passphrase costs below the floor (repositories made for tests)
 * @param memory bytes that there are on this machine
 */
export function planTries(
  slots: readonly SlotFile[],
  kind: SlotFile['kind'],
  allowWeak: boolean,
  mostWork: number = MOST_WORK,
  memory: number = memoryBytes(),
): SlotTries {
  const fitting: { readonly slot: SlotFile; readonly work: number }[] = [];
  let refused: RepositoryError | undefined;
  for (const slot of slots) {
    if (slot.kind !== kind) continue;
    const refusal =
      slot.cost === undefined
        ? undefined
        : costRefusal(slot.cost, `key slot ${slot.slot}`, allowWeak, memory);
    if (refusal === undefined) fitting.push({ slot, work: slot.cost === undefined ? 0 : workOf(slot.cost) });
    else refused = refusal;
  }
  fitting.sort((a, b) => a.work - b.work);
  let work = 0;
  const tried = fitting.filter((one) => (work += one.work) <= mostWork).map(({ slot }) => slot);
  return { tried, left: fitting.length - tried.length, refused };
}

/** Fewer lanes take longer for it, and no less memory. */
function workOf({ m, t }: Argon2Cost): number {
  return m * t;
}

function costRefusal(
  cost: Argon2Cost,
  object: string,
  allowWeak: boolean,
  memory: number,
): RepositoryError | undefined {
  const kib = memory / 1_024;
  const usual = Math.min(DEFAULT_COST.m, kib * USUAL_SHARE);
  const share = Math.max(COST_LIMITS.minM, usual, kib * COST_LIMITS.memoryShare);
  const floor = allowWeak ? 8 : COST_LIMITS.minM;
  const sound =
    cost.m >= floor &&
    cost.m <= Math.min(COST_LIMITS.maxM, share) &&
    cost.t >= 1 &&
    cost.t <= COST_LIMITS.maxT &&
    cost.p >= 1 &&
    cost.p <= COST_LIMITS.maxP;
  if (sound) return undefined;
  if (cost.m <= DEFAULT_COST.m && cost.m > share)
    return new RepositoryError(
      'LIMIT_EXCEEDED',
      `${object} takes ${formatBytes(cost.m * 1_024)} of memory to open, and there are ${formatBytes(memory)} here`,
      {
        hint: 'Open it with the recovery code, or where there is more memory: a service or container may be given more.',
      },
    );
  return new RepositoryError(
    'LIMIT_EXCEEDED',
    `${object} asks for a passphrase cost outside of the limits (m=${cost.m} KiB, t=${cost.t}, p=${cost.p})`,
    {
      hint: 'The repository may have been tampered with, or this machine has too little memory: open it with the recovery code or on a larger machine.',
    },
  );
}
