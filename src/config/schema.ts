/**
 * Schema of the configuration file: every setting with its meaning, default and bounds. The documentation's texts come
 * from here.
 */
import { Type, type Static } from '../base/schema-type.ts';
import { Access } from './access-schema.ts';
import {
  choice,
  count,
  flag,
  group,
  list,
  object,
  orNull,
  secret,
  text,
  textOrNull,
  webUrl,
} from './schema-parts.ts';

/** The version of the file's format, both written and accepted. */
export const CONFIG_VERSION = 1;

/** Names of destinations; also the pattern of the keys of `destinations`. */
export const DESTINATION_NAME = '^[A-Za-z][A-Za-z0-9_-]{0,62}$';

/** The most destinations of one source. */
const MOST_DESTINATIONS = 16;

const Source = object(
  {
    path: Type.String({
      description: 'The directory or file to back up: an absolute path, or one that begins with ~.',
      format: 'absolute-path',
      minLength: 1,
      maxLength: 4_096,
    }),
    destination: orNull(Type.String({ minLength: 1, maxLength: 63 }), {
      description: 'The name of the destination; null for the default one.',
    }),
    destinations: orNull(
      Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
        minItems: 1,
        maxItems: MOST_DESTINATIONS,
      }),
      {
        description:
          'The names of several destinations, in place of destination: the source is read once for all of them.',
      },
    ),
    schedule: text('schedule', {
      description: 'When the source is backed up in any case, also when no change was seen.',
      default: 'every 4h',
    }),
    watch: flag('Back up changes within minutes of their happening.', true),
    poll: flag(
      'Look for changes by reading directories again and again: for network drives, which report none.',
      false,
    ),
    exclude: group('What is left out.', {
      patterns: list(
        null,
        'Patterns as in .gitignore; a later one with ! takes back in. A list of your own replaces the default one.',
        [
          '.cache/',
          'Library/Caches/',
          '.local/share/Trash/',
          '.Trash/',
          '.Trash-*/',
          '$RECYCLE.BIN/',
          'lost+found/',
          '__pycache__/',
          '.DS_Store',
          'Thumbs.db',
        ],
      ),
      ignoreFiles: list(
        'file-name',
        'Names of files in the source whose lines are such patterns for their directory, as .gitignore is for git.',
        ['.holdfastignore'],
      ),
      caches: flag('Leave out what is in directories marked by a CACHEDIR.TAG.', true),
      ifPresent: list(
        'marker-name',
        'Leave out what is in directories that hold a file of such a name; NAME:TEXT also demands what it begins with.',
        ['.nobackup'],
      ),
      largerThan: textOrNull('size', 'Leave out files over this size, such as 4 GiB.'),
      oneFileSystem: flag('Stay on the file system of the source.', false),
    }),
    acceptUnreadable: list(
      'absolute-path',
      'Files and directories that cannot be read and need not be, with what is below: no backup warns of them.',
      [],
    ),
    compression: text('compression-name', {
      description:
        'zstd, zstd:1 (fast) to zstd:19 (small), none, or auto, which stops trying where nothing shrinks.',
      default: 'zstd',
    }),
    encryption: flag('Encrypt the contents.', true),
    deduplication: flag('Share equal contents with other snapshots.', true),
    tags: list(null, 'Words that mark the snapshots of this source.', []),
    hooks: group('Commands around each backup of this source, run by the shell.', {
      before: orNull(Type.String({ minLength: 1, maxLength: 4_096 }), {
        description: 'Runs before, for example to dump a database.',
      }),
      after: orNull(Type.String({ minLength: 1, maxLength: 4_096 }), {
        description: 'Runs afterwards, whatever came of it.',
      }),
      timeout: text('patience', { description: 'How long each may take.', default: '10m' }),
      onFailure: choice(
        ['fail', 'warn'],
        'What it means when the command before fails: no backup, or a warning.',
        'fail',
      ),
    }),
  },
  { description: 'One source.' },
);

const Destination = object(
  {
    url: Type.String({
      description: 'Where it is: an absolute path, or a URL without secrets.',
      format: 'location',
      minLength: 1,
      maxLength: 4_096,
    }),
    passphrase: secret(
      'Where the passphrase of the repository is; null for the one of the recovery kit of this machine.',
    ),
    access: Access,
    untested: flag(
      'It was added without a test, as for a disk that is elsewhere today; a test that succeeds takes this out.',
      false,
    ),
  },
  { description: 'One destination.' },
);

