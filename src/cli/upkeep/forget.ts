import type { Command } from 'commander';
import { textOfBytes } from '../../base/byte-path.ts';
import { lacksFiles } from '../../repository/retention/forgetting.ts';
import type { Repository } from '../../repository/repository.ts';
import {
  type KeepCount,
  parseGroupBy,
  planRetention,
  type RetentionPlan,
  type RetentionPolicy,
} from '../../repository/retention/retention.ts';
import { RepositoryError } from '../../base/errors.ts';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { isFull, storedByText } from '../../base/stored-by.ts';
import {
  forgetSnapshots,
  listSnapshots,
  type Snapshot,
  type SnapshotList,
} from '../../repository/snapshots.ts';
import { listEverySnapshot } from '../../repository/chains/whole-list.ts';
import { chooseSnapshot, requireSome, filterSnapshots } from '../snapshots/chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  ALL_SNAPSHOTS,
  collectTags,
  commaList,
  type FilterOptions,
  type OutputOptions,
  type RepositoryOptions,
  usage,
} from '../command/options.ts';
import { snapshotsToChange } from '../snapshots/own-snapshots.ts';
import { shownTags } from '../snapshots/listing-snapshots.ts';
import { warnOfDamaged } from '../snapshots/reading.ts';
import { count, shortId, storedByObject, timeText } from '../terminal/wording.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, printablePath, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import type { GroupField, RetentionGroup } from '../../repository/retention/retention-groups.ts';

interface KeepOptions {
  readonly keepLast?: KeepCount;
  readonly keepHourly?: KeepCount;
  readonly keepDaily?: KeepCount;
  readonly keepWeekly?: KeepCount;
  readonly keepMonthly?: KeepCount;
  readonly keepYearly?: KeepCount;
  readonly keepWithin?: string;
  readonly keepWithinHourly?: string;
  readonly keepWithinDaily?: string;
  readonly keepWithinWeekly?: string;
  readonly keepWithinMonthly?: string;
  readonly keepWithinYearly?: string;
  readonly keepTag?: readonly string[];
}

interface ForgetOptions extends RepositoryOptions, OutputOptions, FilterOptions, KeepOptions {
  readonly groupBy?: readonly GroupField[];
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly lost?: boolean;
}

const UNITS = ['hourly', 'daily', 'weekly', 'monthly', 'yearly'];

export function define(command: Command, context: Context): void {
  command.argument('[snapshot...]', 'ids of snapshots to remove, instead of rules');
  command.optionsGroup('What to keep:').option('--keep-last <n>', 'The newest n, or "all"', parseCount);
  for (const unit of UNITS)
    command.option(
      `--keep-${unit} <n>`,
      `The newest of each ${UNIT_WORDS[unit] ?? unit}, for n of them`,
      parseCount,
    );
  command.option('--keep-within <time>', 'All from the last 1y2m3d4h, counted from the newest');
  for (const unit of UNITS)
    command.option(
      `--keep-within-${unit} <time>`,
      `The newest of each ${UNIT_WORDS[unit] ?? unit} in that time`,
    );
  command
    .option('--keep-tag <tags>', 'All with these tags, separated by commas (repeatable)', collectTags)
    .optionsGroup('Behaviour:')
    .option(
      '--group-by <fields>',
      'Apply the rules separately by host, paths, tags, user, or none (default: host,paths)',
      parseGroupBy,
    )
    .option('-n, --dry-run', 'Only show what would be kept and removed, and why')
    .option('--prune', `Then free the space, like "${holdfast`prune`}"`)
    .option(
      '--lost',
      'Instead, give up snapshots missing from the storage, so that rules and prune can work again',
    );
  addFilterOptions(command, ALL_SNAPSHOTS);
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'The plan as a JSON object', quiet: 'Print errors only' });
  command.addHelpText(
    'after',
    '\nA snapshot is kept if any rule matches it. Pinned snapshots and the newest of each group are always kept.',
  );
  addExamples(command, [
    [
      holdfast`forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --dry-run`,
      'see what the rules would do',
    ],
    [holdfast`forget 1a2b3c4d`, 'remove one snapshot'],
  ]);
  command.action(async (ids: readonly string[], options: ForgetOptions) => {
    requireRulesOrIds(ids, options);
    await withRepository(options, context, async (repository) => {
      if (options.lost === true) {
        const { forgetLost } = await import('./forget-lost.ts');
        await forgetLost(repository, options, context);
      } else await forget(repository, ids, options, context);
    });
  });
}

const UNIT_WORDS: Readonly<Record<string, string>> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  yearly: 'year',
};

