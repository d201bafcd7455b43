/** Who the attacker is: what it can do, and how often it chooses to. */

export type Power =
  /** A write-only key, and storage that takes what is added. */
  | 'key'
  /** A write-only key and the storage itself. */
  | 'key-and-storage'
  | 'storage'
  /** What TLS leaves to whoever stands between: delays, and cut connections. */
  | 'network';

/** Done with a write-only key. */
const WITH_KEY = [
  ['config-again', 3],
  ['config-made-up', 1],
  ['tombstone-again', 4],
  ['tombstone-made-up', 1],
  ['prune-lease', 2],
  ['session-lease', 2],
  ['snapshot', 4],
  ['claimed-backup', 3],
  ['endless-tree', 2],
  ['head', 4],
  ['pack', 2],
] as const;

/** Done by whoever may add objects. */
const WITH_ADDING = [
  ['garbage', 3],
  ['replay', 3],
  ['ring-again', 2],
  ['plain-pack', 1],
] as const;

/** Done by the storage. */
const WITH_STORAGE = [
  ['delete', 2],
  ['truncate', 1],
  ['swap', 1],
  ['hide', 3],
  ['roll-back', 3],
  ['show-all', 2],
  ['reorder', 1],
  ['clock', 2],
  ['extra-names', 1],
] as const;

const WITH_NETWORK = [
  ['cut', 3],
  ['lost-reply', 3],
  ['delay', 2],
] as const;

export type Attack =
  | (typeof WITH_KEY)[number][0]
  | (typeof WITH_ADDING)[number][0]
  | (typeof WITH_STORAGE)[number][0]
  | (typeof WITH_NETWORK)[number][0];

export const ATTACKS: Readonly<Record<Power, readonly (readonly [Attack, number])[]>> = {
  key: [...WITH_KEY, ...WITH_ADDING],
  'key-and-storage': [...WITH_KEY, ...WITH_ADDING, ...WITH_STORAGE],
  storage: [...WITH_ADDING, ...WITH_STORAGE],
  network: WITH_NETWORK,
};

export function ownsStorage(power: Power): boolean {
  return power === 'storage' || power === 'key-and-storage';
}

export function hasKey(power: Power): boolean {
  return power === 'key' || power === 'key-and-storage';
}
