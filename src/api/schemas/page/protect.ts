/** What the page needs to choose sources and destinations, and to keep what opens them. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, PathInput, Time } from '../values.ts';

/** `GET /directories?path=`: the directories in one, for choosing; without a path, the person's home. */
export const DirectoryQuery = Type.Object(
  { path: Type.Optional(PathInput) },
  { additionalProperties: false },
);
export const Directories = Type.Object({
  path: Type.String(),
  /** Null at the top. */
  parent: Nullable(Type.String()),
  home: Type.String(),
  /** By name; at most 2,000. Those that cannot be read are named too; links are not, nor names that are not UTF-8, which no setting can hold. */
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

/** `GET /suggestions`: what most people protect, as far as it is there, and where to. */
export const Suggestions = Type.Object({
  home: Type.String(),
  /** `kind`: `home`, `documents`, `pictures`, `desktop`, `music`, `videos`, `etc`, … */
  sources: Type.Array(Type.Object({ path: Type.String(), kind: Type.String() })),
  /** Mounted disks other than that of the system, with what is free there. */
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

/** `POST /estimate`: how much a source is, and what its rules leave out. What is left out of `exclude` has its default. */
export const EstimateRequest = Type.Object(
  {
    path: PathInput,
    exclude: Type.Optional(Exclude),
    /** Seconds after which it answers with what it has seen until then. */
    within: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
  },
  { additionalProperties: false },
);
export const Estimate = Type.Object({
  path: Type.String(),
  files: Count,
  directories: Count,
  bytes: Count,
  /** False: it is at least that much, and counting was broken off. */
  complete: Type.Boolean(),
  unreadable: Count,
  /** What is left out is weighed in the time that is left: at least so many. */
  excluded_files: Count,
  /** The largest of what is left out first; at most 200. `rule` is the pattern, or `CACHEDIR.TAG`, `.nobackup`, …; `reason` says where it comes from. */
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
  /** Directories directly below with most bytes; at most 20. */
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
      /** Null: nobody has tried yet. */
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
 * `POST /destinations/test`: a configured one by its name, or one that is not saved yet by the object that the settings would have;
 * with both, a configured one as it would be. Secrets are held to the rules of saving (`secret-guard.ts`): 403 for one that would be sent elsewhere.
 */
export const DestinationTestRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    destination: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    ),
    /** Paths that are to be backed up there, beside those that are already: whether they share its disk is told. */
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
  /** Bytes a second, from storing and reading a few MiB; null where it was not tried. */
  write_speed: Nullable(Count),
  read_speed: Nullable(Count),
  /** Seconds that the clock of the destination differs; null where it does not tell. */
  clock_skew_seconds: Nullable(Type.Number()),
});
export type DestinationTest = Static<typeof DestinationTest>;

/**
 * `POST /secrets`: keeps a secret that was typed in a file of its own in the state directory (0600), and gives the reference for
 * the settings. The reference may then be put anywhere in the settings by the page, once: from then on it stays there. A secret that
 * is there already cannot be read, nor be sent elsewhere.
 */
export const SecretRequest = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 65_536 }) },
  { additionalProperties: false },
);
export const SecretReference = Type.Object({ file: Type.String() });

/** `GET /recovery-kit`; `GET /recovery-kit/text` downloads it; `POST /recovery-kit/confirm` says that it is kept elsewhere, and takes it off this machine. */
export const RecoveryKit = Type.Object({
  state: Type.Enum(['unsaved', 'saved', 'none']),
  made_at: MaybeTime,
  saved_at: MaybeTime,
});
export type RecoveryKit = Static<typeof RecoveryKit>;

/** `POST /passphrase-check`: whether a passphrase or recovery code opens a destination. Limited to 10 wrong ones in a minute. */
export const PassphraseCheckRequest = Type.Object(
  {
    destination: Type.String({ minLength: 1, maxLength: 4096 }),
    secret: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  { additionalProperties: false },
);
export const PassphraseCheck = Type.Object({ opens: Type.Boolean() });
