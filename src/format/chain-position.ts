/** The position of a record in its writer's chain, and the bounds of all numbers of the format. */
import { corrupt } from '../base/errors.ts';

/** Context block of the records that form a writer's chain. */
export interface ChainPosition {
  /** 32 hex digits. */
  readonly writer: string;
  readonly seq: number;
  /** Name of the writer's previous record; 64 zeros for the first. */
  readonly prev: string;
}

/** Identifies a record by writer and number. */
export type ChainPlace = Pick<ChainPosition, 'writer' | 'seq'>;

export const NO_RECORD = '0'.repeat(64);

/** Records of a chain are numbered from 1, and integers of this format are below 2^53, which no writer comes near. */
export const MAX_SEQ = Number.MAX_SAFE_INTEGER;
/** Rings and configurations have nine digits: a change each second for 31 years. */
export const MAX_NUMBER = 999_999_999;
/** Epochs of leases rise by one each minute and, where creating a key is not exclusive, by up to 2^30 with each new lease. */
export const MAX_EPOCH = 999_999_999_999_999;

export const CHAIN_CONTEXT_BYTES = 56;

export function encodeChainContext(position: ChainPosition): Buffer {
  const context = Buffer.alloc(CHAIN_CONTEXT_BYTES);
  context.write(position.writer, 0, 'hex');
  context.writeBigUInt64BE(BigInt(position.seq), 16);
  context.write(position.prev, 24, 'hex');
  return context;
}

/** @throws {RepositoryError} CORRUPT_DATA for a number that no record can have */
export function decodeChainContext(context: Buffer, object = 'a record'): ChainPosition {
  const seq = context.readBigUInt64BE(16);
  if (seq < 1n || seq > BigInt(MAX_SEQ)) throw corrupt(object, 'it has a number that no record can have');
  return {
    writer: context.toString('hex', 0, 16),
    seq: Number(seq),
    prev: context.toString('hex', 24, 56),
  };
}
