import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { formatBytes, formatDuration, parseDuration } from '../../base/units.ts';
import type { PackFate, PruneOptions, PrunePlan } from '../../repository/prune/prune-plan.ts';
import { storeKeeps } from '../../repository/prune/prune-protected.ts';
import { planPrune, prune, type PrunePhase, type PruneResult } from '../../repository/prune/prune.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { noteOthers } from '../places/elsewhere.ts';
import { openProgress } from '../command/open-progress.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  type OutputOptions,
  parseAmount,
  type RepositoryOptions,
  usage,
} from '../command/options.ts';
import { count } from '../terminal/wording.ts';

export interface PruneCommandOptions extends RepositoryOptions, OutputOptions {
  readonly grace?: number;
  readonly otherWriters?: boolean;
  readonly maxUnused?: number;
  readonly maxRepack?: number;
  readonly dryRun?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('Behaviour:')
    .option(
      '--grace <time>',
      'Delete only what has not been needed for this long (default: 72h)',
      parseDuration,
    )
    .option(
      '--no-other-writers',
      'You guarantee that nothing else is writing now; allows a shorter --grace, even 0',
    )
    .option(
      '--max-unused <percent>',
      'Rewrite packs if more than this share is no longer needed (default: 50%)',
      parsePercent,
    )
    .option('--max-repack <size>', 'Rewrite at most this much in this run', parseAmount)
    .option('-n, --dry-run', 'Only show what would be done');
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'The result as a JSON object', quiet: 'Print errors only' });
  command.addHelpText(
    'after',
    `
Backups can run at the same time: data that is no longer needed is first marked, then deleted by a later
prune if it is still not needed after the grace period.`,
  );
  addExamples(command, [
    [holdfast`prune`, `daily or weekly, after "${holdfast`forget`}"`],
    [holdfast`prune --grace 0 --no-other-writers`, 'free the space immediately'],
  ]);
  command.action(async (options: PruneCommandOptions) => {
    await withRepository(options, context, async (repository) => {
      await pruneNow(repository, options, context);
    });
    if (options.json !== true && options.quiet !== true) await noteOthers(options, context);
  });
}

function parsePercent(text: string): number {
  const percent = Number(/^(\d+(?:\.\d+)?)%?$/.exec(text)?.[1] ?? Number.NaN);
  if (percent >= 0 && percent <= 100) return percent;
  throw usage(`"${text}" is not a percentage`, 'Use a number from 0 to 100, such as 30%.');
}

/** Prunes at once. Also used by `forget --prune`. */
export async function pruneNow(
  repository: Repository,
  options: PruneCommandOptions,
  context: Context,
): Promise<void> {
  const settings = settingsOf(options);
  if (options.dryRun === true) {
    const plan = await planPrune(repository, settings, context.signal);
    if (options.json === true) await context.out.json({ type: 'prune', dry_run: true, ...planObject(plan) });
    else if (options.quiet !== true) await context.out.write(planText(plan));
    return;
  }
  const result = await pruneWithProgress(repository, settings, options, context);
  if (options.json === true)
    await context.out.json({ type: 'prune', dry_run: false, ...resultObject(result) });
  else if (options.quiet !== true) await context.out.write(resultText(result));
}

function settingsOf({ grace, otherWriters, maxUnused, maxRepack }: PruneCommandOptions): PruneOptions {
  return {
    ...(grace === undefined ? {} : { graceSeconds: Math.floor(grace / 1000) }),
    noOtherWriters: otherWriters === false,
    ...(maxUnused === undefined ? {} : { repackBelow: 1 - maxUnused / 100 }),
    ...(maxRepack === undefined ? {} : { maxRepackBytes: maxRepack }),
  };
}

async function pruneWithProgress(
  repository: Repository,
  settings: PruneOptions,
  options: PruneCommandOptions,
  context: Context,
): Promise<PruneResult> {
  const progress = openProgress('Pruning', options, context);
  let phase: PrunePhase = 'analysing';
  let removed = { packs: 0, bytes: 0 };
  const update = (): void =>
    progress.update({
      phase,
      filesDone: removed.packs,
      filesTotal: null,
      bytesDone: removed.bytes,
      bytesTotal: null,
      errors: 0,
    });
  context.outcome = 'No snapshot has lost anything. Run the same command again to continue.';
  try {
    return await prune(
      repository,
      settings,
      {
        phase: (next) => {
          phase = next;
          update();
        },
        removed: ({ packs, bytes }) => {
          removed = { packs: removed.packs + packs, bytes: removed.bytes + bytes };
          update();
        },
      },
      context.signal,
    );
  } finally {
    progress.finish();
  }
}

