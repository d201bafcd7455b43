/** What whoever looks at the storage learns of it without any key: names, and the places of records. */
import { sha256 } from '../../src/repository/objects/objects.ts';
import type { ObjectStorage } from '../simulator/storage.ts';

const CHAIN_AT = 80;

export interface SeenRecord {
  readonly key: string;
  readonly name: string;
  readonly writer: string;
  readonly seq: number;
  readonly prev: string;
}

/** Snapshots and tombstones, with the places that their contexts give. */
export function recordsIn(storage: ObjectStorage): SeenRecord[] {
  return storage.keys().flatMap((key) => {
    if (!key.startsWith('snapshots/') && !key.startsWith('trash/')) return [];
    const body = storage.get(key)?.body;
    if (body === undefined || body.length < CHAIN_AT + 56) return [];
    const context = body.subarray(CHAIN_AT, CHAIN_AT + 56);
    return [
      {
        key,
        name: key.slice(key.indexOf('/') + 1),
        writer: context.toString('hex', 0, 16),
        seq: Number(context.readBigUInt64BE(16)),
        prev: context.toString('hex', 24),
      },
    ];
  });
}

/** Of each writer the newest number that a head or record shows, below what nobody has come to. */
export function writersIn(storage: ObjectStorage): { readonly writer: string; readonly seq: number }[] {
  const newest = new Map<string, number>();
  for (const { writer, seq } of recordsIn(storage))
    if (seq < 1_000) newest.set(writer, Math.max(seq, newest.get(writer) ?? 0));
  return [...newest].map(([writer, seq]) => ({ writer, seq }));
}

/** The number above all that stand under `prefix` and are below a million. */
export function nextNumber(storage: ObjectStorage, prefix: string): number {
  const numbers = storage
    .keys()
    .filter((key) => key.startsWith(prefix))
    .map((key) => Number(key.slice(prefix.length)))
    .filter((n) => Number.isSafeInteger(n) && n < 1_000_000);
  return Math.max(0, ...numbers) + 1;
}

export function named(prefix: string, body: Buffer): string {
  const name = sha256(body);
  return prefix === 'packs/' ? `packs/${name.slice(0, 2)}/${name}` : `${prefix}${name}`;
}

export function headKey(writer: string, seq: number | bigint): string {
  return `heads/${writer}/${String(seq).padStart(16, '0')}`;
}
