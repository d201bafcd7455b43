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
import { askedOfRows, backUp } from '../../parts/back-up.ts';
import { filesBelow } from './headline.ts';
import { type Answer, settingsAnswering, type SourcesOfSettings } from './unread-answer.ts';

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
