/** Write-only keys: made, taken away, and at work on the machine that has one. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { succeed, type Outcome, type Place } from './program.ts';
import { runAgain, succeedAgain } from './warm-program.ts';
import { keysAt, snapshotsAt } from './library-oracle.ts';
import { removeLeftovers, type StepSite, type StepTrial } from './step-site.ts';

const WRONG_PASSPHRASE = 12;

export async function writeOnlyTrials(site: StepSite): Promise<readonly StepTrial[]> {
  const { workspace, one } = site;
  const keyFile = workspace.path('web1.key');
  const withKey = workspace.copy(one, 'with-key');
  await succeed(withKey, ['keys', 'add', '--write-only', keyFile]);
  const withBackup = workspace.copy(withKey, 'with-backup');
  expect(await backUpWith(keyFile, withBackup, site)).toMatchObject({ code: 0 });
  const [id = ''] = await writeOnlyKeys(withKey);
  return [
    addTrial(site),
    removeTrial(site, withBackup, { id, keyFile }),
    backupTrial(site, withKey, keyFile),
  ];
}

function addTrial(site: StepSite): StepTrial {
  const keyFile = ({ state }: Place): string => join(state, 'web1.key');
  return {
    name: 'keys add --write-only',
    place: () => site.victim(site.one),
    words: (place) => ['keys', 'add', '--write-only', keyFile(place)],
    judge: async (place) => {
      await site.expectWhole(place);
      const isAdded = (await writeOnlyKeys(place)).length > 0;
      const { code, stderr } = await backUpWith(keyFile(place), place, site);
      expect(code === 0, stderr).toBe(isAdded);
      expect(stderr).not.toContain('Unexpected error');
      await removeLeftovers(place);
      const another = join(place.state, 'web2.key');
      await succeedAgain(place, ['keys', 'add', '--write-only', another]);
      expect(await backUpWith(another, place, site)).toMatchObject({ code: 0 });
      await site.expectWhole(place);
    },
  };
}

function removeTrial(site: StepSite, base: Place, key: { id: string; keyFile: string }): StepTrial {
  const remove = ['keys', 'remove', key.id];
  return {
    name: 'keys remove of a write-only key',
    place: () => site.victim(base),
    words: () => remove,
    judge: async (place) => {
      await site.expectWhole(place);
      const isRemoved = (await writeOnlyKeys(place)).length === 0;
      const { code, stderr } = await backUpWith(key.keyFile, place, site);
      expect(code, stderr).toBe(isRemoved ? WRONG_PASSPHRASE : 0);
      if (!isRemoved) await succeedAgain(place, remove);
      expect(await backUpWith(key.keyFile, place, site)).toMatchObject({ code: WRONG_PASSPHRASE });
      await removeLeftovers(place);
      await site.expectWhole(place);
    },
  };
}

function backupTrial(site: StepSite, base: Place, keyFile: string): StepTrial {
  const machine = (place: Place): Place => ({
    ...place,
    state: join(place.state, 'web1'),
    passphrase: readFileSync(keyFile, 'utf8').trim(),
  });
  const backup = ['backup', site.source];
  return {
    name: 'backup with a write-only key',
    place: () => site.victim(base),
    machine,
    words: () => backup,
    judge: async (place) => {
      await site.expectWhole(place);
      const before = await snapshotsAt(place);
      await succeedAgain(machine(place), backup);
      expect(await snapshotsAt(place)).toHaveLength(before.length + 1);
      await site.expectWhole(place);
    },
  };
}

/** The write-only keys that open something. */
async function writeOnlyKeys(place: Place): Promise<readonly string[]> {
  const keys = (await keysAt(place)).filter(({ kind, state }) => kind === 'write-only' && state === 'sound');
  return keys.map(({ slot }) => slot);
}

/** As on another machine each time, which has nothing but the key file. */
async function backUpWith(keyFile: string, place: Place, { source }: StepSite): Promise<Outcome> {
  const state = mkdtempSync(join(place.state, 'machine-'));
  const secret = { HOLDFAST_PASSWORD: undefined, HOLDFAST_PASSWORD_FILE: keyFile };
  return await runAgain({ ...place, state }, ['backup', source], secret);
}
