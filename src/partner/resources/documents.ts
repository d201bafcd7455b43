/** What the interface says of itself, to anybody: its error codes, and how it changed. */
import { ERROR_CODES } from '../../api/wire/error-codes.ts';
import { type ApiApp, page } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { CHANGES } from './changelog.ts';

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
      config: { scope: 'public', tag: 'Documentation', summary: 'Read the error codes' },
    },
    () => {
      const items = Object.entries(ERROR_CODES).map(([code, entry]) => ({
        code,
        status: entry.status,
        title: entry.title,
        description: entry.description,
        retry: entry.retry,
      }));
      return page(
        items.toSorted((a, b) => (a.code < b.code ? -1 : 1)),
        null,
      );
    },
  );
  app.get(
    '/changelog',
    {
      schema: { response: { 200: whole(ChangeData) } },
      config: { scope: 'public', tag: 'Documentation', summary: 'Read what changed in this interface' },
    },
    () => page(CHANGES, null),
  );
}

/** A list that is always given as a whole. */
function whole<Item extends Parameters<typeof Type.Array>[0]>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  });
}
