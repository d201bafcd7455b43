/**
 * Replaces what a program takes from its surroundings: clocks, timers, randomness, files, process numbers. Imported
 * before anything of the product, in the simulator's processes alone. Every call is for the machine whose program runs
 * at that moment; where none does, as while this file is loaded, a generator of its own answers.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';
import { Entropy } from './entropy.ts';
import type { SimulatedEvent } from './event-queue.ts';
import { fileCalls } from './file-calls.ts';
import { FIRST_MOMENT_MS, type Machine } from './machine.ts';

let current: () => Machine | undefined = () => undefined;

function machine(): Machine {
  const found = current();
  if (found === undefined) throw new Error('no simulated program runs');
  return found;
}

const startup = new Entropy(1);
const entropy = (): Entropy => current()?.entropy ?? startup;

class Timer {
  readonly #event: SimulatedEvent;

  constructor(event: SimulatedEvent) {
    this.#event = event;
  }

  cancel(): void {
    this.#event.cancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** Signing and verifying are functions of their arguments, and half of all time without this. */
function remembering<Result>(call: (...parts: unknown[]) => Result, known = new Map<string, Result>()) {
  return (...parts: unknown[]): Result => {
    const name = parts.map(textOf).join('|');
    const found = known.get(name);
    if (found !== undefined) return found;
    if (known.size > 50_000) known.clear();
    const made = call(...parts);
    known.set(name, made);
    return made;
  };
}

/** The same for what two keys have in common. */
function rememberingShared(call: typeof crypto.diffieHellman) {
  const known = new Map<string, Buffer>();
  return (keys: { privateKey: crypto.KeyObject; publicKey: crypto.KeyObject }): Buffer => {
    const name = `${textOf(keys.privateKey)}|${textOf(keys.publicKey)}`;
    const found = known.get(name);
    if (found !== undefined) return Buffer.from(found);
    if (known.size > 50_000) known.clear();
    const made = call(keys);
    known.set(name, Buffer.from(made));
    return made;
  };
}

/** A key of DER bytes: the same object for the same bytes. */
function rememberedKey<Input extends object | string, Key extends object>(create: (input: Input) => Key) {
  const known = new Map<string, Key>();
  return (input: Input): Key => {
    if (typeof input !== 'object' || !('key' in input) || !(input.key instanceof Uint8Array))
      return create(input);
    const name = textOf(input.key);
    const key = known.get(name) ?? create(input);
    known.set(name, key);
    return key;
  };
}

const keyTexts = new WeakMap<object, string>();

function textOf(part: unknown): string {
  if (part instanceof Uint8Array) return Buffer.from(part).toString('latin1');
  if (part instanceof crypto.KeyObject) {
    const known = keyTexts.get(part);
    if (known !== undefined) return known;
    const text =
      part.type === 'private'
        ? part.export({ format: 'der', type: 'pkcs8' }).toString('latin1')
        : part.export({ format: 'der', type: 'spki' }).toString('latin1');
    keyTexts.set(part, text);
    return text;
  }
  return String(part);
}

/** RFC 8410: what precedes the 32 bytes of a private key. */
const PRIVATE_PREFIX = {
  x25519: '302e020100300506032b656e04220420',
  ed25519: '302e020100300506032b657004220420',
};

function generateKeyPairSync(curve: keyof typeof PRIVATE_PREFIX) {
  const key = Buffer.concat([Buffer.from(PRIVATE_PREFIX[curve], 'hex'), entropy().bytes(32)]);
  const privateKey = crypto.createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: crypto.createPublicKey(privateKey) };
}

const MOMENT_BYTES = 32;
const updateHmac = crypto.Hmac.prototype.update;

/**
 * The product counts the salts of its process. A process of the simulator plays many simulations, and many machines in
 * each: what goes into a salt is the count of the machine, so that a seed gives the same names every time.
 */
function updateWithOwnCount(this: crypto.Hmac, ...parts: readonly unknown[]): crypto.Hmac {
  const found = current();
  const [data] = parts;
  if (
    found === undefined ||
    !Buffer.isBuffer(data) ||
    data.length !== MOMENT_BYTES ||
    data.readUInt32BE(8) !== found.pid
  )
    return Reflect.apply(updateHmac, this, parts);
  const moment = Buffer.from(data);
  moment.writeBigUInt64BE(found.nextSalt());
  return Reflect.apply(updateHmac, this, [moment]);
}

