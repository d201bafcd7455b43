/** recover.py and repositories that are damaged: what can be had is had, and what cannot is named. */
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startOrSkip } from '../servers/unavailable.ts';
import { openPlace, PASSPHRASE, type Outcome, type Place } from '../support/cli.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { removeTree } from '../support/remove-tree.ts';
import { openRecoverProgram, type RecoverProgram } from './program.ts';
import { namesBelow } from '../support/names-below.ts';

const found = await startOrSkip(openRecoverProgram);
if ('missing' in found) test.skip(`recover.py was not tested: ${found.missing}`, () => {});
else describe('recover.py and a damaged repository', () => tests(found.server));

const LARGE = 3_000_000;
const FILES = 60;

function tests(program: RecoverProgram): void {
  let home: string;
  let place: Place;
  let passphrase: string;
  let trial = 0;

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    passphrase = path.join(home, 'passphrase');
    writeFileSync(passphrase, PASSPHRASE);
    place = await openPlace();
    const random = seededRandom(3);
    await place.write({ 'large/random': random.bytes(LARGE) });
    for (let i = 0; i < FILES; i += 1) await place.write({ [`small/${i}`]: random.bytes(40_000) });
    await place.expectRun(['init']);
    await place.expectRun(['backup', place.source]);
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    removeTree(home);
  });

  interface Trial {
    readonly store: string;
    readonly target: string;
    readonly restore: (...more: readonly string[]) => Promise<Outcome>;
  }

  const newTrial = (): Trial => {
    trial += 1;
    const store = path.join(home, `store-${trial}`);
    const target = path.join(home, `target-${trial}`);
    cpSync(place.repository, store, { recursive: true });
    const words = [store, '--secret-file', passphrase, '--any-cost', 'restore', 'latest', target];
    return { store, target, restore: async (...more) => await program.run([...words, ...more]) };
  };

  /** The largest packs come first: those of data. */
  const packs = (store: string): string[] =>
    namesBelow(path.join(store, 'packs'))
      .map((name) => path.join(store, 'packs', name))
      .filter((file) => statSync(file).isFile())
      .sort((a, b) => statSync(b).size - statSync(a).size);

  /** Its time stays: of several packs that name one chunk the older counts. */
  const flip = (file: string, offset: number): void => {
    const { atime, mtime } = statSync(file);
    const bytes = readFileSync(file);
    const at = offset < 0 ? bytes.length + offset : offset;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x40, at);
    writeFileSync(file, bytes);
    utimesSync(file, atime, mtime);
  };

  const changed = (target: string) =>
    compareTrees(path.join(place.source), path.join(target, place.source)).filter(({ path }) => path !== '');

  it('restores everything else when a segment is damaged, and names what is missing and the pack', async () => {
    const { store, target, restore } = newTrial();
    const [pack = ''] = packs(store);
    flip(pack, 100);
    const { code, stderr } = await restore();
    const missing = changed(target);

    expect(code).toBe(1);
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.length).toBeLessThan(FILES);
    for (const one of missing) {
      expect(one.aspect).toBe('missing');
      expect(stderr).toContain(`${place.source}/${one.path}: packs/`);
    }
    expect(stderr).toContain(`${path.basename(pack)}: segment 0: does not authenticate`);
    expect(stderr).toContain(`MISSING OR DAMAGED (${missing.length}):`);
  });

  it('keeps what there is of damaged files when told to, with zeros for the rest', async () => {
    const { store, target, restore } = newTrial();
    flip(packs(store)[0] ?? '', 100);
    const { code, stderr } = await restore('--keep-damaged');
    const differences = changed(target);

    expect(code).toBe(1);
    expect(stderr).toContain('MISSING OR DAMAGED');
    expect(differences.length).toBeGreaterThan(0);
    for (const { aspect } of differences) expect(['content', 'holes']).toContain(aspect);
    expect(statSync(path.join(target, place.source, 'large/random')).size).toBe(LARGE);
  });

  it.each([
    { what: 'header', offset: 50 },
    { what: 'directory', offset: -30 },
    { what: 'tail', offset: -3 },
  ])('reads a pack with a damaged $what by an index object', async ({ offset }) => {
    const { store, target, restore } = newTrial();
    for (const pack of packs(store)) flip(pack, offset);
    const healed = await restore();

    expect(healed.stderr).toContain('(read by index/');
    expect(healed.code).toBe(0);
    expect(changed(target)).toEqual([]);

    rmSync(path.join(store, 'index'), { recursive: true });
    removeTree(target);
    const lost = await restore();
    expect(lost.code).toBe(1);
    expect(lost.stderr).toContain('what this pack holds is missing');
  });

  it('reads another copy of a chunk when one is damaged', async () => {
    const { store, target, restore } = newTrial();
    // Without its packs, index objects and snapshots a second run stores everything again.
    const before = packs(store);
    const away = path.join(home, 'away');
    cpSync(path.join(store, 'packs'), away, { recursive: true });
    for (const folder of ['packs', 'index', 'snapshots', 'heads'])
      rmSync(path.join(store, folder), { recursive: true });
    const env = { HOLDFAST_REPOSITORY: store, HOLDFAST_STATE_DIR: path.join(home, 'fresh-state') };
    await place.expectRun(['backup', place.source], 0, { env });
    const copies = packs(store);
    cpSync(away, path.join(store, 'packs'), { recursive: true });
    // Of the trees there is no other copy: the directories above the source may have changed.
    const doubles = copies.filter((pack) => !before.includes(pack) && statSync(pack).size > 1_000_000);
    const originals = before.filter((pack) => statSync(pack).size > 1_000_000);
    let said = '';
    for (const damaged of [doubles, originals]) {
      for (const pack of damaged) flip(pack, 100);
      const { code, stderr } = await restore();
      said += stderr;

      expect(damaged.length).toBeGreaterThan(0);
      expect(code).toBe(0);
      expect(changed(target)).toEqual([]);
      // The same bit again: as it was.
      for (const pack of damaged) flip(pack, 100);
      removeTree(target);
    }
    // One of the two is the copy that is looked for first.
    expect(said).toContain('(another copy was read)');
  });

  it('restores what it can when a pack is gone, cut short, or a folder of packs is missing', async () => {
    for (const harm of ['gone', 'cut'] as const) {
      const { store, target, restore } = newTrial();
      const [pack = ''] = packs(store);
      if (harm === 'gone') rmSync(pack);
      else truncateSync(pack, statSync(pack).size - 1_000);
      const { code, stderr } = await restore();

      expect(code).toBe(1);
      expect(stderr).toMatch(
        harm === 'gone' ? /chunk [0-9a-f]{48}: is in no pack/ : /is cut short or overwritten/,
      );
      expect(changed(target).every(({ aspect }) => aspect === 'missing')).toBe(true);
    }
  });

  it('says that nothing can be read of a snapshot without trees, and goes on without a configuration', async () => {
    const { store, restore } = newTrial();
    const smallest = packs(store).at(-1) ?? '';
    rmSync(path.join(store, 'config'), { recursive: true });
    rmSync(path.join(store, 'copies', 'config'), { recursive: true });
    rmSync(smallest);
    const { code, stderr } = await restore();

    expect(code).toBe(1);
    expect(stderr).toContain('no configuration is sound');
    expect(stderr).toContain('a part of this directory: chunk');
  });

  it.each(['damaged', 'gone'] as const)(
    'reads the second copy of slot, ring and configuration that are %s',
    async (harm) => {
      const { store, target, restore } = newTrial();
      for (const folder of ['keys', 'config']) {
        if (harm === 'gone') rmSync(path.join(store, folder), { recursive: true });
        else
          for (const name of readdirSync(path.join(store, folder))) flip(path.join(store, folder, name), -9);
      }
      const { code, stderr } = await restore();

      expect(changed(target)).toEqual([]);
      expect(stderr).not.toContain('no configuration is sound');
      // What is damaged is named, and so is what had to be passed over.
      if (harm === 'damaged')
        expect(stderr).toContain('keys/ring-1: its authentication does not hold (passed over)');
      expect(code, stderr).toBe(0);
    },
  );

  it('leaves out a damaged snapshot, an older ring that is damaged, and what is no key', async () => {
    const { store } = newTrial();
    const [snapshot = ''] = readdirSync(path.join(store, 'snapshots'));
    copyFileSync(path.join(store, 'snapshots', snapshot), path.join(store, 'snapshots', 'f'.repeat(64)));
    writeFileSync(path.join(store, 'keys', 'ring-2'), 'nonsense');
    writeFileSync(path.join(store, 'keys', 'note'), 'not of the format');
    const list = await program.run([store, '--secret-file', passphrase, '--any-cost', 'list']);

    expect(list.code).toBe(1);
    expect(list.stdout.startsWith(snapshot.slice(0, 16))).toBe(true);
    expect(list.stderr).toContain(`snapshots/${'f'.repeat(64)}: its SHA-256 is not its name`);
    expect(list.stderr).toContain('keys/ring-2: CBOR');
    expect(list.stderr).not.toContain('note');
  });
}
