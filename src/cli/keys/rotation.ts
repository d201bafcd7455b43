/** `keys rotate`, `keys rekey` and `keys generations`: newer keys, and what is still sealed under older ones. */
import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { formatBytes } from '../../base/units.ts';
import { surveyGenerations, type GenerationUse } from '../../repository/keys/generations.ts';
import { oldGenerations, rotateKeys } from '../../repository/keys/keys.ts';
import type { PackFate } from '../../repository/prune/prune-plan.ts';
import type { RekeyPlan } from '../../repository/renew/rekey-plan.ts';
import { planRekey, rekey, type RekeyPhase, type RekeyResult } from '../../repository/renew/rekey.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Retirement } from '../../repository/renew/retire-generations.ts';
import type { Context } from '../command/context.ts';
import { openProgress } from '../command/open-progress.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  type OutputOptions,
  parseAmount,
  parseRate,
  type RepositoryOptions,
} from '../command/options.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

type KeyOptions = RepositoryOptions & OutputOptions;

interface RekeyCommandOptions extends KeyOptions {
  readonly limitRate?: number;
  readonly maxRepack?: number;
  readonly dryRun?: boolean;
}

/** @param sub makes a command below `keys` */
export function defineRotation(sub: (name: string, purpose: string) => Command, context: Context): void {
  const rotate = sub('rotate', 'Encrypt everything stored from now on with new keys');
  addRepositoryOptions(rotate);
  addOutputOptions(rotate, { json: 'The result as a JSON object' });
  rotate.addHelpText('after', `\n${whatRotationDoes()}`);
  rotate.action(async (options: KeyOptions) => {
    await withRepository(
      options,
      context,
      async (repository) => await rotateNow(repository, options, context),
    );
  });

  const again = sub('rekey', 'Re-encrypt what is stored under older keys');
  again
    .optionsGroup('Behaviour:')
    .option('--limit-rate <size>', 'Limit writing to this much per second, such as 2MiB', parseRate)
    .option('--max-repack <size>', 'Rewrite at most this much in this run', parseAmount)
    .option('-n, --dry-run', 'Only show what would be done');
  addRepositoryOptions(again);
  addOutputOptions(again, { json: 'The result as a JSON object', quiet: 'Print errors only' });
  again.addHelpText('after', `\n${WHAT_REKEY_DOES}`);
  addExamples(again, [
    [
      `${holdfast`keys rotate`} && ${holdfast`keys rekey --limit-rate 2MiB`}`,
      'after a key fell into the wrong hands',
    ],
  ]);
  again.action(async (options: RekeyCommandOptions) => {
    const work = async (repository: Repository): Promise<void> =>
      await rekeyNow(repository, options, context);
    await withRepository(options, context, work, { limitRate: options.limitRate });
  });

  const generations = sub('generations', 'Show how much is stored under each generation of keys');
  addRepositoryOptions(generations);
  addOutputOptions(generations, { json: 'One JSON object for each generation' });
  generations.action(async (options: KeyOptions) => {
    await withRepository(options, context, async (repository) => {
      await showGenerations(await surveyGenerations(repository, context.signal), options, context);
    });
  });
}

function whatRotationDoes(): string {
  return `Data that is already stored keeps its older keys until "${holdfastThere`keys rekey`}" re-encrypts it. Neither command can
undo what somebody has already read or copied, and neither changes the keys used to cut and name data. If
somebody may have those keys, copy to a new repository: ${holdfast`init`}, then ${holdfast`copy`}`;
}

const WHAT_REKEY_DOES = `Old packs are copied, and a prune deletes the originals after the grace period: until then they take up space
twice. Snapshots get new ids. Backups can run at the same time. If it is interrupted, the next run continues.
Run it again after a prune to remove the older keys, once nothing is encrypted with them any more.`;

async function rotateNow(repository: Repository, options: KeyOptions, context: Context): Promise<void> {
  await rotateKeys(repository, context.signal);
  const { generation } = repository.keys;
  if (options.json === true) {
    await context.out.json({ type: 'keys_rotated', generation });
    return;
  }
  await context.out.line(`From now on everything is encrypted with key generation ${generation}.`);
  await context.out.line(whatRotationDoes());
}

async function rekeyNow(
  repository: Repository,
  options: RekeyCommandOptions,
  context: Context,
): Promise<void> {
  const { signal, out } = context;
  const before = await surveyGenerations(repository, signal);
  if (options.dryRun === true) {
    const plan = await planRekey(repository, signal);
    if (options.json === true) await out.json({ type: 'rekey', dry_run: true, ...planObject(plan, before) });
    else if (options.quiet !== true) await out.write(`${remaining(before)}\n${planText(plan)}`);
    return;
  }
  if (options.json !== true && options.quiet !== true) await out.line(remaining(before));
  const result = await rekeyWithProgress(repository, options, context);
  const after = await surveyGenerations(repository, signal);
  if (options.json === true) {
    await out.json({
      type: 'rekey',
      dry_run: false,
      ...resultObject(result),
      generation: repository.keys.generation,
      before: before.map(useObject),
      after: after.map(useObject),
    });
  } else if (options.quiet !== true) await out.write(`${resultText(result)}${remaining(after)}\n`);
}

