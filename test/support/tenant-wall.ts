/**
 * No statement reads or changes what belongs to partners without saying to which one, but for those below. A second
 * wall, below the routes: it is held against every statement of every test that opens a store.
 */

const TABLES =
  'api_keys|customers|devices|enrollment_tokens|reports|meter_rows|api_request_days|events|webhook_endpoints|deliveries|rate_log|idempotency|sessions|sign_in_log|audit_log|orders|snapshot_heads';

/** By what a statement finds its rows when it does not name a partner, and why it may. */
const EXCEPTIONS: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /\bwhere (?:"\w+"\.)?"(?:hash|key_hash)" = /, reason: 'a secret says who it is' },
  {
    pattern: /^(?:select "name", "times" from|update) "sign_in_log" .*where "name" (?:=|in)/,
    reason: 'who tries to sign in may be nobody: a keyed hash of what was typed says whose it is',
  },
  {
    pattern:
      /^select "(?:id" from "deliveries" where \("deliveries"\."status" = |webhook_endpoints"\."id" as "endpointid", .* where "webhook_endpoints"\."deleted_at" is null and exists)/,
    reason: 'what is due, whose ever it is; whoever takes something of it names the partner',
  },
  {
    pattern: /^select "devices"\."id", "devices"\."partner_id", .* from "devices" .*"missed_since" is null/,
    reason: 'backups that are late, of all; each is marked with its partner',
  },
  {
    pattern:
      /^(?:select|delete)\b.* \(?(?:"expires_at" <=|"begun_at" <=|"created_at" <|"received_at" <|order by "received_at")/,
    reason: 'what is past keeping goes, by its age alone',
  },
  {
    pattern: /^select "id", "partner_id" from "webhook_endpoints" where "deleted_at" is not null$/,
    reason: 'endpoints that were deleted, of all; what is left of each goes with its partner named',
  },
  {
    pattern: /^delete from "(?:events|deliveries)" where "(?:id|event_id)" in \(/,
    reason: 'events that are past keeping, with what was sent of them',
  },
  {
    pattern:
      /^(?:update "customers" set .*"purged_at" = .*"deleted_at" <=|update "devices" set "name" = \S+ where "customer_id" in|delete from "(?:enrollment_tokens|snapshot_heads)" where "customer_id" in)/,
    reason: 'customers that were deleted long ago are made nameless',
  },
];

/** Undefined when the statement keeps to one partner, or may do otherwise. */
export function tenantFault(statement: string): string | undefined {
  const text = statement.toLowerCase().replaceAll(/\s+/g, ' ');
  if (!/^(?:select|update|delete)\b/.test(text)) return undefined;
  if (!new RegExp(`(?:from|join|update) "(?:${TABLES})"`).test(text)) return undefined;
  if (/"partner_id" = (?:\?|\$\d|"\w+"\."partner_id")/.test(text)) return undefined;
  return EXCEPTIONS.some(({ pattern }) => pattern.test(text)) ? undefined : statement;
}
