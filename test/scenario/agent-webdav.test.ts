/** Snapshots as a folder, of the real agent: the bytes of files, at whichever destination they are. */
// Turn 5 of 8.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { openPassSite } from '../support/pass-site.ts';
import { addresses, dav, pathOf } from '../support/webdav-client.ts';

const LARGE = randomBytes(9_000_000);

let site: DaemonSite;
/** Of the newest snapshot, without a slash at its end. */
let latest: string;

beforeAll(async () => {
  site = await openDaemonSite();
  site.write({ 'letters/a': 'first', 'letters/empty': '', large: LARGE });
  mkdirSync(join(site.source, 'nothing'));
  writeFileSync(Buffer.from(`${site.source}/caf\u00e9 \n`, 'latin1'), 'a name that is no text');
  // Far from any time that a clock of today can hold in 32 bits.
  utimesSync(join(site.source, 'letters/a'), 13_569_465_600, 13_569_465_600);
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  latest = await open(site);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** Turns the folder on, and gives the address of the latest snapshot of the source. */
async function open(at: DaemonSite): Promise<string> {
  const { address } = await at.ask('turn_on_webdav', {});
  // The catalog takes a snapshot in after its job has ended, and the folder is looked at anew every few seconds.
  const source = await eventually(async () => {
    at.clock.skip(10_000);
    return (await addresses(at.daemon.listening.port, pathOf(address)))[1];
  }, 'the folder of a source');
  return `${source}latest`;
}

const port = (): number => site.daemon.listening.port;

test('a snapshot is a folder, whose files have the bytes of the source', async () => {
  const listed = await addresses(port(), latest);
  const below = listed.map((address) => address.slice(latest.length)).toSorted();
  expect(below).toEqual(['/', '/caf%E9%20%0A', '/large', '/letters/', '/nothing/']);
  expect(await addresses(port(), `${latest}/nothing/`)).toEqual([`${latest}/nothing/`]);
  expect((await dav(port(), `${latest}/caf%E9%20%0A`)).text).toBe('a name that is no text');
  expect((await dav(port(), `${latest}/large`)).body.equals(LARGE)).toBe(true);
  expect((await dav(port(), `${latest}/letters/empty`)).body).toHaveLength(0);
  const { headers, text } = await dav(port(), `${latest}/letters/a`);
  expect([text, headers['last-modified']]).toEqual(['first', 'Sat, 01 Jan 2400 00:00:00 GMT']);
});

test('a part of a file has the bytes of that part', async () => {
  for (const [start, end] of [
    [0, 0],
    [1_000_000, 4_999_999],
    [8_999_999, 8_999_999],
  ] as const) {
    const reply = await dav(port(), `${latest}/large`, { headers: { range: `bytes=${start}-${end}` } });
    expect(reply.status).toBe(206);
    expect(reply.body.equals(LARGE.subarray(start, end + 1))).toBe(true);
  }
});

test('whoever gives up in the middle of a file takes nothing from others who read it', async () => {
  const address = `http://127.0.0.1:${port()}${latest}/large`;
  const others = Array.from({ length: 4 }, async () => await dav(port(), `${latest}/large`));
  for (let count = 0; count < 8; count += 1) {
    const request = get(address);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'data');
    response.destroy();
  }
  for (const { body } of await Promise.all(others)) expect(body.equals(LARGE)).toBe(true);
  expect(site.log).toEqual([]);
});

test('snapshots come and go, and their folders with them', async () => {
  const source = latest.slice(0, latest.lastIndexOf('/') + 1);
  const times = async (): Promise<readonly string[]> => {
    site.clock.skip(10_000);
    return (await addresses(port(), source)).filter((address) => /_\d\d-\d\d-\d\d/.test(address));
  };
  const before = await times();
  expect(before).toHaveLength(1);
  site.write({ 'letters/a': 'second' });
  const second = await site.backUp();
  expect(await times()).toHaveLength(2);
  expect((await dav(port(), `${latest}/letters/a`)).text).toBe('second');
  expect((await dav(port(), `${before[0]}letters/a`)).text).toBe('first');
  await site.agent.forgetSnapshot(String(second.snapshot_id));
  await expect.poll(times, { timeout: 30_000 }).toEqual(before);
  expect((await dav(port(), `${latest}/letters/a`)).text).toBe('first');
});

test('the address stays good when the agent starts again, and is void once it is turned off', async () => {
  const { address } = await site.ask('turn_on_webdav', {});
  await site.restart();
  expect(await site.ask('webdav', {})).toMatchObject({ enabled: true, created_at: expect.any(Number) });
  expect((await dav(port(), pathOf(address))).status).toBe(200);
  expect(await site.ask('turn_off_webdav', {})).toMatchObject({ enabled: false, created_at: null });
  await site.restart();
  expect((await dav(port(), pathOf(address))).status).toBe(404);
  expect(JSON.stringify(site.log)).not.toContain(pathOf(address).slice(5, -1));
});

test('a snapshot in three destinations is one folder, read from one that is there', async () => {
  await using passes = await openPassSite({ 'a/x': 'in three places' });
  const { site: three } = passes;
  for (const job of Object.values(await passes.begin())) await three.ended(job.id);
  const at = await open(three);
  const { port: there } = three.daemon.listening;
  const times = await addresses(there, at.slice(0, at.lastIndexOf('/') + 1));
  // The folder itself, the latest, and one time.
  expect(times).toHaveLength(3);
  for (const name of ['a', 'b'] as const) {
    passes.unplug(name);
    // What was open is closed a while after it was used.
    three.clock.skip(120_000);
    const { status, text } = await dav(there, `${at}/a/x`);
    expect([status, text], `without ${name}`).toEqual([200, 'in three places']);
  }
});
