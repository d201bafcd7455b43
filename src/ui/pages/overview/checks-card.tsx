/** Lists what is wrong or good to know, the worst first, each with what to do. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Statement } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { Tag } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { hrefOf } from '../../parts/route.ts';
import { Said } from './headline.tsx';
import { UnreadFiles } from './unread-files.tsx';

/** Statements that need no action, or that a banner or the page itself already shows. */
const SAID_ELSEWHERE: ReadonlySet<Statement['code']> = new Set([
  'protected',
  'no_source',
  'first_backup_runs',
  'first_backup_paused',
  'paused',
  'destination_away',
]);

export function ChecksCard(): JSX.Element | null {
  const { headline, others } = useOverview();
  // The headline is repeated here only when there is something to do about it.
  const concerns = [headline, ...others].filter(
    ({ code }, at) => !SAID_ELSEWHERE.has(code) || (at > 0 && code === 'destination_away'),
  );
  if (concerns.length === 0) return null;
  return (
    <Card title={t.overview.checksTitle}>
      <ul class="divided">
        {concerns.map((one, index) => (
          <li key={index}>
            <Concern statement={one} isHeadline={one === headline} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const TAGS = { good: 'ok', warning: 'warning', bad: 'error' } as const;

function Concern({
  statement,
  isHeadline,
}: {
  readonly statement: Statement;
  readonly isHeadline: boolean;
}): JSX.Element {
  const { level } = statement;
  const { status } = t.parts.destination;
  return (
    <>
      {isHeadline ? null : (
        <>
          <Tag look={level}>{status[TAGS[level]]}</Tag>{' '}
          <strong>
            <Said statement={statement} isDetail />
          </strong>{' '}
        </>
      )}
      {todoOf(statement)} <Way statement={statement} />
      {statement.code === 'files_unread' ? <UnreadFiles statement={statement} /> : null}
    </>
  );
}

function todoOf({ code, reason, check }: Statement): string {
  if (check !== null) return t.overview.checks[check]?.todo ?? '';
  const remedy = reason === null ? undefined : t.overview.remedies[reason];
  return t.overview.todo[code] ?? remedy ?? '';
}

/** The type of the jobs that a statement comes from. */
const OF_JOBS: Readonly<Partial<Record<Statement['code'], AnyJob['type']>>> = {
  damaged: 'check',
  check_undone: 'check',
  drill_failed: 'drill',
  drill_undone: 'drill',
  prune_failed: 'prune',
  files_unread: 'backup',
};

const OF_ALARMS: ReadonlySet<Statement['code']> = new Set([
  'files_rewritten',
  'source_unreadable',
  'source_left_out',
  'source_empty',
  'files_disappeared',
  'files_burst',
  'name_claimed',
]);

const SETTINGS: Readonly<Record<string, string>> = {
  configuration: 'advanced',
  notices: 'notifications',
  partner: 'account',
};

function Way({ statement: { code, check } }: { readonly statement: Statement }): JSX.Element | null {
  const type = OF_JOBS[code];
  if (OF_ALARMS.has(code)) return <a href={hrefOf(['alarms'])}>{t.app.alarmsLook}</a>;
  if (type !== undefined) return <a href={hrefOf(['jobs'], { type })}>{t.overview.toJobs}</a>;
  if (code === 'last_failed' || code === 'never_backed_up')
    return <a href={hrefOf(['jobs'], { status: 'failed' })}>{t.overview.toJobs}</a>;
  if (code === 'overdue') return <a href={hrefOf(['jobs'])}>{t.overview.toJobs}</a>;
  if (code === 'same_disk' || code === 'destination_gone')
    return <a href={hrefOf(['settings', 'destinations'])}>{t.overview.destinations.addSecond}</a>;
  if (code === 'untested') return <a href={hrefOf(['restore'])}>{t.app.restore}</a>;
  const section = check === null ? undefined : SETTINGS[check];
  return section === undefined ? null : <a href={hrefOf(['settings', section])}>{t.overview.toAdvanced}</a>;
}
