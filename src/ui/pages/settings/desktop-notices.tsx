/** Notifications on the screen: by the agent, and by this browser. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { About as Facts } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Card } from '../../components/card.tsx';
import { Checkbox } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { isOn, permission, turnOff, turnOn } from '../../parts/browser-notices.ts';
import { ChannelTest } from './channel-test.tsx';
import { FlagSetting } from './setting-fields.tsx';
import { useDraft } from './settings-form.tsx';

/** Shown by the agent, whether a page is open or not. */
export function DesktopCard(): JSX.Element {
  const { draft } = useDraft();
  const { data } = useAsked((signal) => ask<Facts>('GET', '/about', { signal }), []);
  const { title, about, use } = t.notifications.channels.desktop;
  const state = data?.desktop ?? 'ready';
  const isUseless = state === 'service' || state === 'no_program';
  const isWanted = draft.notices.desktop;
  return (
    <Card title={title}>
      <p class="quiet">{about}</p>
      <FlagSetting path={['notices', 'desktop']} label={use} disabled={isUseless && !isWanted} />
      {state === 'ready' ? null : isWanted ? (
        <Notice look="warning">
          <p>{t.notifications.desktopStates[state]}</p>
        </Notice>
      ) : (
        <p class="quiet small-text">{t.notifications.desktopStates[state]}</p>
      )}
      {isWanted ? <ChannelTest channel="desktop" /> : null}
    </Card>
  );
}

/** Shown by this browser while it has the page open. It is no setting of the agent. */
export function BrowserCard(): JSX.Element {
  const overview = useOverview();
  const [isShowing, setShowing] = useState(isOn);
  const [answer, setAnswer] = useState(permission);
  const change = useAction(async (isWanted: boolean) => {
    if (isWanted) setAnswer(await turnOn(overview));
    else turnOff();
    setShowing(isOn());
  });
  const { title, about, use, hint, denied, unsupported } = t.notifications.browser;
  return (
    <Card title={title}>
      <p class="quiet">{about}</p>
      <Checkbox
        name="browser-notifications"
        label={use}
        hint={hint}
        checked={isShowing}
        disabled={change.isBusy || answer === 'denied' || answer === 'unsupported'}
        onChecked={(isWanted) => void change.run(isWanted)}
      />
      <Problem error={change.problem} />
      {answer === 'denied' || answer === 'unsupported' ? (
        <Notice look="warning">
          <p>{answer === 'denied' ? denied : unsupported}</p>
        </Notice>
      ) : null}
    </Card>
  );
}
