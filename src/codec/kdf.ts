import { argon2, hkdfSync, createHmac } from 'node:crypto';
import { promisify } from 'node:util';

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

/** 256 MiB, 3 passes, 4 lanes: 0.5 s on the machines this was measured on. */
export const DEFAULT_COST: Argon2Cost = { m: 262_144, t: 3, p: 4 };
/** RFC 9106's second choice, for machines with less than 2 GiB. */
export const SMALL_MACHINE_COST: Argon2Cost = { m: 65_536, t: 3, p: 4 };

const argon2Async = typeof argon2 === 'function' ? promisify(argon2) : undefined;

/** Argon2id, 32 bytes, off the main thread where node:crypto has it, otherwise by hash-wasm. */
export async function argon2id(password: Uint8Array, salt: Uint8Array, cost: Argon2Cost): Promise<Buffer> {
  if (argon2Async === undefined) return await argon2idPortable(password, salt, cost);
  const parameters = {
    message: password,
    nonce: salt,
    parallelism: cost.p,
    tagLength: 32,
    memory: cost.m,
    passes: cost.t,
  };
  return Buffer.from(await argon2Async('argon2id', parameters));
}

/** The same function in WebAssembly, for runtimes whose node:crypto lacks Argon2 (before Node 24.7). */
export async function argon2idPortable(
  password: Uint8Array,
  salt: Uint8Array,
  cost: Argon2Cost,
): Promise<Buffer> {
  const wasm = await import('hash-wasm');
  const hash = await wasm.argon2id({
    password,
    salt,
    memorySize: cost.m,
    iterations: cost.t,
    parallelism: cost.p,
    hashLength: 32,
    outputType: 'binary',
  });
  return Buffer.from(hash);
}
