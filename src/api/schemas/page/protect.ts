/** Schemas of the routes with which the page chooses sources and destinations, and stores their secrets. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, PathInput, Time } from '../values.ts';

/**
 * `GET /directories?path=`: the directories in a directory, to choose from; without a path, those in the user's home
 * directory.
 */
export const DirectoryQuery = Type.Object(
  { path: Type.Optional(PathInput) },
  { additionalProperties: false },
);
export const Directories = Type.Object({
  path: Type.String(),
  /** Null for the root. */
  parent: Nullable(Type.String()),
  home: Type.String(),
  /**
   * Sorted by name; at most 2,000. Includes directories that cannot be read. Links are left out, and so are names that
   * are not UTF-8, since no setting can contain them.
   */
  items: Type.Array(
    Type.Object({
      name: Type.String(),
      path: Type.String(),
      readable: Type.Boolean(),
      hidden: Type.Boolean(),
    }),
  ),
  is_cut: Type.Boolean(),
});
export type Directories = Static<typeof Directories>;

/** `GET /suggestions`: the existing directories that most people protect, and disks to store them on. */
export const Suggestions = Type.Object({
  home: Type.String(),
  /** `kind`: `home`, `documents`, `pictures`, `desktop`, `music`, `videos`, `etc`, … */
  sources: Type.Array(Type.Object({ path: Type.String(), kind: Type.String() })),
  /** Mounted disks other than the system disk, with their free space. */
  disks: Type.Array(
    Type.Object({ path: Type.String(), free_bytes: Nullable(Count), total_bytes: Nullable(Count) }),
  ),
});
export type Suggestions = Static<typeof Suggestions>;

const Exclude = Type.Object(
  {
    patterns: Type.Optional(Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 1000 })),
    ignoreFiles: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 50 })),
    caches: Type.Optional(Type.Boolean()),
    ifPresent: Type.Optional(Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 50 })),
    largerThan: Type.Optional(Nullable(Type.Union([Type.String({ maxLength: 32 }), Count]))),
    oneFileSystem: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** `POST /estimate`: the size of a source, and what its rules exclude. Missing fields of `exclude` have their defaults. */
export const EstimateRequest = Type.Object(
  {
    path: PathInput,
    exclude: Type.Optional(Exclude),
    /** Seconds after which the request is answered with what has been counted so far. */
    within: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
  },
  { additionalProperties: false },
);
export const Estimate = Type.Object({
  path: Type.String(),
  files: Count,
  directories: Count,
  bytes: Count,
  /** False when counting stopped early: the figures are minimums. */
  complete: Type.Boolean(),
  unreadable: Count,
  /** Excluded files are counted in the remaining time: there are at least this many. */
  excluded_files: Count,
  /**
   * The largest excluded items first; at most 200. `reason` says which kind of rule excluded the item. `rule` is the
   * pattern, or the name of a file such as `CACHEDIR.TAG` or `.nobackup`.
   */
  excluded: Type.Array(
    Type.Object({
      path: Type.String(),
      reason: Type.Enum([
        'pattern',
        'ignore_file',
        'cache',
        'if_present',
        'larger_than',
        'other_file_system',
        'never',
      ]),
      rule: Nullable(Type.String()),
    }),
  ),
  /** The directories directly below the source with the most bytes; at most 20. */
  largest: Type.Array(Type.Object({ path: Type.String(), bytes: Count, files: Count })),
});
export type Estimate = Static<typeof Estimate>;

/** `GET /destinations`. */
export const Destinations = Type.Object({
  items: Type.Array(
    Type.Object({
      name: Type.String(),
      url: Type.String(),
      is_default: Type.Boolean(),
      is_embedded: Type.Boolean(),
      /** Null when access has not been tried yet. */
      reachable: Nullable(Type.Boolean()),
      unreachable_reason: Nullable(Type.Enum(['not_mounted', 'not_there', 'no_answer'])),
      untested: Type.Boolean(),
      used_bytes: Nullable(Count),
      free_bytes: Nullable(Count),
      repository_id: Nullable(Type.String()),
      last_check: Nullable(
        Type.Object({ status: Type.String(), result: Nullable(Type.String()), finished_at: Time }),
      ),
    }),
  ),
});
export type Destinations = Static<typeof Destinations>;
export type DestinationItem = Destinations['items'][number];

/**
 * `POST /destinations/test`: tests a configured destination by its name, or one that is not saved yet, given as the
 * object of the settings; with both, a configured destination as it would be after the change. Secrets follow the same
 * rules as when saving (`secret-guard.ts`): 403 for one that would be sent elsewhere.
 */
export const DestinationTestRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    destination: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    ),
    /**
     * Paths to be backed up there in addition to the existing sources. The test reports whether they are on the same
     * disk.
     */
    files: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), { maxItems: 100 })),
  },
  { additionalProperties: false },
);
export const DestinationTest = Type.Object({
  usable: Type.Boolean(),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      status: Type.Enum(['ok', 'warning', 'error']),
      message: Type.String(),
      hint: Type.String(),
    }),
  ),
  /** Bytes per second, from storing and reading a few MiB; null when not measured. */
  write_speed: Nullable(Count),
  read_speed: Nullable(Count),
  /** Seconds by which the clock of the destination differs; null when the destination does not reveal its time. */
  clock_skew_seconds: Nullable(Type.Number()),
});
export type DestinationTest = Static<typeof DestinationTest>;

/**
 * `POST /secrets`: stores a typed secret in a file of its own in the state directory (mode 0600), and returns the
 * reference for the settings. The page may use the reference once, anywhere in the settings; afterwards it must stay
 * there. A stored secret cannot be read, nor sent elsewhere.
 */
export const SecretRequest = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 65_536 }) },
  { additionalProperties: false },
);
export const SecretReference = Type.Object({ file: Type.String() });

/**
 * `GET /recovery-kit`. `GET /recovery-kit/text` downloads it. `POST /recovery-kit/confirm` states that it is stored
 * elsewhere, and removes it from this machine.
 */
export const RecoveryKit = Type.Object({
  state: Type.Enum(['unsaved', 'saved', 'none']),
  made_at: MaybeTime,
  saved_at: MaybeTime,
});
export type RecoveryKit = Static<typeof RecoveryKit>;

/**
 * `POST /passphrase-check`: whether a passphrase or recovery code opens a destination. Limited to 10 wrong ones per
 * minute.
 */
export const PassphraseCheckRequest = Type.Object(
  {
    destination: Type.String({ minLength: 1, maxLength: 4096 }),
    secret: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  { additionalProperties: false },
);
export const PassphraseCheck = Type.Object({ opens: Type.Boolean() });