async function rekeyWithProgress(
  repository: Repository,
  options: RekeyCommandOptions,
  context: Context,
): Promise<RekeyResult> {
  const progress = openProgress('Re-encrypting', options, context);
  let phase: RekeyPhase = 'analysing';
  let todo: { readonly packs: number; readonly bytes: number } | undefined;
  let done = { packs: 0, bytes: 0 };
  const update = (): void =>
    progress.update({
      phase,
      filesDone: done.packs,
      filesTotal: todo?.packs ?? null,
      bytesDone: Math.min(done.bytes, todo?.bytes ?? done.bytes),
      bytesTotal: todo?.bytes ?? null,
      errors: 0,
    });
  context.outcome = 'Everything is still readable. Run the same command again to continue.';
  const { maxRepack } = options;
  try {
    return await rekey(
      repository,
      maxRepack === undefined ? {} : { maxBytes: maxRepack },
      {
        phase: (next) => {
          phase = next;
          update();
        },
        planned: (found) => {
          todo = found;
          update();
        },
        passed: (bytes) => {
          done = { ...done, bytes: done.bytes + bytes };
          update();
        },
        rewritten: (packs) => {
          done = { ...done, packs: done.packs + packs };
          update();
        },
      },
      context.signal,
    );
  } finally {
    progress.finish();
  }
}

/** A sentence that says how much is still sealed under older keys. */
function remaining(uses: readonly GenerationUse[]): string {
  const old = uses.filter(({ state }) => state === 'old');
  if (old.length === 0) return 'There is one generation of keys, and everything is encrypted with it.';
  const sum = (of: (use: GenerationUse) => number): number => old.reduce((all, use) => all + of(use), 0);
  const records = sum(
    (use) => use.indexObjects + use.tombstones + use.heads + use.configurations + use.leases,
  );
  const parts = [
    `${count(
      sum((use) => use.packs),
      'pack',
    )} (${formatBytes(sum((use) => use.packBytes))})`,
    count(
      sum((use) => use.snapshots),
      'snapshot',
    ),
    count(records, 'other record'),
  ];
  const marked = sum((use) => use.markedPacks);
  const waiting =
    marked === 0
      ? ''
      : `; ${count(marked, 'pack')} (${formatBytes(sum((use) => use.markedPackBytes))}) will be deleted by a later prune`;
  return `Under older keys: ${parts.join(', ')}${waiting}.`;
}

function planText({ packs, dead, snapshots, ...left }: RekeyPlan): string {
  const lines = [
    `Would rewrite ${count(packs.length, 'pack')} (${formatBytes(bytesOf(packs))}) and ${count(snapshots.length, 'snapshot')}.`,
  ];
  if (dead.length > 0)
    lines.push(
      `Would mark ${count(dead.length, 'pack')} (${formatBytes(bytesOf(dead))}) that are no longer needed.`,
    );
  return `${[...lines, ...leftLines({ ...left, packs: 0 })].join('\n')}\n`;
}

function resultText({
  packs,
  writtenBytes,
  snapshots,
  markedPacks,
  skipped,
  left,
  retired,
}: RekeyResult): string {
  const lines = [
    `Rewrote ${count(packs, 'pack')} as ${formatBytes(writtenBytes)}, and ${count(snapshots.length, 'snapshot')} under ${snapshots.length === 1 ? 'a new id' : 'new ids'}.`,
  ];
  if (markedPacks > 0)
    lines.push(
      `${count(markedPacks, 'old pack')} will be deleted by the first prune after the grace period.`,
    );
  for (const { name, reason } of skipped)
    lines.push(`Not rewritten: pack ${name}: ${printable(reason)}. See "${holdfastThere`check`}".`);
  lines.push(...leftLines(left), ...retired.map(retirementLine));
  return `${lines.join('\n')}\n`;
}

