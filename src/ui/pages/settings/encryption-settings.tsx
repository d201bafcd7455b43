/** Shows how backups are encrypted, what opens them, and whether that is stored safely. */
import type { JSX } from 'preact';
import { holdfast } from '../../agent/program.ts';
import type { Destinations } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { shellWord } from '../../components/shell-word.ts';
import { Facts, Table } from '../../components/table.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { openedBy } from './opened-by.ts';
import { PassphraseCheckCard } from './passphrase-check.tsx';
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
                    <Own>{item.name}</Own>
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
