/** Turns the folder of snapshots for file managers on and off. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebdavSecret, WebdavState } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { shellWord } from '../../agent/program.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/command.tsx';
import { Secret } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';

export function WebdavCard(): JSX.Element {
  const { webdav } = t.advanced;
  const asked = useAsked((signal) => ask<WebdavState>('GET', '/webdav', { signal }), []);
  /** Kept only here, so it is gone when the page is left. */
  const [given, setGiven] = useState<WebdavSecret | undefined>(undefined);
  const turnOn = useAction(async () => {
    setGiven(await ask<WebdavSecret>('POST', '/webdav'));
    asked.again();
  });
  const turnOff = useAction(async () => {
    await ask('DELETE', '/webdav');
    setGiven(undefined);
    asked.again();
  });
  const state = asked.data;
  return (
    <Card title={webdav.title}>
      <p>{webdav.what}</p>
      <Problem error={asked.problem ?? turnOn.problem ?? turnOff.problem} />
      {state === undefined ? null : (
        <>
          <p role="status">
            <Tag look={state.enabled ? 'good' : 'plain'}>{state.enabled ? webdav.on : webdav.off}</Tag>{' '}
            {state.created_at === null ? null : webdav.since(formatTime(state.created_at))}
          </p>
          {given === undefined ? null : <GivenAddress given={given} base={state.address} />}
          <Actions>
            {state.enabled ? (
              <>
                <AskFirst label={webdav.renew} question={webdav.renewQuestion}>
                  <Button type="button" disabled={turnOn.isBusy} onClick={() => void turnOn.run()}>
                    {webdav.renewDo}
                  </Button>
                </AskFirst>
                <Button
                  type="button"
                  look="danger"
                  disabled={turnOff.isBusy}
                  onClick={() => void turnOff.run()}
                >
                  {webdav.turnOff}
                </Button>
              </>
            ) : (
              <Button type="button" disabled={turnOn.isBusy} onClick={() => void turnOn.run()}>
                {webdav.turnOn}
              </Button>
            )}
          </Actions>
        </>
      )}
    </Card>
  );
}

/** The address and password, which are shown only once. */
function GivenAddress({ given, base }: { readonly given: WebdavSecret; readonly base: string }): JSX.Element {
  const { webdav } = t.advanced;
  const { address, user, password } = given;
  return (
    <div class="given">
      <p>
        <strong>{webdav.once}</strong> {webdav.onceWhy}
      </p>
      <h3>{webdav.address}</h3>
      <Secret label={webdav.address}>{address}</Secret>
      <CopyButton text={address} label={webdav.address} />
      <h3>{webdav.how}</h3>
      <Facts
        rows={[
          ['macOS', webdav.finder],
          ['Windows', webdav.explorer],
          ['GNOME', <Steps key="gnome" text={webdav.dav} code={desktopAddress(address, 'dav')} />],
          ['KDE', <Steps key="kde" text={webdav.dav} code={desktopAddress(address, 'webdav')} />],
        ]}
      />
      <h3>{webdav.signIn}</h3>
      <p>{webdav.signInWhat}</p>
      <Facts
        rows={[
          [webdav.address, <code key="base">{base}</code>],
          [webdav.user, <code key="user">{user}</code>],
          [webdav.password, <code key="password">{password}</code>],
          ['rclone', <Steps key="rclone" text={webdav.rclone} code={rcloneLine({ base, user })} />],
        ]}
      />
    </div>
  );
}

function Steps({ text, code }: { readonly text: string; readonly code: string }): JSX.Element {
  return (
    <>
      {text}
      <pre>{code}</pre>
    </>
  );
}

/** GNOME uses the scheme `dav:` for WebDAV over HTTP, KDE `webdav:`. */
export function desktopAddress(address: string, scheme: 'dav' | 'webdav'): string {
  return address.replace(/^http/, scheme);
}

/** Lists the folder. rclone asks for the password, so that it does not appear in a list of processes. */
export function rcloneLine({ base, user }: { readonly base: string; readonly user: string }): string {
  return `RCLONE_WEBDAV_PASS=$(rclone obscure -) rclone lsd :webdav: --webdav-url ${shellWord(base)} --webdav-user ${shellWord(user)}`;
}
