/** `keys drill`: proves that what is written down on paper brings files back. */
import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { pathText } from '../../base/tree-path.ts';
import { RepositoryError, RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { formatBytes, localTime } from '../../base/units.ts';
import { parseRecoveryCode } from '../../codec/recovery-code.ts';
import { ContentReader } from '../../browse/cat.ts';
import { newestOfEachSource, pickFiles } from '../../browse/file-sample.ts';
import { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots } from '../../repository/snapshots.ts';
import { lastPacks } from '../../repository/tombstones.ts';
import { choosePlace } from '../places/chosen-place.ts';
import type { Context } from '../command/context.ts';
import { rememberDrill } from './drilled-keys.ts';
import { openAsStranger, shownLocation } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  usage,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { canPrompt, promptHidden } from '../terminal/prompt.ts';
import { givenByOptions, readGiven, takeFromEnvironment } from '../places/secret.ts';
import { statePaths } from '../command/state-directory.ts';
import { printable } from '../terminal/terminal.ts';
import { count, shortId } from '../terminal/wording.ts';

interface DrillOptions extends RepositoryOptions, OutputOptions {
  readonly passphrase?: boolean;
  readonly files: number;
}

const MOST_FILES = 10_000;

/** @param sub makes a command below `keys` */
export function defineDrill(sub: (name: string, purpose: string) => Command, context: Context): void {
  const drill = sub('drill', 'Test that the recovery code, typed from paper, can restore files');
  drill
    .optionsGroup('How:')
    .option('--passphrase', 'Test a passphrase instead of a recovery code')
    .option('--files <n>', 'How many randomly chosen files to read back', parseFiles, 1);
  addRepositoryOptions(drill);
  addOutputOptions(drill, { json: 'The result as a JSON object' });
  drill.addHelpText(
    'after',
    `
The repository is opened only with what you type, as on a new machine. Files are read back and checked, but not
written anywhere. Nothing is changed. "keys list" shows when each key was last tested.`,
  );
  addExamples(drill, [[holdfast`keys drill`, 'twice a year, typing the code from paper']]);
  drill.action(async (options: DrillOptions) => await drillNow(options, context));
}

function parseFiles(text: string): number {
  const files = Number(text);
  if (/^\d+$/.test(text) && files >= 1 && files <= MOST_FILES) return files;
  throw usage(`"${text}" is not a number of files`, `Use a number from 1 to ${MOST_FILES}.`);
}

async function drillNow(options: DrillOptions, context: Context): Promise<void> {
  const place = await choosePlace(options, context);
  const secret = await askSecret(options, shownLocation(place.location), context);
  const repository = await openAsStranger(place, secret, context);
  let proven: Proven;
  try {
    proven = await readBack(repository, options.files, context.signal);
  } finally {
    await repository.close();
  }
  const { slot } = repository.slot;
  const atMs = context.clock.now();
  await rememberDrill(statePaths(context.env).directory, repository.id, slot, atMs);
  if (options.json === true) {
    await context.out.json({
      type: 'key_drill',
      id: slot,
      kind: secret.kind,
      at: new Date(atMs).toISOString(),
      snapshots: proven.snapshots,
      files: proven.files.map(({ path, size }) => ({ path, size })),
      bytes: proven.bytes,
    });
    return;
  }
  await context.out.line(
    `The ${secret.kind === 'recovery' ? 'recovery code' : 'passphrase'} (key ${shortId(slot)}) opens the repository, which holds ${count(proven.snapshots, 'snapshot')}.`,
  );
  for (const { path, size, startedMs } of proven.files)
    await context.out.line(
      `Read back correctly: ${printable(path)}  ${formatBytes(size)}, of ${localTime(startedMs)}`,
    );
}

/**
 * The secret to prove: from an option, else typed. A variable is used only without a terminal, as it may be all that
 * this machine knows, and a drill has to do without that. The machine key is never used.
 */
async function askSecret(options: DrillOptions, location: string, context: Context): Promise<Secret> {
  const secretOf = (typed: string): Secret =>
    options.passphrase === true
      ? { kind: 'passphrase', text: typed }
      : { kind: 'recovery', secret: parseRecoveryCode(typed) };
  const fromEnvironment = takeFromEnvironment(context.env);
  const given = givenByOptions(options);
  if (given !== undefined) return secretOf(await readGiven(given, context));
  const what = options.passphrase === true ? 'Passphrase' : 'Recovery code';
  if (canPrompt(context)) return secretOf(await promptHidden(`${what} for ${location}: `, context));
  if (fromEnvironment !== undefined) return secretOf(await readGiven(fromEnvironment, context));
  throw usage(
    'No recovery code was given, and there is no terminal to ask for it',
    'Use --password-file or --password-command.',
  );
}

interface Proven {
  readonly snapshots: number;
  readonly bytes: number;
  readonly files: readonly { readonly path: string; readonly size: number; readonly startedMs: number }[];
}

/**
 * Reads files back, checking every chunk against its id.
 * @throws {RepositoryError} CORRUPT_DATA; {RequestError} when there is no file
 */
async function readBack(repository: Repository, files: number, signal: AbortSignal): Promise<Proven> {
  const { live, tombstones } = await listSnapshots(repository, signal);
  const index = await loadForReading(repository, lastPacks(tombstones), signal);
  const trees = new SnapshotTrees(repository, index);
  // Snapshots of write-only keys prove little, so those of full keys, which come first, are used if there are any.
  const [newest = []] = newestOfEachSource(live);
  const picked = await pickFiles(trees, newest, files, (below) => randomInt(below), signal);
  const read: { path: string; size: number; startedMs: number }[] = [];
  for (const { snapshot, files: chosen } of picked) {
    const content = new ContentReader(repository, index, snapshot.record);
    for (const { path, entry } of chosen) {
      let size = 0;
      for await (const bytes of content.read(entry, undefined, signal)) size += bytes.length;
      if (size !== entry.size)
        throw new RepositoryError('CORRUPT_DATA', `${pathText(path)} has ${size} of ${entry.size} bytes`);
      read.push({ path: pathText(path), size, startedMs: snapshot.record.startedMs });
    }
  }
  if (read.length === 0) {
    throw new RequestError(
      'NOTHING_TO_DRILL',
      'The repository opens, but no snapshot contains a file to read back',
      {
        hint: 'Make a backup first.',
      },
    );
  }
  return { snapshots: live.length, bytes: read.reduce((sum, { size }) => sum + size, 0), files: read };
}