/** Node looks for a key object in raw bytes by an error that it throws and catches: ten times as slow as making one first. */
function withKeyObject<Made>(call: (name: string, key: crypto.KeyObject, ...rest: unknown[]) => Made) {
  return (name: string, key: unknown, ...rest: unknown[]): Made =>
    call(name, key instanceof Uint8Array ? crypto.createSecretKey(key) : (key as crypto.KeyObject), ...rest);
}

/** What is drawn already while the product is loaded. */
function replaceRandomness(): void {
  Object.assign(crypto, {
    randomBytes: (length: number) => entropy().bytes(length),
    randomInt: (first: number, limit?: number) =>
      limit === undefined ? entropy().below(first) : first + entropy().below(limit - first),
    generateKeyPairSync,
    createPrivateKey: rememberedKey(crypto.createPrivateKey),
    createPublicKey: rememberedKey(crypto.createPublicKey),
    diffieHellman: rememberingShared(crypto.diffieHellman),
    hkdfSync: remembering(
      withKeyObject(crypto.hkdfSync as (...parts: unknown[]) => ArrayBuffer) as (
        ...parts: unknown[]
      ) => ArrayBuffer,
    ),
    createHmac: withKeyObject(crypto.createHmac as (...parts: unknown[]) => crypto.Hmac),
    createCipheriv: withKeyObject(crypto.createCipheriv as (...parts: unknown[]) => crypto.Cipheriv),
    createDecipheriv: withKeyObject(crypto.createDecipheriv as (...parts: unknown[]) => crypto.Decipheriv),
    sign: remembering(crypto.sign as (...parts: readonly unknown[]) => Buffer),
    verify: remembering(crypto.verify as (...parts: unknown[]) => boolean),
  });
  Object.assign(crypto.Hmac.prototype, { update: updateWithOwnCount });
  syncBuiltinESMExports();
}

/** To be called once the product is loaded: from now on until the process ends it has simulated surroundings. */
export function enterSimulation(of: () => Machine | undefined): void {
  current = of;
  const files = fileCalls(machine);
  // What is not simulated must not reach the real disk: its answer would come from outside of all order.
  for (const [name, real] of Object.entries(fsPromises))
    if (typeof real === 'function') Object.assign(fsPromises, { [name]: notSimulated(name) });
  Object.assign(fsPromises, files.promises);
  Object.assign(fs, files.sync);
  Object.assign(os, { hostname: () => current()?.name ?? 'simulator' });
  Object.assign(timers, {
    setTimeout: async (ms: number, value?: unknown, options: { readonly signal?: AbortSignal } = {}) => {
      await machine().sleep(ms, options.signal);
      return value;
    },
  });
  syncBuiltinESMExports();
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms = 0) => new Timer(machine().after(ms, 'timer', run)),
    clearTimeout: (timer: unknown) => {
      if (timer instanceof Timer) timer.cancel();
    },
  });
  Object.assign(Date, { now: () => Math.floor(current()?.wallMs ?? FIRST_MOMENT_MS) });
  Object.assign(performance, { now: () => current()?.monotonicMs ?? 0 });
  Object.assign(AbortSignal, { timeout: timeoutSignal });
  Object.assign(Math, { random: () => entropy().next() });
  Object.defineProperty(process, 'pid', { get: () => current()?.pid ?? 1, configurable: true });
  Object.assign(process, { kill: isRunning });
}

function notSimulated(name: string) {
  return async (): Promise<never> => {
    await Promise.resolve();
    throw new Error(`the simulator has no ${name}`);
  };
}

function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  machine().after(ms, 'timer', () => controller.abort(new DOMException('The time is up', 'TimeoutError')));
  return controller.signal;
}

/** `process.kill(pid, 0)`: of one machine only the present process lives. */
function isRunning(pid: number): true {
  if (pid === machine().pid) return true;
  throw Object.assign(new Error(`no process ${pid}`), { code: 'ESRCH' });
}

/** Without the C library the archiver asks node:fs for what it reads. */
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === 'koffi') throw new Error('there is no C library in a simulation');
    return next(specifier, context);
  },
});

replaceRandomness();
