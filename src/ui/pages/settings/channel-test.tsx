/** Sends a test by a channel of notices, and says what became of it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { About, Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { isSame } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import type { NoticeChannel } from './settings-values.ts';

interface Outcome {
  readonly sent: boolean;
  readonly problem: string | null;
}

/** Tests a channel. Only saved settings can be tested, as the agent sends with the settings in effect. */
export function ChannelTest({ channel }: { readonly channel: NoticeChannel }): JSX.Element {
  const { draft, saved, changes, problems, save } = useDraft();
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const isChanged =
    !isSame(draft.notices[channel], saved.notices[channel]) ||
    changes.some(({ path }) => path[0] === 'notices' && path[1] === channel);
  const test = useAction(async () => {
    setOutcome(undefined);
    if (isChanged && !(await save())) return;
    setOutcome(await ask<Outcome>('POST', '/notices/test', { body: { channel } }));
  });
  return (
    <>
      <Actions>
        <Button
          type="button"
          disabled={test.isBusy || (isChanged && problems.length > 0)}
          onClick={() => void test.run()}
        >
          {test.isBusy
            ? t.notifications.testing
            : isChanged
              ? t.notifications.saveAndTest
              : t.notifications.test}
          <About>{t.notifications.channels[channel].title}</About>
        </Button>
      </Actions>
      {isChanged ? <p class="quiet small-text">{t.notifications.savedOnly}</p> : null}
      <Problem error={test.problem} />
      {outcome === undefined ? null : (
        <div class="outcome">
          <Notice look={outcome.sent ? 'good' : 'bad'} urgent={!outcome.sent}>
            <p>
              {outcome.sent ? t.notifications.sent : t.notifications.notSent}{' '}
              {outcome.problem === null ? null : <Own>{outcome.problem}</Own>}
            </p>
          </Notice>
        </div>
      )}
    </>
  );
}
