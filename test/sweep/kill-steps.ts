/** Kills short commands before each of their steps, one after the other: the old state stands, or the new one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { copyAside, makeCorpus, QUICK_SCALE } from './corpus.ts';
import { expectClean, expectRestores, snapshotIds } from './oracle.ts';
import { progress } from './phases.ts';
import {
  countCalls,
  jsonLines,
  run,
  runAndKill,
  succeed,
  type Moment,
  type Outcome,
  type Place,
} from './program.ts';
import type { Workspace } from './workspace.ts';

const SIZES = { packTarget: 1_000_000, segmentTarget: 250_000 };
const SECOND_PASSPHRASE = 'sweep: another passphrase';

export interface StepKills {
  /** Commands and before how many of their steps they were killed. */
  readonly steps: Readonly<Record<string, number>>;
}

/** How one command is tried. */
interface Trial {
  readonly name: string;
  /** Makes the place that the command runs in; the same each time. */
  readonly place: () => Place | Promise<Place>;
  readonly words: (place: Place) => readonly string[];
  /** What must hold after a kill, and after the command was run again where that is needed. */
  readonly judge: (place: Place) => Promise<void>;
}

/** @param every kill before every so many-th step only */
export async function sweepSteps(workspace: Workspace, every: number): Promise<StepKills> {
  const trials = await makeTrials(workspace);
  const steps: Record<string, number> = {};
  for (const trial of trials) {
    const counted = await trial.place();
    const calls = await countCalls(counted, trial.words(counted));
    workspace.drop(counted);
    steps[trial.name] = 0;
    for (let number = 1; number <= calls; number += every) {
      const place = await trial.place();
      const moment: Moment = { kind: 'call', number };
      const outcome = await runAndKill(place, trial.words(place), moment);
      // Leases and heads are not always trimmed by the same number of calls.
      if (outcome.killed) steps[trial.name] = (steps[trial.name] ?? 0) + 1;
      else expect(outcome.code).toBe(0);
      await trial.judge(place);
      progress(trial.name, number, calls, moment, 'old or new state stands');
      workspace.drop(place);
    }
    expect(steps[trial.name]).toBeGreaterThan(3 / every);
  }
  return { steps };
}

async function makeTrials(workspace: Workspace): Promise<readonly Trial[]> {
  const source = workspace.path('source');
  makeCorpus(source, { ...QUICK_SCALE, smallFiles: 60, largeFiles: 3 }, seededRandom(5));
  const version = workspace.path('version-1');
  copyAside(source, version);
  const secondFile = workspace.path('second-passphrase');
  writeFileSync(secondFile, SECOND_PASSPHRASE, { mode: 0o600 });
  const one = await workspace.create('one-key', SIZES);
  await succeed(one, ['backup', source]);
  await succeed(one, ['backup', source]);
  const two = workspace.copy(one, 'two-keys');
  await succeed(two, ['keys', 'add', '--new-password-file', secondFile]);
  const other = await secondSlot(two);
  const same = (base: Place) => () => workspace.copy(base, 'victim');
  const whole = async (place: Place, warnings = true): Promise<void> => {
    await expectClean(place, { warnings });
    for (const id of await snapshotIds(place)) await expectRestores(workspace, place, id, source, version);
  };
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
        await succeed(place, ['backup', source]);
        await whole(place);
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
        await whole({ ...place, passphrase: kitSecrets(place)[0] });
      },
    },
    {
      name: 'keys add',
      place: same(one),
      words: () => ['keys', 'add', '--new-password-file', secondFile],
      judge: async (place) => {
        await whole(place);
        if (!(await opensWith(place, SECOND_PASSPHRASE))) {
          await succeed(place, ['keys', 'add', '--new-password-file', secondFile]);
        }
        expect(await opensWith(place, SECOND_PASSPHRASE)).toBe(true);
        await removeLeftovers(place);
        await whole(place);
      },
    },
    {
      name: 'keys remove',
      place: same(two),
      words: () => ['keys', 'remove', other],
      judge: async (place) => {
        await whole(place);
        if (await opensWith(place, SECOND_PASSPHRASE)) await succeed(place, ['keys', 'remove', other]);
        expect(await opensWith(place, SECOND_PASSPHRASE)).toBe(false);
        await removeLeftovers(place);
        await whole(place);
      },
    },
    {
      name: 'forget',
      place: same(one),
      words: () => ['forget', '--keep-last', '1'],
      judge: async (place) => {
        await whole(place);
        expect((await snapshotIds(place)).length).toBeLessThanOrEqual(2);
        await succeed(place, ['forget', '--keep-last', '1']);
        expect(await snapshotIds(place)).toHaveLength(1);
        await succeed(place, ['backup', source]);
        await whole(place);
      },
    },
    {
      name: 'recover',
      place: same(one),
      words: () => ['recover'],
      judge: async (place) => {
        await whole(place);
        await succeed(place, ['recover']);
        await whole(place);
      },
    },
  ];
}

/** Either nothing opens and init can be run again, or the repository is there and opens. */
async function expectInitCompletes(place: Place): Promise<void> {
  const again = await run(place, ['init', '--json']);
  if (again.code === 0) return;
  expect(errorCode(again)).toBe('REPOSITORY_EXISTS');
  await succeed(place, ['snapshots', '--json']);
}

function errorCode(outcome: Outcome): unknown {
  return jsonLines(outcome).at(-1)?.['code'];
}

async function opensWith(place: Place, passphrase: string): Promise<boolean> {
  const outcome = await run(place, ['snapshots', '--json'], { HOLDFAST_PASSWORD: passphrase });
  if (outcome.code === 0) return true;
  expect(outcome.code).toBe(12);
  return false;
}

/** Passphrase and recovery code of the recovery kit. */
function kitSecrets({ state }: Place): readonly string[] {
  const kit = readFileSync(join(state, 'recovery-kit.txt'), 'utf8');
  return ['Passphrase', 'Recovery code'].map((name) => new RegExp(`${name} +(\\S+)`).exec(kit)?.[1] ?? '');
}

async function keysOf(place: Place): Promise<Record<string, unknown>[]> {
  return jsonLines(await succeed(place, ['keys', 'list', '--json']));
}

/** The id of the key that did not open the repository. */
async function secondSlot(place: Place): Promise<string> {
  return String((await keysOf(place)).find(({ current }) => current === false)?.['id']);
}

/** A slot that a killed command left and that opens nothing can be taken away. */
async function removeLeftovers(place: Place): Promise<void> {
  for (const { id, state } of await keysOf(place)) {
    if (state === 'unknown') await succeed(place, ['keys', 'remove', String(id)]);
  }
}