const keep = (what: string, standard: number | null) =>
  orNull(
    Type.Integer({ minimum: 1, maximum: 100_000 }),
    { description: `How many ${what} are kept; null for none by this rule.` },
    standard,
  );

const Notices = {
  healthchecks: orNull(object({ url: webUrl('The ping URL.') }, {}), {
    description:
      'Pings a service in the manner of healthchecks.io at the start and end of each backup, and when something else fails.',
  }),
  ntfy: orNull(
    object(
      {
        url: webUrl('Server and topic, as in https://ntfy.sh/topic.'),
        token: secret('Where the access token is.'),
      },
      {},
    ),
    { description: 'Sends notices to a phone through ntfy.' },
  ),
  webhook: orNull(
    object(
      { url: webUrl('Called with POST and JSON.'), secret: secret('Where the secret that signs calls is.') },
      {},
    ),
    { description: 'Calls a URL with each notice.' },
  ),
  email: orNull(
    object(
      {
        host: Type.String({ description: 'The mail server.', minLength: 1, maxLength: 255 }),
        port: count('Its port: 465 for TLS from the beginning, else STARTTLS.', {
          default: 587,
          minimum: 1,
          maximum: 65_535,
        }),
        user: orNull(Type.String({ minLength: 1, maxLength: 320 }), {
          description: 'The name to sign in with; null to send without.',
        }),
        password: secret('Where the password is.'),
        from: Type.String({ description: 'The sender.', format: 'mail-address', maxLength: 320 }),
        to: Type.Array(Type.String({ format: 'mail-address', maxLength: 320 }), {
          description: 'Who gets the mail.',
          minItems: 1,
          maxItems: 50,
        }),
      },
      {},
    ),
    { description: 'Sends notices by mail.' },
  ),
  desktop: flag(
    "Shows notices on the desktop of the agent's user. A service of the machine has none: turn notifications on in the browser instead.",
    false,
  ),
  absenceDays: count(
    'Days without a good backup of a source after which it is overdue, and a notice is sent; of one that is backed up more seldom, a day after it was due.',
    {
      default: 3,
      minimum: 1,
      maximum: 3_650,
    },
  ),
};

