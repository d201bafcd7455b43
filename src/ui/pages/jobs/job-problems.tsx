/** Lists files that could not be saved or restored, by reason, with what to do about each. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { JobLog } from '../../../api/schemas/job.ts';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Own, Path } from '../../components/own-text.tsx';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { explained } from './job-words.ts';

/** Problems shown for each reason until the user asks for all. */
const SHOWN = 10;

export function JobProblems({
  job,
  problems,
}: {
  readonly job: AnyJob;
  readonly problems: readonly FileProblem[];
}): JSX.Element | null {
  if (problems.length === 0) return null;
  const more = job.warnings_count - problems.length;
  return (
    <Card
      title={t.jobs.problemsTitle(problems.length, formatCount(problems.length))}
      className="job-problems"
    >
      {groupProblems(problems).map((group) => (
        <Group key={group.code} group={group} type={job.type} />
      ))}
      {more > 0 ? <p class="quiet">{t.jobs.moreProblems(formatCount(more))}</p> : null}
    </Card>
  );
}

function Group({
  group,
  type,
}: {
  readonly group: ProblemGroup;
  readonly type: AnyJob['type'];
}): JSX.Element {
  const { code, problems } = group;
  const [isWhole, setWhole] = useState(false);
  const said = explained(code, type);
  const shown = isWhole ? problems : problems.slice(0, SHOWN);
  // A message that all of them share is shown once.
  const common = problems.every(({ message }) => message === problems[0]?.message)
    ? problems[0]?.message
    : undefined;
  return (
    <section>
      <h3>
        {t.jobs.entries(problems.length, formatCount(problems.length))}{' '}
        <span class="quiet small-text">
          <Own>{code}</Own>
        </span>
      </h3>
      {said === undefined ? null : <p>{said}</p>}
      {common === undefined || common === '' ? null : (
        <p class="quiet small-text">
          <Own>{common}</Own>
        </p>
      )}
      <ul class="problem-paths">
        {shown.map(({ path, message }, index) => (
          <li key={index}>
            <Path>{path}</Path>
            {common === undefined && message !== '' ? (
              <small class="quiet">
                <Own>{message}</Own>
              </small>
            ) : null}
          </li>
        ))}
      </ul>
      {shown.length < problems.length ? (
        <Button type="button" look="bare" onClick={() => setWhole(true)}>
          {t.jobs.showAll(formatCount(problems.length))}
        </Button>
      ) : null}
    </section>
  );
}

type FileProblem = JobLog['problems'][number];

interface ProblemGroup {
  readonly code: string;
  readonly problems: readonly FileProblem[];
}

/** Groups problems of single files by their kind, the most frequent first. */
export function groupProblems(problems: readonly FileProblem[]): readonly ProblemGroup[] {
  const groups = Map.groupBy(problems, ({ code }) => code);
  return [...groups]
    .map(([code, ofCode]) => ({ code, problems: ofCode }))
    .toSorted((a, b) => b.problems.length - a.problems.length || a.code.localeCompare(b.code));
}
