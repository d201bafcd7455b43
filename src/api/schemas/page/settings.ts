/** Previews of settings before they are saved, and what belongs to the settings pages. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, Time } from '../values.ts';

const AnySettings = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

/** `POST /settings/validate`: what `PUT /settings` would say, without changing anything. */
export const ValidateRequest = Type.Object({ settings: AnySettings }, { additionalProperties: false });
export const Validation = Type.Object({
  problems: Type.Array(
    Type.Object({
      field: Type.String(),
      message: Type.String(),
      hint: Type.String(),
      /** Nothing is wrong with the value: no request may change it so, and a command does. */
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
  /** Five; none for `off`. */
  next: Type.Array(Time),
  /** Why there are none: what is wrong with the text. */
  problem: Nullable(Type.Object({ message: Type.String(), hint: Type.String() })),
});
export type SchedulePreview = Static<typeof SchedulePreview>;

/** `POST /retention-preview`: what the next prune would remove by these rules, or by those in force. */
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
   * Newest first, at most 1,000. `reasons` are what keeps it: the names of rules (`last`, `hourly`, `daily`, `weekly`, `monthly`,
   * `yearly`, `within`), `pinned`, `alarm`, `future` (its clock was wrong, or ours is), and `newest` for what always stays of
   * a source. None where no rule is stated, so that everything stays.
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

/** `POST /notices/test`: sends one by a channel of the settings in force. */
export const NoticeTestRequest = Type.Object(
  { channel: Type.Enum(['healthchecks', 'ntfy', 'webhook', 'email']) },
  { additionalProperties: false },
);
export const NoticeTest = Type.Object({ sent: Type.Boolean(), problem: Nullable(Type.String()) });

/** `GET /credentials`; `POST /credentials` and `POST /credentials/:key/rotate` give the secret once; `DELETE /credentials/:key`. */
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

/** `GET /account`: the plan, its limit, and the Partner service, if any. `POST /account/enroll`, `DELETE /account/enrollment`. */
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
      problem: Nullable(Type.String()),
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

/** `GET /about`: facts for the page Advanced. `GET /diagnostics` downloads a bundle (text, secrets removed). */
export const About = Type.Object({
  version: Type.String(),
  node: Type.String(),
  platform: Type.String(),
  state_directory: Type.String(),
  config_file: Type.String(),
  config_error: Nullable(
    Type.Object({ message: Type.String(), line: Nullable(Count), column: Nullable(Count) }),
  ),
  /** Words with which the agent was started as a service, and where it listens. */
  addresses: Type.Array(Type.String()),
});
export type About = Static<typeof About>;