function parseCount(text: string): KeepCount {
  if (text === 'all') return 'all';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(`"${text}" is not a number of snapshots`, 'Use a whole number, or "all".');
}

function requireRulesOrIds(ids: readonly string[], options: ForgetOptions): void {
  const rules = Object.keys(options).some((name) => name.startsWith('keep'));
  if (ids.length > 0 && rules) throw usage('Ids and rules cannot be combined', 'Use one or the other.');
  const isLost = options.lost === true;
  const { host, tag, path, storedBy } = options;
  const isNarrowed = [host, tag, path, storedBy].some((filter) => filter !== undefined);
  if (isLost && (ids.length > 0 || rules || isNarrowed || options.prune === true))
    throw usage(
      '--lost cannot be combined with anything else',
      'Use it without ids, rules, filters and --prune.',
    );
  if (ids.length === 0 && !rules && !isLost)
    throw usage(
      'It is not clear what to remove',
      'Use rules such as --keep-daily 7, or give the ids of snapshots to remove.',
    );
}

async function forget(
  repository: Repository,
  ids: readonly string[],
  options: ForgetOptions,
  context: Context,
): Promise<void> {
  const list =
    ids.length > 0
      ? await listSnapshots(repository, context.signal)
      : await listEverySnapshot(repository, 'the rules remove nothing', context.signal);
  warnOfDamaged(list, context);
  const remove =
    ids.length > 0
      ? await forgetNamed(repository, list, ids, options, context)
      : await forgetByRules(repository, list.live, options, context);
  if (options.prune === true && options.dryRun !== true) {
    const { pruneNow } = await import('./prune.ts');
    await pruneNow(repository, options, context);
  } else if (options.json !== true && options.quiet !== true && options.dryRun !== true && remove > 0)
    await context.out.line(`To free their space: ${holdfastThere`prune`}`);
}

async function forgetNamed(
  repository: Repository,
  list: SnapshotList,
  names: readonly string[],
  options: ForgetOptions,
  context: Context,
): Promise<number> {
  const givenUp = new Set(list.damaged.filter(isGivenUpBy(names)).map(({ id }) => id));
  const readable = names.filter((name) => ![...givenUp].some((id) => id.startsWith(name)));
  const chooseFrom = (name: string) => snapshotsToChange(list, name, options, 'forget');
  const chosen = [
    ...new Set(readable.map((name) => chooseSnapshot(chooseFrom(name), name, options, context))),
  ];
  const pinned = chosen.filter(({ record }) => record.pinned);
  if (pinned.length > 0) {
    throw new RepositoryError(
      'REFUSED',
      `Snapshot ${pinned.map(({ id }) => shortId(id)).join(', ')} is pinned`,
      {
        hint: `To remove it, unpin it first: ${holdfastThere`tag --unpin ID`}`,
      },
    );
  }
  const remove = [...chosen.map(({ id }) => id), ...givenUp];
  if (options.dryRun !== true) await forgetSnapshots(repository, remove, 'removed by id', context.signal);
  if (options.json === true)
    await context.out.json({
      type: 'forget',
      dry_run: options.dryRun ?? false,
      groups: [],
      keep: [],
      remove,
    });
  else if (options.quiet !== true) {
    for (const one of chosen) await context.out.line(removedLine(one));
    await context.out.line(outcome(remove.length, options));
  }
  return remove.length;
}

/** Whose snapshot goes: `latest`, or an id from an old list, may be another one than is thought of. */
function removedLine(snapshot: Snapshot): string {
  const { host, paths } = snapshot.record;
  const where = paths.map(printablePath).join(', ');
  return `${shortId(snapshot.id)}  ${timeText(snapshot)}  ${printable(host)}  ${where}`;
}

/**
 * Matches snapshots that can never be read again, by ids or their beginnings. Beginnings of less than 8 digits could
 * mean another snapshot.
 */
function isGivenUpBy(names: readonly string[]): (one: SnapshotList['damaged'][number]) => boolean {
  const ids = names.filter((name) => /^[0-9a-f]{8,64}$/.test(name));
  return ({ id, error }) => error.code === 'CORRUPT_DATA' && ids.some((name) => id.startsWith(name));
}

