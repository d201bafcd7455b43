/** The further access settings of a destination, by its kind, that few users need. */
import type { JSX } from 'preact';
import { t } from '../../language/language.ts';
import { type DestinationKind, kindOf } from '../../parts/destination-draft.ts';
import { ChoiceSetting, FlagSetting, NumberSetting, SecretSetting, TextSetting } from './setting-fields.tsx';
import { setCommand } from './settings-commands.ts';
import { valueAt } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import { nameOf, valueInWords } from './setting-words.tsx';
import type { DestinationValues } from './settings-values.ts';

/** `command`: the setting decides what is run, so it can be changed only on the machine. */
type FieldKind = 'text' | 'number' | 'flag' | 'secret' | 'command' | readonly string[];

/** Fields that the usual form does not have. */
const FIELDS: Readonly<Record<DestinationKind, Readonly<Record<string, FieldKind>>>> = {
  directory: {},
  s3: {
    sessionToken: 'secret',
    profile: 'text',
    storageClass: 'text',
    serverSideEncryption: ['none', 'AES256', 'aws:kms'],
    kmsKeyId: 'text',
    objectLockMode: ['governance', 'compliance'],
    objectLockDays: 'number',
  },
  sftp: { keyPassphrase: 'secret', hostKeyFile: 'text', appendOnly: 'flag', connections: 'number' },
  webdav: { token: 'secret', caFile: 'text' },
  azblob: { sasToken: 'secret' },
  gs: { storageClass: 'text' },
  rclone: { program: 'command', configFile: 'command', configPassword: 'secret' },
};

export function DestinationAccess({
  name,
  setting,
}: {
  readonly name: string;
  readonly setting: DestinationValues;
}): JSX.Element | null {
  const kind = kindOf(setting.url);
  const fields = kind === undefined ? [] : Object.entries(FIELDS[kind]);
  if (kind === undefined || fields.length === 0) return null;
  return (
    <details class="more">
      <summary>{t.destinations.more}</summary>
      <div class="field-grid">
        {fields.map(([field, type]) => (
          <AccessField key={field} path={['destinations', name, 'access', kind, field]} type={type} />
        ))}
      </div>
    </details>
  );
}

function AccessField({
  path,
  type,
}: {
  readonly path: readonly string[];
  readonly type: FieldKind;
}): JSX.Element {
  if (typeof type !== 'string') {
    return (
      <ChoiceSetting
        path={path}
        choices={type.map((value) => ({ value, label: t.settings.values[value] ?? value }))}
      />
    );
  }
  switch (type) {
    case 'number':
      return <NumberSetting path={path} emptyIsNull />;
    case 'flag':
      return <FlagSetting path={path} />;
    case 'secret':
      return <SecretSetting path={path} />;
    case 'command':
      return <CommandSetting path={path} />;
    case 'text':
      return <TextSetting path={path} emptyIsNull />;
  }
}

function CommandSetting({ path }: { readonly path: readonly string[] }): JSX.Element {
  const value = valueAt(useDraft().draft, path);
  return (
    <div class="field">
      <p class="field-title">{nameOf(path)}</p>
      <p>{valueInWords(path, value)}</p>
      <pre>{setCommand(path, value ?? null)}</pre>
      <p class="hint">{t.destinations.commandHint}</p>
    </div>
  );
}
