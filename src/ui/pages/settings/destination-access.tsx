/** What a destination can have set beside what everybody needs, by its kind. */
import type { JSX } from 'preact';
import { t } from '../../language/language.ts';
import { type DestinationKind, kindOf } from '../../parts/destination-draft.ts';
import { ChoiceSetting, FlagSetting, NumberSetting, SecretSetting, TextSetting } from './setting-fields.tsx';
import type { DestinationValues } from './settings-values.ts';

type FieldKind = 'text' | 'number' | 'flag' | 'secret' | readonly string[];

/** Those that the form for everybody does not have. */
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
  rclone: { program: 'text', configFile: 'text', configPassword: 'secret' },
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
    case 'text':
      return <TextSetting path={path} emptyIsNull />;
  }
}
