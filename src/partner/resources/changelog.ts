/** What changed in the Partner API, newest first: of one source with `GET /changelog`. */
export interface Change {
  /** A day in UTC. */
  readonly date: string;
  readonly kind: 'added' | 'changed' | 'fixed' | 'deprecated' | 'removed';
  readonly text: string;
}

export const CHANGES: readonly Change[] = [
  {
    date: '2026-11-24',
    kind: 'added',
    text: 'Receipts of reports name the highest number that the device has used, and say when another report was counted under the number of this one.',
  },
  {
    date: '2026-11-23',
    kind: 'fixed',
    text: 'A database that does not answer is 503 SERVICE_UNAVAILABLE, with the rate headers. A text with U+0000 is 400. Metadata takes strings under every name. An endpoint that fails for good is always disabled. An enrollment that is repeated with its Idempotency-Key gives the device that was made.',
  },
  {
    date: '2026-11-22',
    kind: 'added',
    text: 'Webhooks: endpoints, rotation of their secrets, tests, deliveries and sending them again.',
  },
  {
    date: '2026-11-22',
    kind: 'added',
    text: 'Devices: tokens to enroll them, lists, removal and orders; enrollment, reports, signed plans and snapshot heads for agents.',
  },
  {
    date: '2026-11-22',
    kind: 'added',
    text: 'Usage as CSV: format=csv.',
  },
  {
    date: '2026-11-22',
    kind: 'added',
    text: 'The first routes: account, customers, plans, usage, events, error codes and this changelog.',
  },
];
