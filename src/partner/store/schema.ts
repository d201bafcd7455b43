/**
 * The tables, as the queries see them. Ids are text, times whole milliseconds since 1970, sizes bytes, days `2026-11-22`
 * in UTC, JSON is text; what is yes or no is 1 or 0, as SQLite has it.
 */

export interface PartnerTable {
  id: string;
  name: string;
  company: string | null;
  /** In lower case. */
  email: string;
  /** argon2id, in its usual text form. */
  password_hash: string;
  /** Sealed. */
  totp_secret: string | null;
  /** The last time step that a code was taken of: no code is good twice. */
  totp_step: number | null;
  status: 'active' | 'suspended';
  created_at: number;
  /** Of the newest event. */
  events_seq: number;
  /** When it was last suspended no more. */
  resumed_at: number | null;
}

export interface ApiKeyTable {
  id: string;
  partner_id: string;
  name: string;
  /** The first letters of the secret, for people who compare. */
  prefix: string;
  hash: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface PlanTable {
  id: string;
  slug: 'free_trial' | 'pro' | 'business';
  name: string;
  storage_limit_bytes: number;
  device_limit: number;
  desktop_requests_per_hour: number;
  /** Null: no trial. */
  trial_days: number | null;
  price_cents: number;
  /** ISO 4217. */
  currency: string;
  active: number;
  /** Cheapest first. */
  position: number;
}

export interface CustomerTable {
  id: string;
  partner_id: string;
  name: string;
  email: string | null;
  external_id: string | null;
  plan_id: string;
  metadata: string;
  status: 'active' | 'suspended' | 'deleted';
  trial_ends_at: number | null;
  /** Also while another plan holds; null when there was no trial. */
  first_trial_ends_at: number | null;
  /** The part of its storage, in percent, that the partner was last told of; 0 when it was told of none. */
  usage_told: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** When what tells of a person was taken out. */
  purged_at: number | null;
}

export interface DeviceTable {
  id: string;
  partner_id: string;
  customer_id: string;
  name: string;
  platform: string;
  agent_version: string;
  key_hash: string;
  enrolled_at: number;
  last_seen_at: number | null;
  removed_at: number | null;
  /** Of the backup that ended last: its result. */
  last_backup: string | null;
  last_backup_at: number | null;
  storage_used_bytes: number;
  storage_at: number;
  storage_seq: number;
  /** Null: no backup is expected at any time. */
  expected_every_seconds: number | null;
  /** Since when one is expected, however often. */
  expected_since: number | null;
  missed_since: number | null;
  /** The highest of its reports. */
  report_seq: number;
}

export interface EnrollmentTokenTable {
  hash: string;
  partner_id: string;
  customer_id: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  device_id: string | null;
}

export interface ReportTable {
  device_id: string;
  seq: number;
  partner_id: string;
  received_at: number;
  body: string;
}

/** One device on one day: sums of its reports alone, so that they can be computed again. */
export interface MeterRowTable {
  partner_id: string;
  customer_id: string;
  device_id: string;
  day: string;
  /** At the end of the day; null when nothing was said of it that day. */
  storage_bytes: number | null;
  storage_at: number;
  storage_seq: number;
  uploaded_bytes: number;
  restored_bytes: number;
  backups_completed: number;
  backups_failed: number;
  restores_completed: number;
  restores_failed: number;
}

/** Accepted requests of a partner on one day. */
export interface ApiRequestDayTable {
  partner_id: string;
  day: string;
  requests: number;
}

export interface EventTable {
  id: string;
  partner_id: string;
  /** From 1, without gaps, in the order in which events became visible. */
  seq: number;
  kind: string;
  customer_id: string | null;
  device_id: string | null;
  data: string;
  created_at: number;
}

export interface WebhookEndpointTable {
  id: string;
  partner_id: string;
  url: string;
  /** A JSON list of kinds; empty: all. */
  events: string;
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  /** Sealed, as the next one. */
  secret: string;
  previous_secret: string | null;
  previous_until: number | null;
  /** Since when no delivery succeeded, though some were tried. */
  failing_since: number | null;
  /** Until when it wants to hear nothing; past, while nothing succeeded since. Null otherwise. */
  silent_until: number | null;
  created_at: number;
  updated_at: number;
  /** Nobody sees it any more: its deliveries are being removed. */
  deleted_at: number | null;
}

export interface DeliveryTable {
  id: string;
  partner_id: string;
  endpoint_id: string;
  event_id: string;
  status: 'pending' | 'succeeded' | 'failed';
  attempts: number;
  next_attempt_at: number;
  claimed_by: string | null;
  claimed_until: number | null;
  /** HTTP status of the last attempt; null when there was no answer. */
  last_status: number | null;
  last_error: string | null;
  /** Since it was made, or was to be sent again. */
  first_attempt_at: number | null;
  last_attempt_at: number | null;
  created_at: number;
}

export interface RateLogTable {
  partner_id: string;
  /** A JSON list of the times at which requests were accepted, oldest first. */
  times: string;
}

export interface IdempotencyTable {
  partner_id: string;
  route: string;
  key: string;
  request_hash: string;
  begun_at: number;
  /** Who answers it, and until when that is believed. */
  owner: string;
  running_until: number;
  status: number | null;
  headers: string | null;
  body: string | null;
  /** Id of what the request has made or changed, once that is done. */
  effect: string | null;
}

export interface SessionTable {
  hash: string;
  partner_id: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ip: string | null;
}

export interface SignInLogTable {
  /** What is counted in it, and the keyed hash of whose it is. */
  name: string;
  /** A JSON list of the times of attempts, oldest first. */
  times: string;
  /** When the last of them has left the window. */
  expires_at: number;
}

export interface AuditLogTable {
  id: string;
  partner_id: string;
  actor: string;
  key_id: string | null;
  ip: string | null;
  action: string;
  target: string;
  before: string | null;
  after: string | null;
  created_at: number;
}

export interface OrderTable {
  id: string;
  partner_id: string;
  device_id: string;
  kind: 'run_backup' | 'report';
  created_at: number;
  expires_at: number;
  /** When the device said that it has it. */
  taken_at: number | null;
}

/** The highest head of a writer that a device told of. */
export interface SnapshotHeadTable {
  partner_id: string;
  customer_id: string;
  device_id: string;
  repository_id: string;
  writer: string;
  seq: number;
  hash: string;
  /** Of the newest report that told of it. */
  report_seq: number;
  told_at: number;
  /** When it was last recorded that another one was not believed. */
  refused_at: number | null;
}

export interface ServiceKeyTable {
  place: 1;
  /** Keyed hash of nothing. */
  hash: string;
}

export interface SchemaVersionTable {
  version: number;
}

export interface Tables {
  schema_version: SchemaVersionTable;
  service_key: ServiceKeyTable;
  partners: PartnerTable;
  api_keys: ApiKeyTable;
  plans: PlanTable;
  customers: CustomerTable;
  devices: DeviceTable;
  enrollment_tokens: EnrollmentTokenTable;
  reports: ReportTable;
  meter_rows: MeterRowTable;
  api_request_days: ApiRequestDayTable;
  events: EventTable;
  webhook_endpoints: WebhookEndpointTable;
  deliveries: DeliveryTable;
  rate_log: RateLogTable;
  idempotency: IdempotencyTable;
  sessions: SessionTable;
  sign_in_log: SignInLogTable;
  audit_log: AuditLogTable;
  orders: OrderTable;
  snapshot_heads: SnapshotHeadTable;
}
