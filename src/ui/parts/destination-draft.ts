/** A destination as it is typed in, and how the settings have it: a URL without secrets, and the access. */

export const DESTINATION_KINDS = ['directory', 's3', 'sftp', 'webdav', 'azblob', 'gs', 'rclone'] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/** The fields of each kind in the order in which they are asked for. */
export const DESTINATION_FIELDS = {
  directory: ['path'],
  s3: ['bucket', 'prefix', 'endpoint', 'region', 'accessKeyId', 'secretAccessKey'],
  sftp: ['host', 'port', 'user', 'directory', 'keyFile', 'password'],
  webdav: ['address', 'user', 'password'],
  azblob: ['account', 'container', 'prefix', 'accountKey'],
  gs: ['bucket', 'prefix', 'credentials'],
  rclone: ['remote', 'path'],
} as const satisfies Readonly<Record<DestinationKind, readonly string[]>>;

export type DestinationField = (typeof DESTINATION_FIELDS)[DestinationKind][number];

export interface DestinationDraft {
  readonly kind: DestinationKind;
  /** The fields as typed; missing ones are empty. They include secrets until these are sent to the agent. */
  readonly fields: Readonly<Partial<Record<DestinationField, string>>>;
  /** Of a repository that is there already. Undefined until a trial says that it needs one. */
  readonly passphrase?: string;
}

/** The value of `destinations.NAME` in the settings. */
export interface DestinationSetting {
  readonly url: string;
  readonly access?: Readonly<Record<string, unknown>> | null;
  readonly [other: string]: unknown;
}

export type SecretField = 'secretAccessKey' | 'password' | 'accountKey' | 'credentials';
export type TypedSecret = SecretField | 'passphrase';
export type SecretReferences = Readonly<Partial<Record<TypedSecret, { readonly file: string }>>>;

const SECRET_FIELDS: ReadonlySet<string> = new Set<SecretField>([
  'secretAccessKey',
  'password',
  'accountKey',
  'credentials',
]);

export function isSecretField(name: string): name is SecretField {
  return SECRET_FIELDS.has(name);
}

const OPTIONAL: Readonly<Record<DestinationKind, ReadonlySet<string>>> = {
  directory: new Set(),
  s3: new Set(['prefix', 'endpoint', 'region', 'accessKeyId', 'secretAccessKey']),
  sftp: new Set(['port', 'user', 'keyFile', 'password']),
  webdav: new Set(['user', 'password']),
  azblob: new Set(['prefix', 'accountKey']),
  gs: new Set(['prefix', 'credentials']),
  rclone: new Set(['path']),
};

/** Whether a field may stay empty. The agent then uses what the machine has, such as ssh keys or the environment. */
export function isOptional(kind: DestinationKind, field: DestinationField): boolean {
  return OPTIONAL[kind].has(field);
}

export function emptyDraft(kind: DestinationKind): DestinationDraft {
  return { kind, fields: {} };
}

/** Another place has another passphrase, or none, so it is asked for anew. */
export function withField(
  { kind, fields }: DestinationDraft,
  field: DestinationField,
  value: string,
): DestinationDraft {
  return { kind, fields: { ...fields, [field]: value } };
}

/** A code for each field with an impossible value. The agent reports what else may be wrong. */
export type FieldProblem = 'missing' | 'not_absolute' | 'not_https' | 'not_a_port' | 'no_such_characters';
export type FieldProblems = Readonly<Partial<Record<DestinationField, FieldProblem>>>;

export function problemsOf({ kind, fields }: DestinationDraft): FieldProblems {
  const problems: Partial<Record<DestinationField, FieldProblem>> = {};
  for (const field of DESTINATION_FIELDS[kind]) {
    const value = (fields[field] ?? '').trim();
    const problem =
      value === '' ? (isOptional(kind, field) ? undefined : 'missing') : wrong(kind, field, value);
    if (problem !== undefined) problems[field] = problem;
  }
  return problems;
}

