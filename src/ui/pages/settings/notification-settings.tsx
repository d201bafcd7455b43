/** Settings of who is notified when something is wrong, and how. */
import type { ComponentChildren, JSX } from 'preact';
import { useOverview } from '../../agent/overview.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Checkbox } from '../../components/field.tsx';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { ChannelTest } from './channel-test.tsx';
import { ClockRangeSetting } from './clock-range-setting.tsx';
import { BrowserCard, DesktopCard } from './desktop-notices.tsx';
import { LinesSetting, NumberSetting, SecretSetting, TextSetting } from './setting-fields.tsx';
import { type KeyPath, shownPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import type { NoticeChannel, NoticeValues } from './settings-values.ts';
import type { SettingsDraft } from './use-settings-draft.ts';

type Channel = Exclude<NoticeChannel, 'desktop'>;

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
        <QuietCard />
        <DesktopCard />
        <BrowserCard />
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
    ['notices', 'quietHours'],
    ['notices', 'desktop'],
    // The commands below the form leave out a channel that is not set up.
    ...(['ntfy', 'healthchecks', 'email', 'webhook'] as const)
      .filter((channel) => saved.notices[channel] !== null)
      .map((channel): KeyPath => ['notices', channel]),
  ];
}

function QuietCard(): JSX.Element {
  const { held_notices: held } = useOverview();
  return (
    <Card title={t.notifications.quietTitle}>
      <p class="quiet">{t.notifications.quietAbout}</p>
      <ClockRangeSetting
        path={['notices', 'quietHours']}
        hint={t.notifications.quietHint}
        initial="22:00-07:00"
      />
      {held === null ? null : (
        <p role="status">{t.notifications.held(held.count, formatCount(held.count), held.until)}</p>
      )}
    </Card>
  );
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
