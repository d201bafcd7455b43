/** The amount that is stored in each destination, from the last job there, and its history. */
import type { SettingStore } from '../../db/settings.ts';
import type { StoredAmount, StoredAmountStore } from '../../db/stored-amounts.ts';

export interface StoredBytes {
  readonly bytes: number;
  /** When it was measured; milliseconds since 1970. */
  readonly at: number;
}

/** Undefined while unknown. */
export function storedBytesOf(
  settings: Pick<SettingStore, 'get'>,
  destination: string,
): StoredBytes | undefined {
  const [bytes, at] = (settings.get(keyOf(destination)) ?? '').split(' ');
  if (bytes === undefined || bytes === '') return undefined;
  // Earlier versions stored no time.
  return { bytes: Number(bytes), at: Number(at ?? 0) };
}

export interface StoredBytesStores {
  readonly settings: SettingStore;
  readonly storedAmounts: StoredAmountStore;
}

export function keepStoredBytes(
  { settings, storedAmounts }: StoredBytesStores,
  destination: string,
  bytes: number,
  nowMs: number,
): void {
  settings.set(keyOf(destination), `${bytes} ${nowMs}`);
  storedAmounts.put(destination, { at: nowMs, bytes });
}

/** To be called when the destination has moved to another place. The history is kept. */
export function forgetStoredBytes(settings: Pick<SettingStore, 'set'>, destination: string): void {
  settings.set(keyOf(destination), undefined);
}

/** To be called when the place has another name now. */
export function carryStoredBytes(
  settings: Pick<SettingStore, 'get' | 'set'>,
  from: string,
  to: string,
): void {
  settings.set(keyOf(to), settings.get(keyOf(from)));
}

/** The oldest first. */
export function storedOverTime(
  { settings, storedAmounts }: StoredBytesStores,
  destination: string,
): readonly StoredAmount[] {
  const amounts = storedAmounts.of(destination);
  const last = storedBytesOf(settings, destination);
  // Earlier versions kept only the last amount, and so does the journal.
  if (last === undefined || last.at <= (amounts.at(-1)?.at ?? 0)) return amounts;
  return [...amounts, last];
}

function keyOf(destination: string): string {
  return `stored ${destination}`;
}
