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
      description: 'When the source is backed up even if no change was noticed.',
      default: 'every 4h',
    }),
    watch: flag('Back up changes within minutes.', true),
    poll: flag(
      'Look for changes by reading directories regularly: for network drives, which report none.',
      false,
    ),
    exclude: group('What is left out.', {
      patterns: list(
        null,
        'Patterns as in .gitignore; a later one with ! includes files again. Your own list replaces the default one.',
        [
          '.cache/',
          '.npm/',
          '.pnpm-store/',
          '.pub-cache/',
          '**/.yarn/berry/cache/',
          '**/.local/share/pnpm/store/',
          '**/.bun/install/cache/',
          '**/.cargo/registry/',
          '**/.cargo/git/',
          '**/.gradle/caches/',
          '**/.gradle/wrapper/dists/',
          '**/.m2/repository/',
          '**/.nuget/packages/',
          '**/.conda/pkgs/',
          '**/.composer/cache/',
          'go/pkg/mod/',
          'AppData/Local/Temp/',
          'AppData/Local/npm-cache/',
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
        'Names of files in the source that contain such patterns for their directory, as .gitignore does for git.',
        ['.holdfastignore'],
      ),
      caches: flag('Leave out the contents of directories marked by a CACHEDIR.TAG.', true),
      ifPresent: list(
        'marker-name',
        'Leave out the contents of directories that have a file with one of these names; NAME:TEXT also requires that it begins with TEXT.',
        ['.nobackup'],
      ),
      largerThan: textOrNull('size', 'Leave out files over this size, such as 4 GiB.'),
      oneFileSystem: flag('Stay on the file system of the source.', false),
    }),
    acceptUnreadable: list(
      'absolute-path',
      'Files and directories, with everything below, that you accept as unreadable: no backup warns about them.',
      [],
    ),
    compression: text('compression-name', {
      description:
        'zstd, zstd:1 (fast) to zstd:19 (small), none, or auto, which stops compressing data that does not shrink.',
      default: 'zstd',
    }),
    encryption: flag('Encrypt the contents.', true),
    deduplication: flag('Share identical data with other snapshots.', true),
    tags: list(null, 'Tags for the snapshots of this source.', []),
    hooks: group('Commands that the shell runs before and after each backup of this source.', {
      before: orNull(Type.String({ minLength: 1, maxLength: 4_096 }), {
        description: 'Runs before, for example to dump a database.',
      }),
      after: orNull(Type.String({ minLength: 1, maxLength: 4_096 }), {
        description: 'Runs afterwards, even if the backup failed.',
      }),
      timeout: text('patience', { description: 'How long each can take.', default: '10m' }),
      onFailure: choice(
        ['fail', 'warn'],
        'What happens when the command before the backup fails: no backup, or a warning.',
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
      'It was added without a test, for example because the disk was not connected; a successful test removes this.',
      false,
    ),
  },
  { description: 'One destination.' },
);

const keep = (what: string, standard: number | null) =>
  orNull(
    Type.Integer({ minimum: 1, maximum: 100_000 }),
    { description: `How many ${what} are kept; null to keep none by this rule.` },
    standard,
  );

const Notices = {
  healthchecks: orNull(object({ url: webUrl('The ping URL.') }, {}), {
    description:
      'Pings a service like healthchecks.io at the start and end of each backup, and when something else fails.',
  }),
  ntfy: orNull(
    object(
      {
        url: webUrl('Server and topic, such as https://ntfy.sh/topic.'),
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
        host: Type.String({
          description: 'The mail server.',
          format: 'host-name',
          minLength: 1,
          maxLength: 255,
        }),
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
    'After how many days without a good backup a source is overdue and a notice is sent. A source with a longer schedule is overdue a day after its backup was due.',
    {
      default: 3,
      minimum: 1,
      maximum: 3_650,
    },
  ),
  quietHours: textOrNull(
    'clock-range',
    'Hours in which mail, ntfy and the desktop get only what is bad, such as 22:00-07:00. Other notices are held, and sent together when the hours end.',
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
      port: count('The port, used from the next start of the agent; 0 for any free one.', {
        default: 7_390,
        minimum: 0,
        maximum: 65_535,
      }),
    }),
    plan: choice(
      ['free_trial', 'pro', 'business'],
      'The plan, which sets how many API requests an hour are accepted: 100, 1,000 or 10,000.',
      'free_trial',
    ),
    timeZone: textOrNull(
      'zone-name',
      'The time zone of schedules, quiet hours and retention, such as Europe/Berlin; null for that of the system.',
    ),
    requireEncryption: flag('Refuse backups without encryption.', false),
    defaultDestination: orNull(Type.String({ minLength: 1, maxLength: 63 }), {
      description:
        'The destination to use where none is named; null for "default", which is the repository in the state directory unless you define a destination with that name; "embedded" always means that repository.',
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
          'All snapshots within this time before the newest one are kept: 2d, 1y6m (here m is months); null to keep none by this rule.',
          '2d',
        ),
      },
    ),
    maintenance: group('Automatic upkeep of repositories.', {
      prune: text('schedule', {
        description: 'When the retention rules remove old snapshots and free their space.',
        default: 'weekly',
      }),
      check: text('schedule', {
        description: 'When stored data is verified.',
        default: 'weekly',
      }),
      drill: text('schedule', {
        description: 'When random files are restored and compared, to prove that restoring works.',
        default: 'weekly',
      }),
      drillFiles: count('How many files a drill restores.', { default: 20, minimum: 1, maximum: 10_000 }),
      checkReadData: text('percentage', {
        description: 'How much of the stored data one check reads in full.',
        default: '5%',
      }),
      jitter: text('span', {
        description:
          'Scheduled work starts up to this much later, at random, so that computers do not all start together.',
        default: '5m',
      }),
    }),
    conditions: group('When scheduled and watched jobs wait. Jobs that you start run at once.', {
      onBattery: choice(['run', 'wait'], 'What to do on battery.', 'wait'),
      onMetered: choice(['run', 'wait'], 'What to do on a metered network.', 'wait'),
      quietHours: textOrNull('clock-range', 'Hours in which no job starts, such as 22:00-06:00.'),
    }),
    bandwidth: Type.Optional(
      Type.Array(
        object(
          {
            from: Type.String({
              description: 'Time of day when the rule begins to apply, until the next one: HH:MM.',
              format: 'clock-time',
            }),
            uploadLimit: textOrNull(
              'rate',
              'The most to send per second, to all destinations together, such as 2 MiB; null for no limit.',
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
        'Directories to which files can be restored, or to folders below them; if empty, anywhere except the state directory and repositories.',
        [],
      ),
    }),
    notices: group('Where notices of failures, alarms and missing backups are sent.', Notices),
    partner: group(
      'What happens to scheduled and watched backups if the plan of a partner ends, on a device that is enrolled with one. Backups that you start, restores and checks always run.',
      {
        whileSuspended: choice(
          ['run', 'wait'],
          'What happens to them while the account is suspended.',
          'run',
        ),
        afterTrial: choice(
          ['run', 'wait'],
          'What happens to them from a week after the end of a trial.',
          'wait',
        ),
      },
    ),
    updates: group('Newer versions of Holdfast. None is ever installed automatically.', {
      url: orNull(webUrl(''), {
        description:
          'An address that answers with the newest version, as text or as "version" in a JSON object: the doctor asks it, and the page when it shows Advanced. Null to ask nobody.',
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
