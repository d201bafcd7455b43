/** Public documents of the Partner API: its error codes and its changelog. */
import { ERROR_CODES } from '../../api/wire/error-codes.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';

const MaybeStatus = Type.Union([Type.Integer(), Type.Null()]);

const ErrorCodeData = Type.Object({
  code: Type.String(),
  status: MaybeStatus,
  title: Type.String(),
  description: Type.String(),
  retry: Type.Enum(['never', 'later', 'now']),
});

const ChangeData = Type.Object({
  date: Type.String({ format: 'date' }),
  kind: Type.Enum(['added', 'changed', 'fixed', 'deprecated', 'removed']),
  text: Type.String(),
});

export function documentRoutes(app: ApiApp): void {
  app.get(
    '/error-codes',
    {
      schema: { response: { 200: whole(ErrorCodeData) } },
      config: { scope: 'public' },
    },
    () => {
      const items = Object.entries(ERROR_CODES).map(([code, entry]) => ({
        code,
        status: entry.status,
        title: entry.title,
        description: entry.description,
        retry: entry.retry,
      }));
      return wholeOf(items.toSorted((a, b) => (a.code < b.code ? -1 : 1)));
    },
  );
  app.get(
    '/changelog',
    {
      schema: { response: { 200: whole(ChangeData) } },
      config: { scope: 'public' },
    },
    () => wholeOf(CHANGES),
  );
}

/** Schema of a list that is always returned completely. */
function whole<Item extends Parameters<typeof Type.Array>[0]>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Literal(false),
    next_cursor: Type.Null(),
  });
}

function wholeOf<Item>(items: readonly Item[]) {
  return { items: [...items], has_more: false as const, next_cursor: null };
}

/** A change of the Partner API. The list is newest first and is what `GET /changelog` returns. */
interface Change {
  /** A day in UTC. */
  readonly date: string;
  readonly kind: 'added' | 'changed' | 'fixed' | 'deprecated' | 'removed';
  readonly text: string;
}

const CHANGES: readonly Change[] = [
  {
    date: '2026-12-01',
    kind: 'added',
    text: 'GET /usage/customers: the usage of each customer in one reply, as JSON or CSV. GET /customers takes q and trial_ends_before.',
  },
  {
    date: '2026-12-01',
    kind: 'changed',
    text: 'A token for a device of a suspended customer is refused with 403 FORBIDDEN, since no device could be enrolled with it. Enrolling with an earlier one says so in details.reason.',
  },
  {
    date: '2026-12-01',
    kind: 'fixed',
    text: 'The usage of a deleted customer can be read: GET /usage?customer_id= and GET /customers/{id}/usage.',
  },
  {
    date: '2026-11-24',
    kind: 'added',
    text: 'Receipts of reports name the highest number that the device has used, and say when another report was counted under the number of this one.',
  },
  {
    date: '2026-11-23',
    kind: 'fixed',
    text: 'A database that does not answer is 503 SERVICE_UNAVAILABLE, with the rate headers. A text with U+0000 is 400. Metadata takes strings under every name. An endpoint that fails for good is always disabled. Repeating an enrollment with its Idempotency-Key returns the device that was created.',
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
