/** Limits the cost of trying key slots, since anyone who may write to the storage can plant some. */
import { RepositoryError } from '../../base/errors.ts';
import { formatBytes } from '../../base/units.ts';
import { DEFAULT_COST, type Argon2Cost } from '../../codec/kdf.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import type { SlotFile } from './slot-file.ts';

/** A repository has no more slots than this; further ones were planted. */
export const MOST_SLOTS = 64;

/** Costs outside of these are refused: a planted slot must neither exhaust memory nor weaken the passphrase. */
const COST_LIMITS = { minM: 65_536, maxM: 1_048_576, maxT: 8, maxP: 8, memoryShare: 1 / 4 } as const;
/** The usual cost may take up to this share of a small machine's memory, since the machine has to open such repositories. */
const USUAL_SHARE = 3 / 4;

/**
 * Most KiB times passes over all slots that one passphrase is tried on: as many slots of the usual cost as a repository
 * can have, which take about half a minute. Cheap slots come first, so that dearer ones cannot keep them from being
 * tried.
 */
const MOST_WORK = MOST_SLOTS * workOf(DEFAULT_COST);

export interface SlotTries {
  /** In the order in which they are tried. */
  readonly tried: readonly SlotFile[];
  /** How many slots are not tried because all together would take too long. */
  readonly left: number;
  /** Why a slot whose cost is outside of the limits is not tried; undefined where there is none. */
  readonly refused: RepositoryError | undefined;
}

/**
 * Chooses the slots on which a secret of this kind is tried.
 * @param slots oldest first
 * @param allowWeak accept passphrase costs below the floor (repositories made for tests)
 * @param memory bytes of memory on this machine
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

/** Lanes are ignored: fewer lanes only take longer for the same work. */
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
        hint: 'Open it with the recovery code, or where there is more memory. If this is a service or container, give it more.',
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
