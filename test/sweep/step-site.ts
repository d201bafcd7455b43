/** What the trials of short commands begin with, and what they look at. */
import { writeFileSync } from 'node:fs';
import { seededRandom } from '../support/seeded-random.ts';
import { copyAside, makeCorpus, QUICK_SCALE } from './corpus.ts';
import { succeed, type CountedCalls, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { expectWholeAt, keysAt } from './library-oracle.ts';
import type { Workspace } from './workspace.ts';

/** How one command is tried. */
export interface StepTrial {
  readonly name: string;
  /** Makes the place that the command runs in; the same each time. */
  readonly place: () => Place | Promise<Place>;
  readonly words: (place: Place) => readonly string[];
  /** What counts as a step; calls that change a directory when absent. */
  readonly calls?: CountedCalls;
  /** The machine at that place which runs the command, where it is another one. */
  readonly machine?: (place: Place) => Place;
  /** What must hold after a kill, and after the command was run again where that is needed. */
  readonly judge: (place: Place) => Promise<void>;
}

export interface StepSite {
  readonly workspace: Workspace;
  readonly source: string;
  readonly secondPassphrase: { readonly text: string; readonly file: string };
  /** Two snapshots of the source, one passphrase. */
  readonly one: Place;
  /** A copy to be killed in. */
  victim(base: Place): Place;
  /** Nothing is damaged, and every snapshot restores to the source. */
  expectWhole(place: Place): Promise<void>;
}

export const STEP_SIZES = { packTarget: 1_000_000, segmentTarget: 250_000 };

export async function prepareStepSite(workspace: Workspace): Promise<StepSite> {
  const source = workspace.path('source');
  makeCorpus(source, { ...QUICK_SCALE, smallFiles: 60, largeFiles: 3 }, seededRandom(5));
  const version = workspace.path('version-1');
  copyAside(source, version);
  const secondPassphrase = { text: 'sweep: another passphrase', file: workspace.path('second-passphrase') };
  writeFileSync(secondPassphrase.file, secondPassphrase.text, { mode: 0o600 });
  const one = await workspace.create('one-key', STEP_SIZES);
  await succeed(one, ['backup', source]);
  await succeed(one, ['backup', source]);
  return {
    workspace,
    source,
    secondPassphrase,
    one,
    victim: (base) => workspace.copy(base, 'victim'),
    expectWhole: async (place) => await expectWholeAt(place, workspace, source, version),
  };
}

/** A slot that a killed command left and that opens nothing can be taken away. */
export async function removeLeftovers(place: Place): Promise<void> {
  for (const { slot, state } of await keysAt(place)) {
    if (state === 'unknown') await succeedAgain(place, ['keys', 'remove', slot]);
  }
}