function wrong(kind: DestinationKind, field: DestinationField, value: string): FieldProblem | undefined {
  switch (field) {
    case 'path':
      return kind === 'directory' && !/^(?:\/|~\/|[A-Za-z]:[\\/])/.test(value) ? 'not_absolute' : undefined;
    case 'keyFile':
      return /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(value) ? undefined : 'not_absolute';
    case 'address':
      return readAddress(value) === undefined ? 'not_https' : undefined;
    case 'endpoint':
      return /^https?:\/\/[^/?#@\s]+(?:\/[^?#\s]*)?$/i.test(value) ? undefined : 'not_https';
    case 'port':
      return /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
        ? undefined
        : 'not_a_port';
    case 'host':
    case 'bucket':
    case 'container':
    case 'account':
      return /[\s/?#@]/.test(value) ? 'no_such_characters' : undefined;
    case 'remote':
      return /[:/\s]/.test(value) ? 'no_such_characters' : undefined;
    default:
      return undefined;
  }
}

/** The address of a WebDAV folder. It needs TLS, except on this machine itself. */
function readAddress(text: string): URL | undefined {
  const url = readUrl(text.replace(/^webdav(s?):/i, 'http$1:'));
  if (url === undefined || url.host === '' || url.search !== '' || url.hash !== '' || url.password !== '')
    return undefined;
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url : undefined;
}

function readUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** The URL for the settings. Must not be used for a draft with problems. */
export function urlOf({ kind, fields }: DestinationDraft): string {
  const text = (field: DestinationField): string => (fields[field] ?? '').trim();
  switch (kind) {
    case 'directory':
      return text('path');
    case 's3':
      return `s3://${text('bucket')}${below(text('prefix'))}${query({ endpoint: text('endpoint'), region: text('region') })}`;
    case 'sftp': {
      const port = text('port') === '' || text('port') === '22' ? '' : `:${text('port')}`;
      const host = text('host').includes(':') ? `[${text('host').replaceAll(/[[\]]/g, '')}]` : text('host');
      const directory = text('directory').replace(/^~\//, '');
      const place = text('directory').startsWith('/') ? below(directory) : `/~${below(directory)}`;
      return `sftp://${user(text('user'))}${host}${port}${place}`;
    }
    case 'webdav': {
      const url = readAddress(text('address'));
      if (url === undefined) return text('address');
      const scheme = url.protocol === 'https:' ? 'webdavs' : 'webdav';
      return `${scheme}://${user(text('user') === '' ? decodeURIComponent(url.username) : text('user'))}${url.host}${url.pathname.replace(/\/+$/, '')}`;
    }
    case 'azblob':
      return `azblob://${text('container')}${below(text('prefix'))}${query({ account: text('account') })}`;
    case 'gs':
      return `gs://${text('bucket')}${below(text('prefix'))}`;
    case 'rclone':
      return `rclone:${text('remote')}:${text('path')}`;
  }
}

function user(name: string): string {
  return name === '' ? '' : `${encodeURIComponent(name)}@`;
}

function below(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function query(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** The typed secrets, which do not belong in the settings. */
export function secretsOf({
  kind,
  fields,
  passphrase = '',
}: DestinationDraft): ReadonlyMap<TypedSecret, string> {
  const secrets = new Map<TypedSecret, string>();
  if (passphrase !== '') secrets.set('passphrase', passphrase);
  for (const field of DESTINATION_FIELDS[kind]) {
    const value = fields[field] ?? '';
    if (isSecretField(field) && value !== '') secrets.set(field, value);
  }
  return secrets;
}

/**
 * @param references where the agent stores the secrets that were typed
 * @param before the same destination as the settings have it. What the form does not ask for is kept, and so are
 * secrets that were not typed anew
 */
export function settingOf(
  draft: DestinationDraft,
  references: SecretReferences,
  before?: DestinationSetting,
): DestinationSetting {
  const { kind } = draft;
  const url = urlOf(draft);
  const isSame = before !== undefined && kindOf(before.url) === kind;
  const { access: _access, ...untyped } = before ?? { url };
  const { passphrase } = references;
  const others = passphrase === undefined ? untyped : { ...untyped, passphrase };
  if (kind === 'directory') return { ...others, url };
  const kept = isSame ? accessOf(before, kind) : {};
  const typed: Record<string, unknown> = {};
  for (const field of DESTINATION_FIELDS[kind]) {
    if (isSecretField(field)) {
      if (references[field] !== undefined) typed[field] = references[field];
    } else if (ACCESS_FIELDS.has(field)) {
      const value = (draft.fields[field] ?? '').trim();
      if (value !== '') typed[field] = value;
      else if (kept[field] !== undefined) typed[field] = null;
    }
  }
  const access = { ...kept, ...typed };
  return Object.keys(access).length === 0
    ? { ...others, url }
    : { ...others, url, access: { [kind]: access } };
}

/** Fields that are in `access` and not in the URL. */
const ACCESS_FIELDS: ReadonlySet<string> = new Set(['accessKeyId', 'keyFile']);

function accessOf({ access }: DestinationSetting, kind: DestinationKind): Readonly<Record<string, unknown>> {
  const found = access?.[kind];
  return typeof found === 'object' && found !== null ? { ...found } : {};
}

/** The kind of a URL by its beginning; undefined if it is none of these. */
export function kindOf(url: string): DestinationKind | undefined {
  if (/^(?:\/|~|file:|[A-Za-z]:[\\/])/i.test(url)) return 'directory';
  const scheme = /^([a-z0-9]+):/i.exec(url)?.[1]?.toLowerCase().replace('webdavs', 'webdav');
  return DESTINATION_KINDS.find((kind) => kind === scheme && kind !== 'directory');
}

/** The form's fields for a destination; undefined for a URL that the form cannot express. Secrets stay empty. */
export function draftOf(setting: DestinationSetting): DestinationDraft | undefined {
  const kind = kindOf(setting.url);
  const fields = kind === undefined ? undefined : fieldsOf(kind, setting.url);
  if (kind === undefined || fields === undefined) return undefined;
  const access = accessOf(setting, kind);
  const known = Object.entries(access).filter(
    ([name, value]) => ACCESS_FIELDS.has(name) && typeof value === 'string',
  );
  return { kind, fields: { ...fields, ...Object.fromEntries(known) } };
}

function fieldsOf(kind: DestinationKind, url: string): DestinationDraft['fields'] | undefined {
  if (kind === 'directory') return directoryFields(url);
  if (kind === 'rclone') {
    const [, remote, path] = /^rclone:([^:]+):(.*)$/is.exec(url) ?? [];
    return remote === undefined ? undefined : { remote, path: path ?? '' };
  }
  const found = /^[a-z0-9]+:\/\/(?:([^@/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (found === null) return undefined;
  const [, name = '', authority = '', path = '', search = ''] = found;
  const parameters = new URLSearchParams(search);
  const prefix = decodeURIComponent(path.replace(/^\//, ''));
  const given = (parameter: string): string => parameters.get(parameter) ?? '';
  switch (kind) {
    case 's3':
      // The form must not lose what a URL says beyond the form's fields.
      if (parameters.has('path_style')) return undefined;
      return { bucket: authority, prefix, endpoint: given('endpoint'), region: given('region') };
    case 'sftp': {
      const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority) ?? [];
      const directory = prefix.startsWith('~/') ? prefix.slice(2) : `/${prefix}`;
      return { host: host.replaceAll(/[[\]]/g, ''), port, user: decodeURIComponent(name), directory };
    }
    case 'webdav': {
      const scheme = /^webdavs:/i.test(url) ? 'https' : 'http';
      return { address: `${scheme}://${authority}${path}`, user: decodeURIComponent(name) };
    }
    case 'azblob':
      return parameters.has('endpoint')
        ? undefined
        : { account: given('account'), container: authority, prefix };
    case 'gs':
      return parameters.has('endpoint') ? undefined : { bucket: authority, prefix };
  }
}

function directoryFields(url: string): DestinationDraft['fields'] | undefined {
  if (!/^file:/i.test(url)) return { path: url };
  const place = readUrl(url);
  return place === undefined ? undefined : { path: decodeURIComponent(place.pathname) };
}

/** The directory above and the name in it; undefined for the root, and for paths that are not absolute. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } | undefined {
  const found = /^(.*)\/([^/]+)\/*$/.exec(path.trim());
  if (found === null || !path.startsWith('/')) return undefined;
  return { parent: found[1] === '' || found[1] === undefined ? '/' : found[1], name: found[2] ?? '' };
}

/** A separate folder for backups in a directory that may hold other things. */
export function folderIn(directory: string): string {
  const place = directory.replace(/\/+$/, '');
  return /(?:^|\/)holdfast$/i.test(place) ? place : `${place}/holdfast`;
}

/** A name for the settings that none of `taken` has. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number += 1)
    if (!taken.includes(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
