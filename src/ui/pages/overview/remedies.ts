/** What a person can do about a statement, in words, and the page on which to do it. */
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Overview, Statement } from '../../../api/schemas/page/overview.ts';
import { t } from '../../language/language.ts';
import { hrefOf } from '../../parts/route.ts';
import { checkWords } from './headline.tsx';

/** Empty when there is nothing to do. */
export function todoOf(statement: Statement): string {
  const { code, reason, check, figures } = statement;
  if (check !== null) return checkWords(statement)?.todo ?? '';
  const isUnexplained = code === 'never_backed_up' || code === 'overdue';
  const unexplained = figures['paused'] === 1 ? 'paused' : 'none';
  const remedy = t.overview.remedies[reason ?? (isUnexplained ? unexplained : '')];
  return t.overview.todo[todoKey(statement)] ?? remedy ?? '';
}

function todoKey({ code, reason, since, figures }: Statement): string {
  if (code === 'source_empty' && reason === 'source_missing') return 'source_gone';
  if (code === 'destination_gone' && figures['empty'] === 1) return 'destination_empty';
  // There are older snapshots if there was a good backup, or an alarm compared it with one.
  const hasOlder = since !== null || figures['files_before'] !== undefined;
  return code === 'source_left_out' && !hasOlder ? 'source_left_out_before' : code;
}

/** The type of the jobs that a statement comes from. */
const OF_JOBS: Readonly<Partial<Record<Statement['code'], AnyJob['type']>>> = {
  damaged: 'check',
  check_undone: 'check',
  drill_failed: 'drill',
  drill_undone: 'drill',
  prune_failed: 'prune',
  command_failed: 'backup',
  files_unread: 'backup',
  source_left_out: 'backup',
};

/** Statements that come from an alarm. */
export const OF_ALARMS: ReadonlySet<Statement['code']> = new Set([
  'files_rewritten',
  'source_unreadable',
  'source_left_out',
  'source_empty',
  'files_disappeared',
  'files_burst',
  'name_claimed',
]);

/** Alarms after which backups went on: the newest have the files as they are since. */
const AFTER_DAMAGE: ReadonlySet<Statement['code']> = new Set([
  'files_rewritten',
  'files_disappeared',
  'files_burst',
]);

/** The sources whose newest backups were made after what an alarm is about. */
export function damagedSources({
  headline,
  others,
}: Pick<Overview, 'headline' | 'others'>): ReadonlySet<string> {
  return new Set([headline, ...others].flatMap(({ code, paths }) => (AFTER_DAMAGE.has(code) ? paths : [])));
}

const SETTINGS: Readonly<Record<string, string>> = {
  configuration: 'advanced',
  notices: 'notifications',
  partner: 'account',
};

export interface Way {
  readonly href: string;
  readonly label: string;
}

/** Undefined when no page helps. */
export function wayOf({ code, check }: Pick<Statement, 'code' | 'check'>): Way | undefined {
  const type = OF_JOBS[code];
  if (type !== undefined) return { href: hrefOf(['jobs'], { type }), label: t.overview.toJobs };
  if (OF_ALARMS.has(code)) return { href: hrefOf(['alarms']), label: t.app.alarmsLook };
  if (code === 'last_failed')
    return { href: hrefOf(['jobs'], { status: 'failed' }), label: t.overview.toJobs };
  // No job need have failed: it may be waiting for a disk.
  if (code === 'overdue' || code === 'never_backed_up')
    return { href: hrefOf(['jobs']), label: t.overview.toJobs };
  if (code === 'same_disk' || code === 'destination_gone')
    return { href: hrefOf(['settings', 'destinations']), label: t.overview.destinations.addSecond };
  if (code === 'untested') return { href: hrefOf(['restore']), label: t.app.restore };
  const section = check === null ? undefined : SETTINGS[check];
  return section === undefined
    ? undefined
    : { href: hrefOf(['settings', section]), label: t.overview.toAdvanced };
}