async function forgetByRules(
  repository: Repository,
  live: readonly Snapshot[],
  options: ForgetOptions,
  context: Context,
): Promise<number> {
  const filtered = filterSnapshots(live, options);
  requireSome(filtered, live, options, 'Nothing was removed');
  const inputs = filtered.map(({ id, record, storedBy, storedMs }, rank) => ({
    id,
    rank,
    storedBy,
    storedMs,
    timeMs: record.startedMs,
    host: record.host,
    paths: record.paths.map(textOfBytes),
    user: record.user,
    tags: record.tags,
    pinned: record.pinned,
    partial: lacksFiles(record),
    original: record.original,
  }));
  const { readSettings } = await import('../places/settings-file.ts');
  const settings = await readSettings(undefined, context);
  const policy = policyOf(options, settings?.settings.timeZone ?? undefined);
  const plan = planRetention(inputs, policy, context.clock.now());
  if (options.dryRun !== true)
    await forgetSnapshots(repository, plan.remove, 'removed by rules', context.signal, {
      countingOn: plan.keep,
    });
  if (options.json === true) await context.out.json(planObject(plan, options));
  else if (options.quiet !== true) await context.out.write(planText(plan, context));
  if (options.json !== true && options.quiet !== true)
    await context.out.line(
      `${outcome(plan.remove.length, options)} ${count(plan.keep.length, 'stays', 'stay')}.`,
    );
  return plan.remove.length;
}

function policyOf(
  { keepTag, groupBy, ...options }: ForgetOptions,
  timeZone: string | undefined,
): RetentionPolicy {
  return {
    keepLast: options.keepLast,
    keepHourly: options.keepHourly,
    keepDaily: options.keepDaily,
    keepWeekly: options.keepWeekly,
    keepMonthly: options.keepMonthly,
    keepYearly: options.keepYearly,
    keepWithin: options.keepWithin,
    keepWithinHourly: options.keepWithinHourly,
    keepWithinDaily: options.keepWithinDaily,
    keepWithinWeekly: options.keepWithinWeekly,
    keepWithinMonthly: options.keepWithinMonthly,
    keepWithinYearly: options.keepWithinYearly,
    keepTags: keepTag?.map((list) => commaList([list])),
    groupBy,
    timeZone,
  };
}

function outcome(removed: number, { dryRun }: ForgetOptions): string {
  if (dryRun === true) return `${count(removed, 'snapshot')} would be removed.`;
  return removed === 0 ? 'Nothing was removed.' : `${count(removed, 'snapshot')} removed.`;
}

function planText({ groups, future }: RetentionPlan, { out, env }: Context): string {
  const { bold, dim, red } = createStyles(wantsColor(out.stream, env));
  const tables = groups.map((group) => {
    // Tags that only name the job would take their place from the reasons.
    const isTagged = group.snapshots.some(({ snapshot }) => shownTags(snapshot.tags) !== '');
    const rows = group.snapshots.map(({ snapshot, keep, reasons }) => {
      const style = keep ? (text: string) => text : red;
      return [
        { text: keep ? 'keep' : 'remove', style },
        { text: shortId(snapshot.id), style },
        timeText({ ...snapshot, record: { startedMs: snapshot.timeMs } }),
        ...(isTagged ? [shownTags(snapshot.tags)] : []),
        { text: reasons.join(', '), style: dim },
      ];
    });
    const columns = [
      { title: 'Plan', cut: 'never' as const },
      { title: 'ID', cut: 'never' as const },
      { title: 'Time', cut: 'never' as const },
      ...(isTagged ? [{ title: 'Tags' }] : []),
      { title: 'Why' },
    ];
    const table = renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: bold });
    return `${bold(groupTitle(group))}\n${table}\n`;
  });
  const warning =
    future.length === 0
      ? ''
      : `${count(future.length, 'snapshot')} ${future.length === 1 ? 'has a time in the future and is' : 'have a time in the future and are'} kept: a clock is or was wrong.\n\n`;
  return tables.join('') + warning;
}

function groupTitle({ key, storedBy }: RetentionGroup): string {
  const parts = [
    key.host === undefined ? '' : `host ${key.host}`,
    key.user === undefined ? '' : `user ${key.user}`,
    key.paths === undefined ? '' : key.paths.join(', '),
    key.tags === undefined ? '' : `tags ${key.tags.join(',') || 'none'}`,
    isFull(storedBy) ? '' : storedByText(storedBy),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'All snapshots' : printable(parts.join(' · '));
}

function planObject(plan: RetentionPlan, { dryRun }: ForgetOptions): object {
  return {
    type: 'forget',
    dry_run: dryRun ?? false,
    time_zone: plan.timeZone,
    groups: plan.groups.map(({ key, storedBy, snapshots }) => ({
      ...key,
      stored_by: storedByObject(storedBy),
      snapshots: snapshots.map(({ snapshot, keep, reasons }) => ({
        id: snapshot.id,
        time: new Date(snapshot.timeMs).toISOString(),
        tags: snapshot.tags,
        keep,
        reasons,
      })),
    })),
    keep: plan.keep,
    remove: plan.remove,
  };
}
