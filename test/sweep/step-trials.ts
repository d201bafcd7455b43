/** The commands that make a repository, and those that change what it has in a few steps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { jsonLines, succeed, type Place } from './program.ts';
import { runAgain, succeedAgain } from './warm-program.ts';
import { opensWith, snapshotsAt } from './library-oracle.ts';
import type { StepSite, StepTrial } from './step-site.ts';

export function commandTrials(site: StepSite): readonly StepTrial[] {
  const { workspace, source, one, expectWhole } = site;
  return [
    {
      name: 'init',
      place: () => {
        const place = workspace.place('new');
        workspace.drop(place);
        return place;
      },
      words: () => ['init'],
      judge: async (place) => {
        await expectInitCompletes(place);
        await succeedAgain(place, ['backup', source]);
        await expectWhole(place);
      },
    },
    {
      name: 'start',
      place: () => {
        const { state, ...place } = workspace.place('started');
        workspace.drop({ state, ...place });
        return { ...place, state, repository: join(state, 'repository') };
      },
      words: () => ['start', '--source', source, '--once'],
      judge: async (place) => {
        await succeed(place, ['start', '--source', source, '--once']);
        // The recovery kit is that of the repository, not of an attempt before.
        for (const secret of kitSecrets(place))
          expect(await opensWith(place, secret), 'the recovery kit').toBe(true);
        await expectWhole({ ...place, passphrase: kitSecrets(place)[0] });
      },
    },
    {
      name: 'forget',
      place: () => site.victim(one),
      words: () => ['forget', '--keep-last', '1'],
      judge: async (place) => {
        await expectWhole(place);
        expect((await snapshotsAt(place)).length).toBeLessThanOrEqual(2);
        await succeedAgain(place, ['forget', '--keep-last', '1']);
        expect(await snapshotsAt(place)).toHaveLength(1);
        await succeedAgain(place, ['backup', source]);
        await expectWhole(place);
      },
    },
    {
      name: 'recover',
      place: () => site.victim(one),
      words: () => ['recover'],
      judge: async (place) => {
        await expectWhole(place);
        await succeedAgain(place, ['recover']);
        await expectWhole(place);
      },
    },
  ];
}

/** Either nothing opens and init can be run again, or the repository is there and opens. */
async function expectInitCompletes(place: Place): Promise<void> {
  const again = await runAgain(place, ['init', '--json']);
  if (again.code === 0) return;
  expect(jsonLines(again).at(-1)?.['code']).toBe('REPOSITORY_EXISTS');
  await snapshotsAt(place);
}

/** Passphrase and recovery code of the recovery kit. */
function kitSecrets({ state }: Place): readonly string[] {
  const kit = readFileSync(join(state, 'recovery-kit.txt'), 'utf8');
  return ['Passphrase', 'Recovery code'].map((name) => new RegExp(`${name} +(\\S+)`).exec(kit)?.[1] ?? '');
}
