/** The configuration file, the log, diagnostics to send, and other things that are seldom needed. */
import type { JSX } from 'preact';
import { holdfast } from '../../agent/program.ts';
import type { About } from '../../../api/schemas/page/settings.ts';
import { addressOf, ask } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { type Asked, useAsked } from '../../agent/use-asked.ts';
import { Actions } from '../../components/button.tsx';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own, Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { AgentLogCard } from './agent-log.tsx';
import { WebdavCard } from './webdav-card.tsx';

export function AdvancedSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  const { advanced } = t;
  const about = useAsked((signal) => ask<About>('GET', '/about', { signal }), []);
  useEvents(({ kind }) => {
    if (kind === 'config') about.again();
  });
  return (
    <>
      <PageHead title={t.settings.pages.advanced} />
      <Problem error={about.problem} />
      {about.data === undefined && about.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {about.data === undefined ? null : <ConfigurationCard about={about.data} />}
      <Card title={advanced.diagnostics}>
        <p>{advanced.diagnosticsWhat}</p>
        <Actions>
          <a class="button" href={addressOf('/diagnostics')} download>
            {advanced.diagnosticsDo}
          </a>
        </Actions>
        <p class="quiet small-text">{advanced.doctor}</p>
        <pre>{holdfast`doctor`}</pre>
      </Card>
      <AgentLogCard />
      <WebdavCard />
      <AboutCard about={about} />
      <Command
        lines={[
          holdfast`config path`,
          holdfast`config validate`,
          holdfast`logs --lines 200`,
          holdfast`doctor`,
          holdfast`webdav on`,
          holdfast`webdav off`,
        ]}
      />
    </>
  );
}

function ConfigurationCard({ about }: { readonly about: About }): JSX.Element {
  const { advanced } = t;
  const { config_file: file, config_error: error } = about;
  return (
    <Card title={advanced.config}>
      <p>
        <Path>{file}</Path>{' '}
        <Tag look={error === null ? 'good' : 'bad'}>
          {error === null ? advanced.configFine : advanced.configBroken}
        </Tag>
      </p>
      {error === null ? null : (
        <Notice look="bad">
          <div>
            <p>{advanced.configBrokenWhat}</p>
            <p>
              {error.line === null ? null : (
                <strong>{advanced.configAt(String(error.line), String(error.column ?? 1))} </strong>
              )}
              <Own>{error.message}</Own>
            </p>
          </div>
        </Notice>
      )}
      <p>{advanced.configWhat}</p>
    </Card>
  );
}

function AboutCard({ about }: { readonly about: Asked<About> }): JSX.Element {
  const { advanced } = t;
  const { data } = about;
  return (
    <Card title={advanced.about}>
      {data === undefined ? null : (
        <Facts
          rows={[
            [advanced.version, <Own key="version">{data.version}</Own>],
            [advanced.runtime, <Own key="node">{`Node.js ${data.node}`}</Own>],
            [advanced.platform, <Own key="platform">{data.platform}</Own>],
            [advanced.state, <Path key="state">{data.state_directory}</Path>],
            [
              advanced.addresses,
              data.addresses.map((address) => (
                <div key={address}>
                  <Own>{address}</Own>
                </div>
              )),
            ],
          ]}
        />
      )}
      <h3>{advanced.updates}</h3>
      <p>{data === undefined ? null : updatesText(data)}</p>
      <p>{advanced.updatesHow}</p>
    </Card>
  );
}

/** What is known of other versions: the one that is installed, and the newest one if the settings name an address. */
function updatesText({ version, installed_version: installed, newest_version: newest }: About): string {
  const { advanced, app } = t;
  if (installed !== version) return app.otherVersion(version, installed);
  if (newest === null) return advanced.updatesWhat;
  if (newest.version === null) return advanced.newestUnknown(newest.trouble ?? '');
  return newest.version === version ? advanced.isNewest : advanced.newest(newest.version);
}
