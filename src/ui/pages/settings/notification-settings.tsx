/** Settings of who is notified when something is wrong, and how. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { About, Own } from '../../components/own-text.tsx';
import { Actions, Button } from '../../components/button.tsx';
import { Card, PageHead } from '../../components/card.tsx';
import { Checkbox } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { LinesSetting, NumberSetting, SecretSetting, TextSetting } from './setting-fields.tsx';
import { isSame, type KeyPath, shownPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import type { NoticeValues } from './settings-values.ts';
import type { SettingsDraft } from './use-settings-draft.ts';

type Channel = Exclude<keyof NoticeValues, 'absenceDays'>;

/** The initial values of a channel that is switched on. The agent reports what is missing. */
const EMPTY: { readonly [Name in Channel]: NonNullable<NoticeValues[Name]> } = {
  ntfy: { url: '', token: null },
  healthchecks: { url: '' },
  email: { host: '', port: 587, user: null, password: null, from: '', to: [] },
  webhook: { url: '', secret: null },
};

export function NotificationSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.notifications}>{t.notifications.about}</PageHead>
      <SettingsForm paths={pathsOf}>
        <Card title={t.notifications.whenTitle}>
          <p class="quiet">{t.notifications.whenAbout}</p>
          <NumberSetting path={['notices', 'absenceDays']} />
        </Card>
        <ChannelCard channel="ntfy">
          <TextSetting path={['notices', 'ntfy', 'url']} placeholder="https://ntfy.sh/topic" />
          <SecretSetting path={['notices', 'ntfy', 'token']} hint={t.notifications.tokenHint} />
        </ChannelCard>
        <ChannelCard channel="healthchecks">
          <TextSetting path={['notices', 'healthchecks', 'url']} placeholder="https://hc-ping.com/…" />
        </ChannelCard>
        <ChannelCard channel="email">
          <div class="field-grid">
            <TextSetting path={['notices', 'email', 'host']} placeholder="mail.example.org" />
            <NumberSetting path={['notices', 'email', 'port']} hint={t.notifications.portHint} />
            <TextSetting path={['notices', 'email', 'user']} hint={t.notifications.userHint} emptyIsNull />
            <SecretSetting path={['notices', 'email', 'password']} />
            <TextSetting path={['notices', 'email', 'from']} placeholder="holdfast@example.org" />
            <LinesSetting path={['notices', 'email', 'to']} hint={t.notifications.toHint} rows={2} />
          </div>
        </ChannelCard>
        <ChannelCard channel="webhook">
          <TextSetting path={['notices', 'webhook', 'url']} placeholder="https://example.org/hook" />
          <SecretSetting path={['notices', 'webhook', 'secret']} hint={t.notifications.secretHint} />
        </ChannelCard>
      </SettingsForm>
    </>
  );
}

function pathsOf({ saved }: SettingsDraft): readonly KeyPath[] {
  return [
    ['notices', 'absenceDays'],
    ['notices', 'ntfy'],
    ['notices', 'healthchecks'],
    ['notices', 'email'],
    ['notices', 'webhook'],
  ].filter(([, name]) => saved.notices[name as keyof NoticeValues] !== null);
}

/** A channel. `children` are its fields, which are shown once it is switched on. */
function ChannelCard({
  channel,
  children,
}: {
  readonly channel: Channel;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { draft, saved, set } = useDraft();
  const path = ['notices', channel];
  const isOn = draft.notices[channel] !== null;
  const texts = t.notifications.channels[channel];
  return (
    <Card title={texts.title}>
      <p class="quiet">{texts.about}</p>
      <Checkbox
        name={shownPath(path)}
        label={texts.use}
        checked={isOn}
        // A channel that is switched off and on again has its saved values.
        onChecked={(isWanted) => set(path, isWanted ? (saved.notices[channel] ?? EMPTY[channel]) : null)}
      />
      {isOn ? (
        <>
          {children}
          <ChannelTest channel={channel} />
        </>
      ) : null}
    </Card>
  );
}

interface Outcome {
  readonly sent: boolean;
  readonly problem: string | null;
}

/** Tests a channel. Only saved settings can be tested, as the agent sends with the settings in effect. */
function ChannelTest({ channel }: { readonly channel: Channel }): JSX.Element {
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
