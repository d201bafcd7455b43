/** The settings as the rest of the agent reads them, with all defaults filled in. */

/** Where to find a secret; the value itself is never in the configuration. */
export type SecretReference =
  | { readonly file: string }
  | { readonly env: string }
  | { readonly command: string }
  | { readonly credential: string };

/** Cron expression, interval (`every 4h`) or preset (`hourly`, `daily`, `weekly`, `daily at 02:30`, `off`). */
export type ScheduleText = string;

export interface SourceSettings {
  /** Absolute, with `~` resolved. */
  readonly path: string;
  /**
   * Names of the destinations, at least one. With several, the source is read once and the snapshot is copied to the
   * others.
   */
  readonly destinations: readonly string[];
  readonly schedule: ScheduleText;
  readonly watch: boolean;
  /** Watch by polling, for file systems without events. */
  readonly poll: boolean;
  readonly exclude: {
    readonly patterns: readonly string[];
    readonly ignoreFiles: readonly string[];
    readonly caches: boolean;
    readonly ifPresent: readonly string[];
    /** Bytes. */
    readonly largerThan: number | null;
    readonly oneFileSystem: boolean;
  };
  /**
   * Absolute paths that need not be readable, so that backups do not warn about them. They include everything below.
   */
  readonly acceptUnreadable: readonly string[];
  readonly compression: string;
  readonly encryption: boolean;
  readonly deduplication: boolean;
  readonly tags: readonly string[];
  readonly hooks: HookSettings;
}

export interface HookSettings {
  readonly before: string | null;
  readonly after: string | null;
  readonly timeoutSeconds: number;
  /** What happens when `before` fails. */
  readonly onFailure: 'fail' | 'warn';
}

export interface DestinationSettings {
  readonly name: string;
  readonly url: string;
  /**
   * Null where no setting names one: the embedded repository is opened with the machine key, any other with the
   * passphrase of the recovery kit.
   */
  readonly passphrase: SecretReference | null;
  /** Credentials and settings to reach it; absent where the environment provides them. */
  readonly access?: AccessSettings;
  /** The destination was added although it could not be tested. */
  readonly untested?: true;
}

/** Access settings by kind of destination; only the one that fits the URL is not null. Paths are absolute. */
export interface AccessSettings {
  readonly s3: {
    readonly accessKeyId: string | null;
    readonly secretAccessKey: SecretReference | null;
    readonly sessionToken: SecretReference | null;
    readonly profile: string | null;
    readonly storageClass: string | null;
    readonly serverSideEncryption: 'none' | 'AES256' | 'aws:kms';
    readonly kmsKeyId: string | null;
    readonly objectLock: { readonly mode: 'governance' | 'compliance'; readonly days: number } | null;
  } | null;
  readonly sftp: {
    readonly keyFile: string | null;
    readonly keyPassphrase: SecretReference | null;
    readonly password: SecretReference | null;
    readonly hostKeyFile: string | null;
    readonly appendOnly: boolean;
    readonly connections: number;
  } | null;
  readonly webdav: {
    readonly user: string | null;
    readonly password: SecretReference | null;
    readonly token: SecretReference | null;
    readonly caFile: string | null;
  } | null;
  readonly azblob: {
    readonly accountKey: SecretReference | null;
    readonly sasToken: SecretReference | null;
  } | null;
  readonly gs: {
    readonly credentials: SecretReference | null;
    readonly storageClass: string | null;
  } | null;
  readonly rclone: {
    readonly program: string | null;
    readonly configFile: string | null;
    readonly configPassword: SecretReference | null;
  } | null;
}

export interface BandwidthRule {
  /** `HH:MM` local time; the rule holds until the next one. */
  readonly from: string;
  /** Bytes per second; null for no limit. */
  readonly uploadLimit: number | null;
}

export interface RetentionSettings {
  readonly keepLast: number | null;
  readonly keepHourly: number | null;
  readonly keepDaily: number | null;
  readonly keepWeekly: number | null;
  readonly keepMonthly: number | null;
  readonly keepYearly: number | null;
  readonly keepWithin: string | null;
}

export interface NoticeSettings {
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
  /** Whether notices are shown on the desktop of the agent's user. */
  readonly desktop: boolean;
  /** Days without a good backup of a source before a notice is sent. */
  readonly absenceDays: number;
  /** `22:00-07:00`: notices for people that are not bad are held during these hours. */
  readonly quietHours: string | null;
}

export interface Settings {
  readonly listen: { readonly port: number };
  readonly plan: 'free_trial' | 'pro' | 'business';
  readonly timeZone: string | null;
  readonly requireEncryption: boolean;
  readonly defaultDestination: string;
  readonly sources: readonly SourceSettings[];
  readonly destinations: readonly DestinationSettings[];
  /**
   * The repository in the state directory, under its current name. It is one of `destinations` while it is used or
   * contains backups.
   */
  readonly embedded: DestinationSettings;
  readonly retention: RetentionSettings;
  readonly maintenance: {
    readonly prune: ScheduleText;
    readonly check: ScheduleText;
    readonly drill: ScheduleText;
    readonly drillFiles: number;
    /** Share of packs that one check reads, from 0 to 1. */
    readonly checkReadData: number;
    /** Seconds of random delay before a scheduled run. */
    readonly jitterSeconds: number;
  };
  readonly conditions: {
    readonly onBattery: 'run' | 'wait';
    readonly onMetered: 'run' | 'wait';
    /** `22:00-06:00`: scheduled and watched jobs wait during these hours; jobs that a user requests run. */
    readonly quietHours: string | null;
  };
  readonly bandwidth: readonly BandwidthRule[];
  readonly restore: { readonly allowedRoots: readonly string[] };
  readonly notices: NoticeSettings;
  /** Whether automatic backups run or wait when the partner's plan is suspended or its trial is over. */
  readonly partner: { readonly whileSuspended: 'run' | 'wait'; readonly afterTrial: 'run' | 'wait' };
  /** Where the newest version is asked for; null for nowhere. */
  readonly updates: { readonly url: string | null };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}
