/** How much is stored in each destination, as of the last job there. */
import type { SettingStore } from '../db/settings.ts';

export interface StoredBytes {
  readonly bytes: number;
  /** When it was found out; milliseconds since 1970. */
  readonly at: number;
}

/** Undefined while unknown. */
export function storedBytesOf(
  settings: Pick<SettingStore, 'get'>,
  destination: string,
): StoredBytes | undefined {
  const [bytes, at] = (settings.get(keyOf(destination)) ?? '').split(' ');
  if (bytes === undefined || bytes === '') return undefined;
  // The time is missing in what an earlier version has kept.
  return { bytes: Number(bytes), at: Number(at ?? 0) };
}

export function keepStoredBytes(
  settings: Pick<SettingStore, 'set'>,
  destination: string,
  bytes: number,
  nowMs: number,
): void {
  settings.set(keyOf(destination), `${bytes} ${nowMs}`);
}

function keyOf(destination: string): string {
  return `stored ${destination}`;
}