export const ConfigSchema = object(
  {
    $schema: Type.Optional(
      Type.String({
        description: 'Where editors find this schema. The agent does not read it.',
        maxLength: 4_096,
      }),
    ),
    version: count('The version of this file. Only a newer Holdfast writes another.', {
      default: CONFIG_VERSION,
      minimum: CONFIG_VERSION,
      maximum: CONFIG_VERSION,
    }),
    listen: group('Where the Desktop API and the settings page are served: on this machine only.', {
      port: count('The port, from the next start of the agent on; 0 for a free one.', {
        default: 7_390,
        minimum: 0,
        maximum: 65_535,
      }),
    }),
    plan: choice(
      ['free_trial', 'pro', 'business'],
      'The plan, which sets how many API requests an hour are taken: 100, 1,000 or 10,000.',
      'free_trial',
    ),
    timeZone: textOrNull(
      'zone-name',
      'The time zone of schedules, quiet hours and retention, as in Europe/Berlin; null for that of the system.',
    ),
    requireEncryption: flag('Refuse backups without encryption.', false),
    defaultDestination: orNull(Type.String({ minLength: 1, maxLength: 63 }), {
      description:
        'The name of the destination that is used where none is named; null for "default", which is the repository in the state directory unless you define one of that name; "embedded" is that repository whatever you define.',
    }),
    sources: Type.Optional(
      Type.Array(Source, { description: 'What is backed up.', default: [], maxItems: 1_000 }),
    ),
    destinations: Type.Optional(
      Type.Unsafe<Readonly<Record<string, Static<typeof Destination>>>>({
        type: 'object',
        description:
          'Where backups go, by name. A name has letters, digits, - and _, and begins with a letter.',
        additionalProperties: false,
        patternProperties: { [DESTINATION_NAME]: Destination },
        default: {},
      }),
    ),
    retention: group(
      'Which snapshots are kept. A snapshot stays when any rule keeps it; with all null, all stay.',
      {
        keepLast: keep('of the newest snapshots', null),
        keepHourly: keep('hours with a snapshot', null),
        keepDaily: keep('days with a snapshot', 7),
        keepWeekly: keep('weeks with a snapshot', 4),
        keepMonthly: keep('months with a snapshot', 12),
        keepYearly: keep('years with a snapshot', null),
        keepWithin: textOrNull(
          'calendar-span',
          'Everything so long before the newest snapshot is kept: 2d, 1y6m (here m is months); null for none by this rule.',
          '2d',
        ),
      },
    ),
    maintenance: group('What keeps repositories in order, without being asked.', {
      prune: text('schedule', {
        description: 'When old snapshots are removed by the retention rules, and their space freed.',
        default: 'weekly',
      }),
      check: text('schedule', {
        description: 'When what is stored is verified.',
        default: 'weekly',
      }),
      drill: text('schedule', {
        description: 'When random files are restored and compared, to prove that it works.',
        default: 'weekly',
      }),
      drillFiles: count('How many files a drill restores.', { default: 20, minimum: 1, maximum: 10_000 }),
      checkReadData: text('percentage', {
        description: 'How much of the stored data one check reads in full.',
        default: '5%',
      }),
      jitter: text('span', {
        description:
          'Scheduled work begins at random up to this much later, so that machines do not start together.',
        default: '5m',
      }),
    }),
    conditions: group('When scheduled and watched jobs wait. What a person asks for runs at once.', {
      onBattery: choice(['run', 'wait'], 'What to do on battery.', 'wait'),
      onMetered: choice(['run', 'wait'], 'What to do on a metered network.', 'wait'),
      quietHours: textOrNull('clock-range', 'Hours in which nothing begins, as in 22:00-06:00.'),
    }),
    bandwidth: Type.Optional(
      Type.Array(
        object(
          {
            from: Type.String({
              description: 'Time of day from which the rule holds, until the next one: HH:MM.',
              format: 'clock-time',
            }),
            uploadLimit: textOrNull(
              'size',
              'Most that is sent in one second, to all destinations together, such as 2 MiB; null for no limit.',
            ),
          },
          { description: 'One rule.' },
        ),
        { description: 'Limits on what is sent, by time of day.', default: [], maxItems: 96 },
      ),
    ),
    restore: group('Restoring through the API.', {
      allowedRoots: list(
        'absolute-path',
        'Directories below which files may be restored; none for everywhere but the state directory and repositories.',
        [],
      ),
    }),
    notices: group('Who is told of failures, alarms and backups that did not happen.', Notices),
    partner: group(
      'What scheduled and watched backups do by the plan of a partner, when the device is enrolled with one. What a person asks for, restoring and checking always run.',
      {
        whileSuspended: choice(['run', 'wait'], 'What they do while the account is suspended.', 'run'),
        afterTrial: choice(['run', 'wait'], 'What they do from a week after the end of a trial.', 'wait'),
      },
    ),
    updates: group('Newer versions of Holdfast. None is ever installed by itself.', {
      url: orNull(webUrl(''), {
        description:
          'An address that answers with the newest version, as text or as "version" in a JSON object: asked by the doctor and when the page shows Advanced. Null: nobody is asked.',
      }),
    }),
    log: group('The log of the agent.', {
      level: choice(
        ['debug', 'info', 'warn', 'error'],
        'The least important lines that are written.',
        'info',
      ),
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Holdfast configuration',
    description: 'Settings of the Holdfast agent. Comments and trailing commas are accepted.',
  },
);

/** The content that the file may have. */
export type ConfigFile = Static<typeof ConfigSchema>;

/** A type of the file after defaults were filled in: nothing is optional any more. */
export type Filled<T> = T extends readonly (infer Item)[]
  ? readonly Filled<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]-?: Filled<Exclude<T[Key], undefined>> }
    : T;

/** The content with defaults. Secret references stay as they are: each has one of its four properties. */
export type FilledConfig = Filled<Omit<ConfigFile, '$schema'>>;

/** The parts of the schema that are read as data. */
export interface SchemaNode {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** The schema as plain data. */
export function schemaNode(): SchemaNode {
  return ConfigSchema as unknown as SchemaNode;
}

/** The schema as a JSON file for editors. */
export function jsonSchemaText(): string {
  return `${JSON.stringify(ConfigSchema, null, 2)}\n`;
}
