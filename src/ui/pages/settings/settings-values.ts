/** The settings as `GET /settings` gives them: those of docs/configuration.md, with every default filled in. */

/** Where a secret is: it has exactly one of these. */
export interface SecretReference {
  readonly file?: string;
  readonly env?: string;
  readonly command?: string;
  readonly credential?: string;
}

export interface ExcludeValues {
  readonly patterns: readonly string[];
  readonly ignoreFiles: readonly string[];
  readonly caches: boolean;
  readonly ifPresent: readonly string[];
  readonly largerThan: string | null;
  readonly oneFileSystem: boolean;
}

export interface SourceValues {
  readonly path: string;
  readonly destination: string | null;
  readonly destinations: readonly string[] | null;
  readonly schedule: string;
  readonly watch: boolean;
  readonly poll: boolean;
  readonly exclude: ExcludeValues;
  readonly acceptUnreadable: readonly string[];
  readonly compression: string;
  readonly encryption: boolean;
  readonly deduplication: boolean;
  readonly tags: readonly string[];
  readonly hooks: {
    readonly before: string | null;
    readonly after: string | null;
    readonly timeout: string;
    readonly onFailure: 'fail' | 'warn';
  };
}

export interface DestinationValues {
  readonly url: string;
  readonly passphrase: SecretReference | null;
  /** Access by kind of place; each kind has the fields of its form. */
  readonly access: Readonly<Partial<Record<string, unknown>>> | null;
  /** Whether it was added without a test. */
  readonly untested: boolean;
}

export interface BandwidthValues {
  readonly from: string;
  readonly uploadLimit: string | null;
}

export interface RetentionValues {
  readonly keepLast: number | null;
  readonly keepHourly: number | null;
  readonly keepDaily: number | null;
  readonly keepWeekly: number | null;
  readonly keepMonthly: number | null;
  readonly keepYearly: number | null;
  readonly keepWithin: string | null;
}

export interface NoticeValues {
  readonly healthchecks: { readonly url: string } | null;
  readonly ntfy: { readonly url: string; readonly token: SecretReference | null } | null;
  readonly webhook: { readonly url: string; readonly secret: SecretReference | null } | null;
  readonly email: {
    readonly host: string;
    readonly port: number;
    readonly user: string | null;
    readonly password: SecretReference | null;
    readonly from: string;
    readonly to: readonly string[];
  } | null;
  readonly desktop: boolean;
  readonly absenceDays: number;
  readonly quietHours: string | null;
}

/** A way in which notices are sent. */
export type NoticeChannel = Exclude<keyof NoticeValues, 'absenceDays' | 'quietHours'>;

/** While the user types, a value may have an invalid type for a moment, which the agent reports. */
export interface Settings {
  readonly version: number;
  readonly listen: { readonly port: number };
  readonly plan: 'free_trial' | 'pro' | 'business';
  readonly timeZone: string | null;
  readonly requireEncryption: boolean;
  readonly defaultDestination: string | null;
  readonly sources: readonly SourceValues[];
  readonly destinations: Readonly<Record<string, DestinationValues>>;
  readonly retention: RetentionValues;
  readonly maintenance: {
    readonly prune: string;
    readonly check: string;
    readonly drill: string;
    readonly drillFiles: number;
    readonly checkReadData: string;
    readonly jitter: string;
  };
  readonly conditions: {
    readonly onBattery: 'run' | 'wait';
    readonly onMetered: 'run' | 'wait';
    readonly quietHours: string | null;
  };
  readonly bandwidth: readonly BandwidthValues[];
  readonly restore: { readonly allowedRoots: readonly string[] };
  readonly notices: NoticeValues;
  readonly partner: { readonly whileSuspended: 'run' | 'wait'; readonly afterTrial: 'run' | 'wait' };
  readonly updates: { readonly url: string | null };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}

/** The defaults of a source for which only the path is written. */
export const SOURCE_DEFAULTS: Omit<SourceValues, 'path'> = {
  destination: null,
  destinations: null,
  schedule: 'every 4h',
  watch: true,
  poll: false,
  exclude: {
    patterns: [
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
    ignoreFiles: ['.holdfastignore'],
    caches: true,
    ifPresent: ['.nobackup'],
    largerThan: null,
    oneFileSystem: false,
  },
  acceptUnreadable: [],
  compression: 'zstd',
  encryption: true,
  deduplication: true,
  tags: [],
  hooks: { before: null, after: null, timeout: '10m', onFailure: 'fail' },
};

/** The values that apply where nothing is written. */
export const DEFAULTS: Settings = {
  version: 1,
  listen: { port: 7390 },
  plan: 'free_trial',
  timeZone: null,
  requireEncryption: false,
  defaultDestination: null,
  sources: [],
  destinations: {},
  retention: {
    keepLast: null,
    keepHourly: null,
    keepDaily: 7,
    keepWeekly: 4,
    keepMonthly: 12,
    keepYearly: null,
    keepWithin: '2d',
  },
  maintenance: {
    prune: 'weekly',
    check: 'weekly',
    drill: 'weekly',
    drillFiles: 20,
    checkReadData: '5%',
    jitter: '5m',
  },
  conditions: { onBattery: 'wait', onMetered: 'wait', quietHours: null },
  bandwidth: [],
  restore: { allowedRoots: [] },
  notices: {
    healthchecks: null,
    ntfy: null,
    webhook: null,
    email: null,
    desktop: false,
    absenceDays: 3,
    quietHours: null,
  },
  partner: { whileSuspended: 'run', afterTrial: 'wait' },
  updates: { url: null },
  log: { level: 'info' },
};

/** The name of the embedded repository while it is the default destination. */
export const EMBEDDED = 'default';

/** The destination of sources that name none. */
export function defaultDestinationOf({ defaultDestination }: Settings): string {
  return defaultDestination ?? EMBEDDED;
}

/**
 * Whether the embedded repository is in use under the name `default`: it is the default destination, and no other has
 * that name.
 */
export function hasEmbedded(settings: Settings): boolean {
  return defaultDestinationOf(settings) === EMBEDDED && !Object.hasOwn(settings.destinations, EMBEDDED);
}

/**
 * The value of `defaultDestination` that makes the embedded repository the default one: null, unless the name `default`
 * is taken.
 */
export function embeddedAsDefault({ destinations }: Settings, name: string): string | null {
  return Object.hasOwn(destinations, EMBEDDED) ? name : null;
}

/** Names of all destinations that a source may have. */
export function destinationNames(settings: Settings): readonly string[] {
  return [...(hasEmbedded(settings) ? [EMBEDDED] : []), ...Object.keys(settings.destinations)];
}

/** Names of the destinations of a source. */
export function destinationsOf(source: SourceValues, settings: Settings): readonly string[] {
  return source.destinations ?? [source.destination ?? defaultDestinationOf(settings)];
}

/** What a new destination is for: the sources of the default one as well, or instead; or whatever is chosen later. */
export type DestinationUse = 'as_well' | 'instead' | 'later';

/** The sources with a further destination, where they go to the default one alone. */
export function withAlso(settings: Settings, name: string): readonly SourceValues[] {
  const present = defaultDestinationOf(settings);
  return settings.sources.map((source) => {
    const own = destinationsOf(source, settings);
    const isDefault = own.length === 1 && own[0] === present;
    return isDefault ? { ...source, destination: null, destinations: [present, name] } : source;
  });
}
