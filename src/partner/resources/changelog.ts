/** What changed in the Partner API, newest first: of one source with `GET /changelog`. */
export interface Change {
  /** A day in UTC. */
  readonly date: string;
  readonly kind: 'added' | 'changed' | 'fixed' | 'deprecated' | 'removed';
  readonly text: string;
}

export const CHANGES: readonly Change[] = [
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
