/** Schemas of previews of settings, and of the other routes of the settings pages. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, Time } from '../values.ts';

const AnySettings = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

/** `POST /settings/validate`: the problems for which `PUT /settings` would refuse the settings; changes nothing. */
export const ValidateRequest = Type.Object({ settings: AnySettings }, { additionalProperties: false });
export const Validation = Type.Object({
  problems: Type.Array(
    Type.Object({
      field: Type.String(),
      message: Type.String(),
      hint: Type.String(),
      /** The value is valid, but requests may not make this change: it needs a command on the machine. */
      guarded: Type.Optional(Type.Boolean()),
    }),
  ),
});
export type Validation = Static<typeof Validation>;

/** `POST /schedule-preview`: the next runs of a schedule. */
export const SchedulePreviewRequest = Type.Object(
  {
    schedule: Type.String({ minLength: 1, maxLength: 200 }),
    time_zone: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
  },
  { additionalProperties: false },
);
export const SchedulePreview = Type.Object({
  /** The next five runs; empty for `off`. */
  next: Type.Array(Time),
  /** Why there are none: what is wrong with the schedule or the time zone. */
  problem: Nullable(Type.Object({ message: Type.String(), hint: Type.String() })),
});
export type SchedulePreview = Static<typeof SchedulePreview>;

/** `POST /retention-preview`: what the next prune would remove by the given rules, or by those in force. */
export const RetentionPreviewRequest = Type.Object(
  {
    retention: Type.Optional(AnySettings),
    destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  },
  { additionalProperties: false },
);
export const RetentionPreview = Type.Object({
  destination: Type.String(),
  kept: Count,
  removed: Count,
  /**
   * Newest first, at most 1,000. `reasons`: what keeps the snapshot: names of rules (`last`, `hourly`, `daily`,
   * `weekly`, `monthly`, `yearly`, `within`), `pinned`, `alarm`, `future` (its time is in the future, so a clock was
   * wrong), and `newest` for the snapshot of a source that always stays. Empty when no rules are set, so that
   * everything stays.
   */
  items: Type.Array(
    Type.Object({
      snapshot_id: Type.String(),
      source: Type.String(),
      created_at: Time,
      size_bytes: Count,
      keep: Type.Boolean(),
      reasons: Type.Array(Type.String()),
    }),
  ),
});
export type RetentionPreview = Static<typeof RetentionPreview>;

/** `POST /notices/test`: sends a notice over a channel of the settings in force. */
export const NoticeTestRequest = Type.Object(
  { channel: Type.Enum(['healthchecks', 'ntfy', 'webhook', 'email', 'desktop']) },
  { additionalProperties: false },
);
export const NoticeTest = Type.Object({ sent: Type.Boolean(), problem: Nullable(Type.String()) });

/**
 * `GET /credentials`, `DELETE /credentials/:key`. `POST /credentials` and `POST /credentials/:key/rotate` return the
 * secret, once.
 */
const CREDENTIAL = {
  api_key: Type.String(),
  name: Type.String(),
  created_at: Time,
  last_used_at: MaybeTime,
};
export const Credential = Type.Object(CREDENTIAL);
export type Credential = Static<typeof Credential>;
export const Credentials = Type.Object({ items: Type.Array(Credential) });
export type Credentials = Static<typeof Credentials>;
export const NewCredentialRequest = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false },
);
export const NewCredential = Type.Object({ ...CREDENTIAL, secret: Type.String() });
export type NewCredential = Static<typeof NewCredential>;

/**
 * `GET /account`: the plan, its limit, and the Partner service if the device is enrolled. `POST /account/enroll` and
 * `DELETE /account/enrollment` change the enrollment.
 */
export const Account = Type.Object({
  plan: Type.String(),
  rate_limit: Type.Object({ limit: Count, remaining: Count, reset: Count, window_seconds: Count }),
  partner: Nullable(
    Type.Object({
      service: Type.String(),
      device_id: Type.String(),
      customer_id: Type.String(),
      name: Type.String(),
      enrolled_at: Time,
      status: Nullable(Type.Enum(['active', 'suspended', 'trial_expired'])),
      plan_expires_at: MaybeTime,
      grace_until: MaybeTime,
      last_report_at: MaybeTime,
      results_waiting: Count,
      /** Why the service gets no reports; null while it does. */
      problem: Nullable(
        Type.Enum(['device_removed', 'partner_suspended', 'unreachable', 'refused', 'reply_invalid']),
      ),
    }),
  ),
});
export type Account = Static<typeof Account>;
export const EnrollRequest = Type.Object(
  {
    service: Type.String({ minLength: 1, maxLength: 2048 }),
    token: Type.String({ minLength: 1, maxLength: 256 }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
);

/** `GET /agent-log`: the end of the agent's log. */
export const AgentLogQuery = Type.Object(
  {
    lines: Type.Integer({ minimum: 1, maximum: 2000, default: 200 }),
    level: Type.Enum(['debug', 'info', 'warn', 'error'], { default: 'info' }),
  },
  { additionalProperties: false },
);
export const AgentLog = Type.Object({
  file: Type.String(),
  lines: Type.Array(Type.Object({ at: Time, level: Type.String(), text: Type.String() })),
});
export type AgentLog = Static<typeof AgentLog>;

/** `GET /about`: facts for the page Advanced. `GET /diagnostics` downloads a bundle as text, with secrets removed. */
export const About = Type.Object({
  /** The version that runs. */
  version: Type.String(),
  /** Another one when it was put in the place of the running one. */
  installed_version: Type.String(),
  /** What the address in the setting updates.url says; null without that setting. */
  newest_version: Nullable(
    Type.Object({ version: Nullable(Type.String()), trouble: Nullable(Type.String()) }),
  ),
  node: Type.String(),
  platform: Type.String(),
  state_directory: Type.String(),
  config_file: Type.String(),
  config_error: Nullable(
    Type.Object({ message: Type.String(), line: Nullable(Count), column: Nullable(Count) }),
  ),
  /** Whether the agent can show messages on the desktop of its user and, if not, why. */
  desktop: Type.Enum(['ready', 'service', 'away', 'no_program']),
  /** The URLs that the agent listens at. */
  addresses: Type.Array(Type.String()),
});
export type About = Static<typeof About>;

export const WebdavState = Type.Object({
  enabled: Type.Boolean(),
  created_at: Type.Union([Type.String(), Type.Null()]),
  /** URL without the secret. */
  address: Type.String(),
});

/** The URL with the secret, and the credentials; shown only once. */
export const WebdavSecret = Type.Object({
  address: Type.String(),
  user: Type.String(),
  password: Type.String(),
});

export const WebdavOff = Type.Object({ enabled: Type.Literal(false) });

export type WebdavState = Static<typeof WebdavState>;
export type WebdavSecret = Static<typeof WebdavSecret>;
