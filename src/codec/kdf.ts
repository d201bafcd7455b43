import { createHmac, hkdfSync } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import { StateError } from '../base/errors.ts';

const EMPTY = Buffer.alloc(0);

/** HKDF-SHA-256, extract and expand (RFC 5869). */
export function hkdf(
  secret: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array | string,
  length: number,
): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length));
}

/** HKDF-Expand alone, for secrets that are already uniform keys. */
export function expand(key: Uint8Array, info: Uint8Array | string, length: number): Buffer {
  const infoBytes = typeof info === 'string' ? Buffer.from(info, 'latin1') : info;
  const out: Buffer[] = [];
  let previous: Uint8Array = EMPTY;
  for (let counter = 1, made = 0; made < length; counter += 1) {
    const block = createHmac('sha256', key)
      .update(previous)
      .update(infoBytes)
      .update(Buffer.of(counter))
      .digest();
    out.push(block);
    previous = block;
    made += block.length;
  }
  return Buffer.concat(out).subarray(0, length);
}

/** Argon2id cost: `m` in KiB, `t` passes, `p` lanes. */
export interface Argon2Cost {
  readonly m: number;
  readonly t: number;
  readonly p: number;
}

/** 256 MiB, 3 passes, 4 lanes: 0.2 to 0.3 s on two cores of 2024. */
export const DEFAULT_COST: Argon2Cost = { m: 262_144, t: 3, p: 4 };
/** RFC 9106's second choice, for machines with less than 2 GiB. */
export const SMALL_MACHINE_COST: Argon2Cost = { m: 65_536, t: 3, p: 4 };

/**
 * Argon2id, 32 bytes, off the main thread, with one thread for each lane. OpenSSL's implementation uses a single thread
 * and takes twice the time.
 */
export async function argon2id(password: Uint8Array, salt: Uint8Array, cost: Argon2Cost): Promise<Buffer> {
  return await hashRaw(password, {
    algorithm: ARGON2ID,
    memoryCost: cost.m,
    timeCost: cost.t,
    parallelism: cost.p,
    salt,
    outputLen: 32,
  });
}

/** `Algorithm.Argon2id`: the package's types declare this constant, but it does not exist at run time. */
const ARGON2ID = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** Cost of new passphrase slots. @throws {StateError} */
export function passphraseCost(env: Environment, memoryBytes: number): Argon2Cost {
  return testCost(env) ?? (memoryBytes < 2 ** 31 ? SMALL_MACHINE_COST : DEFAULT_COST);
}

/** `HOLDFAST_TEST_KDF=m,t,p`: a weak passphrase cost, for tests only. @throws {StateError} */
export function testCost(env: Environment): Argon2Cost | undefined {
  const text = env['HOLDFAST_TEST_KDF'] ?? '';
  if (text === '') return undefined;
  const [m, t, p] = text.split(',').map(Number);
  if (m === undefined || t === undefined || p === undefined || ![m, t, p].every(Number.isSafeInteger)) {
    throw new StateError('TEST_KDF', `HOLDFAST_TEST_KDF is "${text}"`, {
      hint: 'It is for tests: memory in KiB, passes, lanes, for example 64,1,1.',
    });
  }
  return { m, t, p };
}
