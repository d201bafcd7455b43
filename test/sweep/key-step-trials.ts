/** The commands that change keys: added, removed, replaced, rotated, drilled, and everything sealed anew. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { jsonLines, PASSPHRASE, succeed, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { generationsAt, keysAt, opensWith, snapshotsAt } from './library-oracle.ts';
import { removeLeftovers, STEP_SIZES, type StepSite, type StepTrial } from './step-site.ts';
import { expireLeases, listRepository } from './stored-objects.ts';

const GRACE_SECONDS = 1;
const DRILL = ['keys', 'drill', '--passphrase'];
const ROTATE = ['keys', 'rotate'];
const REKEY = ['keys', 'rekey'];
const PRUNE = ['prune', '--grace', '0', '--no-other-writers'];

export async function keyTrials(site: StepSite): Promise<readonly StepTrial[]> {
  return [...(await slotTrials(site)), rotateTrial(site), drillTrial(site), ...(await rekeyTrials(site))];
}

async function slotTrials(site: StepSite): Promise<readonly StepTrial[]> {
  const { workspace, one, secondPassphrase, expectWhole } = site;
  const { text, file } = secondPassphrase;
  const add = ['keys', 'add', '--new-password-file', file];
  const replace = ['keys', 'passwd', '--new-password-file', file];
  const two = workspace.copy(one, 'two-keys');
  await succeed(two, add);
  const other = (await keysAt(two)).find(({ current }) => !current)?.slot ?? '';
  return [
    {
      name: 'keys add',
      place: () => site.victim(one),
      words: () => add,
      judge: async (place) => {
        await expectWhole(place);
        if (!(await opensWith(place, text))) await succeedAgain(place, add);
        expect(await opensWith(place, text)).toBe(true);
        await removeLeftovers(place);
        await expectWhole(place);
      },
    },
    {
      name: 'keys remove',
      place: () => site.victim(two),
      words: () => ['keys', 'remove', other],
      judge: async (place) => {
        await expectWhole(place);
        if (await opensWith(place, text)) await succeedAgain(place, ['keys', 'remove', other]);
        expect(await opensWith(place, text)).toBe(false);
        await removeLeftovers(place);
        await expectWhole(place);
      },
    },
    {
      name: 'keys passwd',
      place: () => site.victim(one),
      words: () => replace,
      judge: async (place) => {
        const replaced = { ...place, passphrase: text };
        const isOld = await opensWith(place, PASSPHRASE);
        await expectWhole(isOld ? place : replaced);
        if (isOld) await succeedAgain(place, replace);
        expect(await opensWith(place, PASSPHRASE), 'the old passphrase').toBe(false);
        await removeLeftovers(replaced);
        await expectWhole(replaced);
      },
    },
  ];
}

function rotateTrial(site: StepSite): StepTrial {
  const { source, expectWhole } = site;
  return {
    name: 'keys rotate',
    place: () => site.victim(site.one),
    words: () => ROTATE,
    judge: async (place) => {
      await expectWhole(place);
      const generations = (await generationsAt(place)).map(({ generation }) => generation);
      expect([[1], [1, 2]]).toContainEqual(generations);
      await succeedAgain(place, ['backup', source]);
      await succeedAgain(place, ROTATE);
      await succeedAgain(place, ['backup', source]);
      expect(await generationsAt(place)).toHaveLength(generations.length + 1);
      await expectWhole(place);
    },
  };
}

function drillTrial(site: StepSite): StepTrial {
  const { one, expectWhole } = site;
  const objects = ({ repository }: Place): readonly string[] =>
    [...listRepository(repository).objects.keys()].sort();
  return {
    name: 'keys drill',
    place: () => site.victim(one),
    words: () => DRILL,
    judge: async (place) => {
      expect(objects(place), 'a drill stores nothing').toEqual(objects(one));
      await succeedAgain(place, DRILL);
      const drilled = jsonLines(await succeedAgain(place, ['keys', 'list', '--json']));
      expect(drilled).toMatchObject([{ last_drilled_at: expect.any(String) }]);
      await expectWhole(place);
    },
  };
}

/** Sealing anew, and once that is done and pruned, taking the old keys out of the keyring. */
async function rekeyTrials(site: StepSite): Promise<readonly StepTrial[]> {
  const { workspace, source, expectWhole } = site;
  const old = await workspace.create('old-keys', { ...STEP_SIZES, graceSeconds: GRACE_SECONDS });
  await succeed(old, ['backup', source]);
  await succeed(old, ['backup', source]);
  await succeed(old, ROTATE);
  await sleep(GRACE_SECONDS * 1_000 + 100);
  const sealedAnew = workspace.copy(old, 'sealed-anew');
  await succeed(sealedAnew, REKEY);
  await succeed(sealedAnew, PRUNE);
  const judge = async (place: Place): Promise<void> => {
    await expectWhole(place);
    expireLeases(place.repository);
    await succeedAgain(place, REKEY);
    for (const use of await generationsAt(place))
      if (use.state === 'old') expect(use).toMatchObject({ packs: 0, snapshots: 0 });
    await succeedAgain(place, PRUNE);
    await succeedAgain(place, REKEY);
    expect(await generationsAt(place)).toMatchObject([{ generation: 2, state: 'current' }]);
    expect(await snapshotsAt(place)).toHaveLength(2);
    await expectWhole(place);
  };
  const words = (): readonly string[] => REKEY;
  return [
    { name: 'keys rekey', place: () => site.victim(old), words, judge },
    { name: 'keys rekey, retiring', place: () => site.victim(sealedAnew), words, judge },
  ];
}
