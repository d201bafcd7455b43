/** Shows how backups are encrypted, what opens them, and whether that is stored safely. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DestinationItem, Destinations } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { holdfast, shellWord } from '../../agent/program.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Select, TextField } from '../../components/field.tsx';
import { Own } from '../../components/own-text.tsx';
import { Place, useShownName } from '../../parts/place.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts, Table } from '../../components/table.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { RecoveryKitCard } from './recovery-kit.tsx';

interface SettingsReply {
  readonly revision: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

export function EncryptionSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  const { encryption } = t;
  const places = useAsked((signal) => ask<Destinations>('GET', '/destinations', { signal }), []);
  const settings = useAsked((signal) => ask<SettingsReply>('GET', '/settings', { signal }), []);
  const items = places.data?.items;
  const values = settings.data?.settings;
  return (
    <>
      <PageHead title={t.settings.pages.encryption} />
      <RecoveryKitCard />
      <Problem error={places.problem ?? settings.problem} />
      {items === undefined || values === undefined ? null : (
        <Card title={encryption.keys}>
          <p>{encryption.keysWhat}</p>
          <Table
            label={encryption.keys}
            columns={[{ title: encryption.destination }, { title: encryption.openedBy }]}
          >
            {items.map((item) => {
              const { words, place } = openedBy(item, values);
              return (
                <tr key={item.name}>
                  <td>
                    <Place name={item.name} />
                  </td>
                  <td class="name">
                    {words}
                    {place === undefined ? null : (
                      <small>
                        <Own>{place}</Own>
                      </small>
                    )}
                  </td>
                </tr>
              );
            })}
          </Table>
        </Card>
      )}
      {items === undefined || items.length === 0 ? null : (
        <PassphraseCheckCard destinations={items.map(({ name }) => name)} />
      )}
      <Card title={encryption.how}>
        <Facts
          rows={[
            [encryption.sealed, encryption.sealedWhat],
            [encryption.seen, encryption.seenWhat],
            [encryption.cipher, encryption.cipherWhat],
            [encryption.changed, encryption.changedWhat],
            ...(values === undefined
              ? []
              : [
                  [
                    encryption.required,
                    values['requireEncryption'] === true ? encryption.requiredYes : encryption.requiredNo,
                  ] as const,
                ]),
          ]}
        />
      </Card>
      <Command title={encryption.commands} lines={commandsOf(items ?? [])} />
    </>
  );
}

function commandsOf(items: Destinations['items']): readonly string[] {
  const other = items.find((item) => !item.is_embedded);
  return [
    holdfast`keys list`,
    holdfast`keys add --recovery-code`,
    holdfast`keys drill`,
    `${holdfast`keys rotate`} && ${holdfast`keys rekey`}`,
    ...(other === undefined ? [] : [holdfast`keys passwd -r ${shellWord(other.name)}`]),
    holdfast`config set requireEncryption true`,
  ];
}

export interface Opener {
  readonly words: string;
  /** The file, variable, command, …: where the secret is, not the secret itself. */
  readonly place?: string;
}

/** What opens the repository of a destination, according to the settings. */
export function openedBy({ name, is_embedded: isEmbedded }: DestinationItem, settings: unknown): Opener {
  if (isEmbedded) return { words: t.encryption.byMachineKey };
  const passphrase = field(field(field(settings, 'destinations'), name), 'passphrase');
  for (const kind of ['file', 'env', 'command', 'credential'] as const) {
    const place = field(passphrase, kind);
    if (typeof place === 'string') return { words: t.encryption.by[kind], place };
  }
  return { words: t.encryption.byKit };
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

export interface PassphraseCheckFacts {
  readonly destinations: readonly string[];
}

/** Tests whether a passphrase or recovery code opens a destination, without storing it. */
function PassphraseCheckCard({ destinations }: PassphraseCheckFacts): JSX.Element {
  const shownName = useShownName();
  const [chosen, setChosen] = useState(destinations[0] ?? '');
  const [secret, setSecret] = useState('');
  const [answer, setAnswer] = useState<
    { readonly destination: string; readonly opens: boolean } | undefined
  >();
  const [isMissing, setMissing] = useState(false);
  const check = useAction(async () => {
    setAnswer(undefined);
    setMissing(secret === '');
    if (secret === '') return;
    const body = { destination: chosen, secret };
    const { opens } = await ask<{ readonly opens: boolean }>('POST', '/passphrase-check', { body });
    setAnswer({ destination: chosen, opens });
    if (opens) setSecret('');
  });
  return (
    <Card title={t.encryption.check}>
      <p>{t.encryption.checkWhat}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void check.run();
        }}
      >
        <Select
          name="passphrase-destination"
          label={t.encryption.destination}
          value={chosen}
          choices={destinations.map((name) => ({ value: name, label: shownName(name) }))}
          onValue={setChosen}
        />
        <TextField
          name="passphrase-secret"
          type="password"
          label={t.encryption.secret}
          value={secret}
          maxLength={1_024}
          problem={isMissing ? t.encryption.secretMissing : undefined}
          onValue={setSecret}
        />
        <Button disabled={check.isBusy}>{check.isBusy ? t.encryption.checking : t.encryption.checkDo}</Button>
      </form>
      <div class="answer">
        {answer === undefined ? null : (
          <Notice look={answer.opens ? 'good' : 'bad'} urgent>
            <p>
              {answer.opens ? t.encryption.opens : t.encryption.opensNot} <Place name={answer.destination} />
            </p>
          </Notice>
        )}
      </div>
      <Problem error={check.problem} />
    </Card>
  );
}
