/**
 * The tables as queries see them. Ids and JSON are text, times are milliseconds since 1970, sizes are bytes, and days
 * are `2026-11-22` in UTC. Booleans are 1 or 0, as in SQLite.
 */

export interface PartnerTable {
  id: string;
  name: string;
  company: string | null;
  /** In lower case. */
  email: string;
  /** argon2id, in its usual text form. */
  password_hash: string;
  /** Encrypted (sealing.ts); null without a second factor. */
  totp_secret: string | null;
  /** The last time step whose code was used: no code is valid twice. */
  totp_step: number | null;
  status: 'active' | 'suspended';
  created_at: number;
  /** Sequence number of the newest event. */
  events_seq: number;
  /** When its last suspension ended; null when it never was suspended. */
  resumed_at: number | null;
}

export interface ApiKeyTable {
  id: string;
  partner_id: string;
  name: string;
  /** The first 10 characters of the secret, for people to compare. */
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
  /** Null when the plan is not a trial. */
  trial_days: number | null;
  price_cents: number;
  /** ISO 4217. */
  currency: string;
  active: number;
  /** Order in lists, cheapest first. */
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
  /** End of its only trial, also while it has another plan; null when it had none. */
  first_trial_ends_at: number | null;
  /** The highest share of its storage limit, in percent, that the partner was told about; 0 for none. */
  usage_told: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** When its personal data was removed. */
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
  /** Result of the backup that ended last, as JSON. */
  last_backup: string | null;
  last_backup_at: number | null;
  storage_used_bytes: number;
  storage_at: number;
  storage_seq: number;
  /** Null when no backup is expected. */
  expected_every_seconds: number | null;
  /** Since when backups have been expected, at any interval. */
  expected_since: number | null;
  missed_since: number | null;
  /** The highest sequence number of its reports. */
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

/** One device on one day. The sums come from its reports alone, so that they can be recomputed. */
export interface MeterRowTable {
  partner_id: string;
  customer_id: string;
  device_id: string;
  day: string;
  /** Storage at the end of the day; null when none was reported that day. */
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
  /** A JSON list of kinds; empty for all kinds. */
  events: string;
  description: string | null;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  /** Both secrets are encrypted (sealing.ts). */
  secret: string;
  previous_secret: string | null;
  previous_until: number | null;
  /** Since when deliveries have been tried and none has succeeded; null otherwise. */
  failing_since: number | null;
  /** End of the silence that the endpoint asked for. Stays, in the past, until a delivery succeeds. Null otherwise. */
  silent_until: number | null;
  created_at: number;
  updated_at: number;
  /** When it was deleted. It is hidden since, and its deliveries are being removed. */
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
  /** First attempt since the delivery was created or last retried. */
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
  /** The request that holds the key, and until when it is assumed to run. */
  owner: string;
  running_until: number;
  status: number | null;
  headers: string | null;
  body: string | null;
  /** Id of what the request created or changed, once that is done. */
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
  /** The kind of the limit, and the keyed hash of what it counts for. */
  name: string;
  /** A JSON list of the times of attempts, oldest first. */
  times: string;
  /** When the last of these times leaves the window. */
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
  /** When the device confirmed that it has the order. */
  taken_at: number | null;
}

/** The highest head of a writer that a device has reported. */
export interface SnapshotHeadTable {
  partner_id: string;
  customer_id: string;
  device_id: string;
  repository_id: string;
  writer: string;
  seq: number;
  hash: string;
  /** Sequence number of the newest report that contained the head. */
  report_seq: number;
  told_at: number;
  /** When the refusal of another head was last recorded. */
  refused_at: number | null;
}

export interface ServiceKeyTable {
  place: 1;
  /** Keyed hash of an empty text, which identifies the key. */
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
