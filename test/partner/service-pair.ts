/** Two instances of the real program on one PostgreSQL database, with one key; each can be killed and started again. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { systemClock } from '../../src/base/clock.ts';
import { openPartnerKeys } from '../../src/partner/secrets/keys.ts';
import { parseStoreAddress } from '../../src/partner/store/address.ts';
import { openStoreDatabase, type StoreDatabase } from '../../src/partner/store/database.ts';
import { openPartnerStore, type PartnerStores } from '../../src/partner/store/store.ts';
import { openPartnerPlace, type PartnerPlace } from '../support/partner-program.ts';

export const PREFIX = '/api/partner/v1';

export interface ServiceInstance {
  readonly address: string;
  /** `kill -9`. Gives the moment, as `performance.now()` tells it. */
  kill(): Promise<number>;
  /** On the same port. */
  restart(): Promise<void>;
  /** Of its log, in all its lives. */
  readonly errors: readonly string[];
}

export interface ServicePair extends AsyncDisposable {
  readonly instances: readonly [ServiceInstance, ServiceInstance];
  /** What both have stored. */
  readonly stores: PartnerStores;
  readonly database: StoreDatabase;
}

export async function startPair(settings: object = {}): Promise<ServicePair> {
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await openPartnerPlace('postgres'));
  await place.configure({ ...settings, log: { level: 'error' } });
  const keys = await openPartnerKeys(place.keyFile);
  const stores = opened.use(
    await openPartnerStore(place.storeAddress, systemClock, { pepper: keys.pepper, chance: () => 0 }),
  );
  const database = opened.use(openStoreDatabase(parseStoreAddress(place.storeAddress), systemClock));
  const one = opened.use(await startInstance(place));
  const other = opened.use(await startInstance(place));
  const owned = opened.move();
  return {
    instances: [one, other],
    stores,
    database,
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}

async function startInstance(place: PartnerPlace): Promise<ServiceInstance & AsyncDisposable> {
  const errors: string[] = [];
  const begin = async (port: string): Promise<{ readonly child: ChildProcess; readonly address: string }> => {
    const child = place.start(['partner', '--port', port, '--json']);
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('the program has no output');
    createInterface({ input: stderr }).on('line', (line) => void errors.push(line));
    const ended = once(child, 'exit').then(() => [`ended: ${errors.join('\n')}`]);
    const [line]: unknown[] = await Promise.race([once(createInterface({ input: stdout }), 'line'), ended]);
    const { address }: { address: string } = JSON.parse(String(line));
    return { child, address };
  };
  const first = await begin('0');
  let { child } = first;
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    address: first.address,
    errors,
    kill: async () => {
      const at = performance.now();
      await end('SIGKILL');
      return at;
    },
    restart: async () => {
      ({ child } = await begin(new URL(first.address).port));
    },
    [Symbol.asyncDispose]: async () => await end('SIGTERM'),
  };
}

export interface Question {
  readonly path: string;
  readonly key: string;
  /** Asked with GET when left out. */
  readonly body?: object;
  readonly idempotencyKey?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** As `performance.now()` tells it. */
  readonly at: number;
}

/** @throws {TypeError} when there is no answer, as `fetch` does */
export async function ask(
  { address }: ServiceInstance,
  { path, key, body, idempotencyKey }: Question,
): Promise<Answer> {
  const reply = await fetch(`${address}${PREFIX}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text, at: performance.now() };
}
