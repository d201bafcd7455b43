/** Lists files that could not be read, each with a way to leave it out or to accept it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Statement } from '../../../api/schemas/page/overview.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview, useOverviewAgain } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { askedOfRows, backUp } from '../../parts/back-up.tsx';
import { filesBelow } from './headline.tsx';

export function UnreadFiles({ statement }: { readonly statement: Statement }): JSX.Element | null {
  const { sources } = useOverview();
  const again = useOverviewAgain();
  const [isDone, setDone] = useState(false);
  const answer = useAction(async (file: string, what: Answer) => {
    const { revision, settings } = await ask<{ revision: string; settings: SourcesOfSettings }>(
      'GET',
      '/settings',
    );
    const wanted = settingsAnswering(settings, file, what);
    await ask('PUT', '/settings', { ifMatch: revision, body: { settings: wanted } });
    setDone(true);
    // The statement reflects the last backup, so another one is started.
    await backUp(askedOfRows(sources.filter(({ path }) => file.startsWith(`${path}/`))));
    again();
  });
  if (statement.files.length === 0) return null;
  const texts = t.overview.unread;
  const names = filesBelow(statement);
  return (
    <>
      <ul class="plain-list">
        {statement.files.map((file, index) => (
          <li key={file}>
            <Path>{names[index] ?? file}</Path>{' '}
            <Button
              type="button"
              look="plain"
              disabled={answer.isBusy || isDone}
              aria-label={texts.leaveOutOf(visible(file))}
              onClick={() => void answer.run(file, 'leave out')}
            >
              {texts.leaveOut}
            </Button>{' '}
            <Button
              type="button"
              look="plain"
              disabled={answer.isBusy || isDone}
              aria-label={texts.acceptOf(visible(file))}
              onClick={() => void answer.run(file, 'accept')}
            >
              {texts.accept}
            </Button>
          </li>
        ))}
      </ul>
      <p class="quiet small-text" role="status">
        {isDone ? texts.done : texts.hint}
      </p>
      <Problem error={answer.problem} />
    </>
  );
}

type Answer = 'leave out' | 'accept';

interface SourceOfSettings {
  readonly path: string;
  readonly exclude: { readonly patterns: readonly string[]; readonly [other: string]: unknown };
  readonly acceptUnreadable: readonly string[];
  readonly [other: string]: unknown;
}

interface SourcesOfSettings {
  readonly sources: readonly SourceOfSettings[];
  readonly [other: string]: unknown;
}

/** The settings with the decision applied to every source that contains the file. */
export function settingsAnswering(
  settings: SourcesOfSettings,
  file: string,
  answer: Answer,
): SourcesOfSettings {
  return { ...settings, sources: settings.sources.map((source) => answered(source, file, answer)) };
}

function answered(source: SourceOfSettings, file: string, answer: Answer): SourceOfSettings {
  const root = source.path.endsWith('/') ? source.path : `${source.path}/`;
  if (!file.startsWith(root)) return source;
  if (answer === 'accept')
    return { ...source, acceptUnreadable: [...new Set([...source.acceptUnreadable, file])] };
  const pattern = patternOf(file.slice(root.length));
  const patterns = [...new Set([...source.exclude.patterns, pattern])];
  return { ...source, exclude: { ...source.exclude, patterns } };
}

/** The pattern, as in .gitignore: anchored at the source, with special characters escaped. */
function patternOf(below: string): string {
  return `/${below.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}
