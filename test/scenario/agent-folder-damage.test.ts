/** Damage that is small beside a whole home directory, through the real agent: what is told, and what is not. */
// Turn 3 of 8.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

let site: DaemonSite;

beforeAll(async () => {
  site = await openDaemonSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

const DOCUMENTS = 80;
const PHOTOS = 40;
const OTHERS = 700;

const letter = (n: number): string => `Dear reader ${n}, this is what I have to say.\n`.repeat(20 + (n % 30));
const photo = (): Buffer => Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), randomBytes(3_000)]);

/** A home directory in which documents and photos are one file in seven. */
async function home(name: string): Promise<string> {
  for (let n = 0; n < DOCUMENTS; n += 1)
    site.write({ [`${name}/Documents/letters/letter-${n}.txt`]: letter(n) });
  for (let n = 0; n < PHOTOS; n += 1) site.write({ [`${name}/Pictures/p${n % 3}/photo-${n}.jpg`]: photo() });
  for (let n = 0; n < OTHERS; n += 1)
    site.write({
      [`${name}/code/app/node_modules/m${n % 40}/index-${n}.js`]: `export const n = ${n};\n`.repeat(9),
    });
  await backUp(join(site.source, name));
  return join(site.source, name);
}

async function backUp(source: string): Promise<void> {
  const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
  expect(await site.ended(id)).toMatchObject({ status: 'completed' });
}

/** The alarms after one more backup; none is open afterwards. */
async function alarmsAfter(source: string): Promise<readonly object[]> {
  await backUp(source);
  return await site.ask('acknowledge', {});
}

/** Every file of a folder, encrypted as ransomware does. @param ending of its new name */
function encrypt(folder: string, ending = ''): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!/\.(?:txt|jpg)$/.test(name)) continue;
    const { length } = readFileSync(path);
    site.write({ [path.slice(site.source.length + 1)]: randomBytes(length) });
    if (ending !== '') renameSync(path, `${path}${ending}`);
  }
}

test('documents and photos that are encrypted among many other files are told of', async () => {
  const source = await home('encrypted');
  encrypt(join(source, 'Documents'));
  encrypt(join(source, 'Pictures'));
  const alarms = await alarmsAfter(source);
  expect(alarms).toMatchObject([
    { kind: 'rewritten', source, facts: { files_before: 820, rewritten: DOCUMENTS + PHOTOS } },
  ]);
  expect(alarms[0]).toMatchObject({ text: expect.stringContaining('120 of 820 files in') });
});

test('photos alone are, under new names and spread over several backups', async () => {
  const source = await home('renamed');
  for (const part of ['p0', 'p1']) {
    encrypt(join(source, 'Pictures', part), '.js');
    await backUp(source);
    site.clock.skip(60_000);
  }
  const [alarm, ...others] = await site.ask('acknowledge', {});
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({
    kind: 'rewritten',
    facts: { folder: 'Pictures', files_before: PHOTOS, rewritten: 27 },
    text: expect.stringContaining(`27 of 40 files in the folder Pictures of ${source} were rewritten`),
  });
});

test('what is rewritten on a normal day is not told of', async () => {
  const source = await home('normal');
  // A vault, whose files look encrypted at all times.
  for (let n = 0; n < 60; n += 1) site.write({ [`normal/Vault/${n}`]: randomBytes(2_000) });
  expect(await alarmsAfter(source)).toEqual([]);
  for (let n = 0; n < 60; n += 1) site.write({ [`normal/Vault/${n}`]: randomBytes(2_000) });
  expect(await alarmsAfter(source)).toEqual([]);
  // Another branch, and a photo library with new tags.
  for (let n = 0; n < DOCUMENTS; n += 1)
    site.write({ [`normal/Documents/letters/letter-${n}.txt`]: letter(n).replaceAll('reader', 'friend') });
  for (let n = 0; n < PHOTOS; n += 1) site.write({ [`normal/Pictures/p${n % 3}/photo-${n}.jpg`]: photo() });
  expect(await alarmsAfter(source)).toEqual([]);
  // Packed to save space.
  for (let n = 0; n < DOCUMENTS; n += 1) {
    const name = `normal/Documents/letters/letter-${n}.txt`;
    site.write({ [`${name}.gz`]: gzipSync(letter(n)) });
    rmSync(join(site.source, name));
  }
  expect(await alarmsAfter(source)).toEqual([]);
});

test('a folder that loses most of its files is told of until they are back; what is moved or remade is not', async () => {
  const source = await home('lost');
  for (let n = 0; n < 130; n += 1) site.write({ [`lost/Music/album-${n % 9}/song-${n}.mp3`]: `song ${n}` });
  await backUp(source);
  renameSync(join(source, 'Music'), join(source, 'Songs'));
  expect(await alarmsAfter(source)).toEqual([]);
  // As far as the program goes that made them.
  rmSync(join(source, 'code/app/node_modules/m1'), { recursive: true });
  for (let n = 2; n < 12; n += 1) rmSync(join(source, `code/app/node_modules/m${n}`), { recursive: true });
  expect(await alarmsAfter(source)).toEqual([]);

  site.clock.skip(7_200_000);
  renameSync(join(source, 'Songs'), join(site.directory, 'away'));
  await backUp(source);
  expect(await site.ask('alarms', {})).toMatchObject([
    { kind: 'shrunk', source, facts: { folder: 'Songs', files_before: 130, files: 0 } },
  ]);
  const { statements } = await site.agent.fullStatus();
  expect(statements.find(({ code }) => code === 'files_disappeared')).toMatchObject({
    names: ['Songs'],
    figures: { files_gone: 130, files_before: 130 },
  });
  // Other files do not make up for them.
  for (let n = 0; n < 200; n += 1) site.write({ [`lost/Documents/more/${n}`]: `${n}` });
  await backUp(source);
  expect(await site.ask('alarms', {})).toHaveLength(1);
  renameSync(join(site.directory, 'away'), join(source, 'Songs'));
  await backUp(source);
  expect(await site.ask('alarms', {})).toEqual([]);
});