function leftLines({
  packs,
  young,
  postponed,
  writeOnly,
  unreadable,
}: RekeyResult['left']): readonly string[] {
  const lines: string[] = [];
  if (packs > 0) lines.push(`${count(packs, 'pack')} left for another run, because of the limit.`);
  if (young.length + postponed.length > 0)
    lines.push(
      `${count(young.length, 'pack')} and ${count(postponed.length, 'snapshot')} may belong to a running backup: run this again when it has finished.`,
    );
  if (writeOnly.length > 0)
    lines.push(
      `${count(writeOnly.length, 'pack')} (${formatBytes(bytesOf(writeOnly))}) of write-only keys in use were not rewritten. To re-encrypt them, give those machines new keys, remove the old ones ("${holdfastThere`keys remove ID`}") and run this again.`,
    );
  if (unreadable.length > 0)
    lines.push(`${count(unreadable.length, 'pack')} cannot be read: see "${holdfastThere`check`}".`);
  return lines;
}

const OUTCOMES: Readonly<Record<Retirement['outcome'], string>> = {
  retired: 'was removed from the keyring: nothing used it any more',
  'in use': 'stays in the keyring: some data is still encrypted with it',
  'backup at work': 'stays in the keyring: a running backup may still use it',
  'grace period': 'stays in the keyring until the grace period is over: a sleeping machine may still use it',
};

function retirementLine({ generation, outcome }: Retirement): string {
  return `Key generation ${generation} ${OUTCOMES[outcome]}.`;
}

function bytesOf(packs: readonly PackFate[]): number {
  return packs.reduce((sum, { bytes }) => sum + bytes, 0);
}

function planObject(plan: RekeyPlan, before: readonly GenerationUse[]): object {
  const fate = (packs: readonly PackFate[]) => ({ packs: packs.length, bytes: bytesOf(packs) });
  return {
    generation: plan.generation,
    rewrite: fate(plan.packs),
    mark: fate(plan.dead),
    young: fate(plan.young),
    write_only: fate(plan.writeOnly),
    snapshots: plan.snapshots.length,
    snapshots_postponed: plan.postponed.length,
    packs_unreadable: plan.unreadable,
    before: before.map(useObject),
  };
}

function resultObject({ left, ...result }: RekeyResult): object {
  return {
    packs_rewritten: result.packs,
    bytes_rewritten: result.bytes,
    bytes_written: result.writtenBytes,
    packs_marked: result.markedPacks,
    bytes_marked: result.markedBytes,
    snapshots: result.snapshots.map(({ old, id }) => ({ old_snapshot_id: old, snapshot_id: id })),
    packs_skipped: result.skipped,
    packs_left: left.packs,
    packs_young: left.young.length,
    packs_write_only: left.writeOnly.length,
    snapshots_postponed: left.postponed.length,
    packs_unreadable: left.unreadable,
    generations: result.retired,
  };
}

function useObject(use: GenerationUse): object {
  return {
    generation: use.generation,
    state: use.state,
    packs: use.packs,
    bytes: use.packBytes,
    packs_marked: use.markedPacks,
    bytes_marked: use.markedPackBytes,
    index_objects: use.indexObjects,
    snapshots: use.snapshots,
    snapshots_forgotten: use.forgottenSnapshots,
    tombstones: use.tombstones,
    heads: use.heads,
    configurations: use.configurations,
    leases: use.leases,
  };
}

async function showGenerations(
  uses: readonly GenerationUse[],
  options: OutputOptions,
  { out, env }: Context,
): Promise<void> {
  if (options.json === true) {
    for (const use of uses) await out.json({ type: 'key_generation', ...useObject(use) });
    return;
  }
  const { bold } = createStyles(wantsColor(out.stream, env));
  const rows = uses.map((use) => [
    String(use.generation),
    use.state,
    `${use.packs} (${formatBytes(use.packBytes)})`,
    use.markedPacks === 0 ? '' : `${use.markedPacks} (${formatBytes(use.markedPackBytes)})`,
    String(use.snapshots),
    String(
      use.indexObjects +
        use.forgottenSnapshots +
        use.tombstones +
        use.heads +
        use.configurations +
        use.leases,
    ),
  ]);
  const columns = [
    { title: 'Generation', cut: 'never' as const },
    { title: 'State', cut: 'never' as const },
    { title: 'Packs', cut: 'never' as const },
    { title: 'To be deleted', cut: 'never' as const },
    { title: 'Snapshots', cut: 'never' as const },
    { title: 'Other records', cut: 'never' as const },
  ];
  await out.write(renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: bold }));
}

/** Text that says what the holder of a removed key can still do, and which commands end that. */
export function whatRemovalLeaves(repository: Repository): string {
  const old = oldGenerations(repository);
  return old.length === 0
    ? ''
    : `\nIt cannot open anything stored from now on. But anyone who kept a copy of it, or of the stored data, can still read
what was stored until now. To change that for the data that remains: ${holdfastThere`keys rekey`}. Anyone who has
opened the repository may also have kept the keys that name and sign data. In that case, copy to a new repository
with ${holdfast`init`} and ${holdfast`copy`}. In any case, remove their access to the storage.`;
}