function resultText(result: PruneResult): string {
  const { plan, repack } = result;
  const what = `${count(result.removedPacks, 'pack')} and ${count(result.removedSnapshots, 'forgotten snapshot')}`;
  const size = formatBytes(result.removedBytes);
  const lines: string[] = [];
  if (result.removedPacks + result.removedSnapshots > 0)
    lines.push(result.keptByStore ? `Deleted ${what} (${size}).` : `Freed ${size}: ${what} deleted.`);
  const marked = result.markedPacks + plan.waiting.length;
  // Without a grace period, marked packs are deleted already.
  const isWaiting = plan.settings.graceSeconds > 0 && marked > 0;
  if (isWaiting)
    lines.push(
      `${formatBytes(result.markedBytes + bytesOf(plan.waiting))} (${count(marked, 'pack')}) will be freed by the first prune in ${formatDuration(plan.settings.graceSeconds * 1000)} or later, so that a running backup loses nothing. To free it now, while no backup runs: ${holdfastThere`prune --grace 0 --no-other-writers`}`,
    );
  if (lines.length === 0) lines.push('There is nothing to free.');
  if (repack.done.length > 0)
    lines.push(`${count(repack.done.length, 'pack')} rewritten as ${formatBytes(repack.writtenBytes)}.`);
  if (result.revivedPacks > 0)
    lines.push(`${count(result.revivedPacks, 'pack')} became needed again and were kept.`);
  return `${[...lines, ...storeKeeps(result), ...warnings(plan)].join('\n')}\n`;
}

function planText(plan: PrunePlan): string {
  const { remove, removeSnapshots, mark, repack, waiting, settings } = plan;
  const lines = [
    `Would free ${formatBytes(bytesOf(remove))}: ${count(remove.length, 'pack')} and ${count(removeSnapshots.length, 'forgotten snapshot')}.`,
    `Would mark ${count(mark.length, 'pack')} (${formatBytes(bytesOf(mark))}), to be deleted after ${formatDuration(settings.graceSeconds * 1000)}.`,
    `Would rewrite ${count(repack.length, 'pack')} (${formatBytes(bytesOf(repack))}) to free about ${formatBytes(deadBytes(repack))}.`,
  ];
  if (waiting.length > 0)
    lines.push(
      `${count(waiting.length, 'pack')} (${formatBytes(bytesOf(waiting))}) marked earlier are still in the grace period.`,
    );
  lines.push(...warnings(plan));
  lines.push(
    `${count(plan.snapshots, 'snapshot')} and ${count(plan.packs, 'pack')} (${formatBytes(plan.packBytes)}) stored now.`,
  );
  return `${lines.join('\n')}\n`;
}

function warnings({ young, unreadable, sessions }: PrunePlan): readonly string[] {
  const lines: string[] = [];
  if (young.length > 0 && sessions.length > 0)
    lines.push(
      `${count(young.length, 'pack')} may belong to a running backup and ${young.length === 1 ? 'was' : 'were'} left alone.`,
    );
  if (unreadable.length > 0)
    lines.push(
      `${count(unreadable.length, 'pack')} cannot be read and ${unreadable.length === 1 ? 'was' : 'were'} left alone: see "${holdfastThere`check`}".`,
    );
  return lines;
}

function bytesOf(packs: readonly PackFate[]): number {
  return packs.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Stored bytes of packs that would be dropped by writing them anew. */
function deadBytes(packs: readonly PackFate[]): number {
  return packs.reduce(
    (sum, { bytes, liveBytes, rawBytes }) =>
      sum + (rawBytes === 0 ? bytes : bytes * (1 - liveBytes / rawBytes)),
    0,
  );
}

function planObject(plan: PrunePlan): object {
  const fate = (packs: readonly PackFate[]) => ({ packs: packs.length, bytes: bytesOf(packs) });
  return {
    grace_seconds: plan.settings.graceSeconds,
    snapshots: plan.snapshots,
    packs: plan.packs,
    bytes_stored: plan.packBytes,
    mark: fate(plan.mark),
    repack: fate(plan.repack),
    revive: fate(plan.revive),
    remove: fate(plan.remove),
    waiting: fate(plan.waiting),
    young: fate(plan.young),
    packs_unreadable: plan.unreadable,
    snapshots_removed: plan.removeSnapshots.length,
  };
}

function resultObject(result: PruneResult): object {
  return {
    grace_seconds: result.plan.settings.graceSeconds,
    packs_marked: result.markedPacks,
    bytes_marked: result.markedBytes,
    packs_removed: result.removedPacks,
    bytes_removed: result.removedBytes,
    snapshots_removed: result.removedSnapshots,
    packs_revived: result.revivedPacks,
    packs_repacked: result.repack.done.length,
    packs_not_repacked: result.repack.skipped,
    bytes_repacked: result.repack.writtenBytes,
    packs_waiting: result.plan.waiting.length,
    packs_protected: result.protected?.packs ?? 0,
    bytes_protected: result.protected?.bytes ?? 0,
    snapshots_protected: result.protected?.snapshots ?? 0,
    kept_by_store: result.keptByStore,
  };
}
