/** Lists what is wrong or good to know, the worst first, each with what to do. */
import type { JSX } from 'preact';
import type { Statement } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { Tag } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { Said } from './headline.tsx';
import { todoOf, wayOf } from './remedies.ts';
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

const TAGS = { warning: 'warning', bad: 'error' } as const;

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
          {level === 'good' ? null : <Tag look={level}>{status[TAGS[level]]}</Tag>}{' '}
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

function Way({ statement }: { readonly statement: Statement }): JSX.Element | null {
  const way = wayOf(statement);
  return way === undefined ? null : <a href={way.href}>{way.label}</a>;
}
