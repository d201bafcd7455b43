/** Requests to the Desktop API, made from its document. */
import * as fc from 'fast-check';
import { schemaNode } from '../../src/config/schema.ts';
import { anyRequestTo, type Asked } from './arbitrary-requests.ts';
import { arbitraryValues, known, type ArbitraryValues, type Care } from './arbitrary-values.ts';
import { type DocumentedRoute, type OpenApiSchema, dereference, documentedRoutes } from './openapi-judge.ts';

const TEXTS = fc.constantFrom(
  'known-source-0',
  'known-source-0/a.txt',
  'known-source-0/d',
  'known-restored-0',
  '/home/ana',
  '/home/bo',
  '/missing',
  'default',
  'cloud',
  'latest',
  'zstd',
  'zstd:19',
  'none',
  'YQ==',
  '/w',
  '1h30m',
  '2026-11-21T16:40:00Z',
  'file:///backups',
  's3://bucket/prefix',
  'https://user:secret@example.org/x',
  'snap-1',
  'daily',
  '~/x',
  '08:00',
);
/** What the document calls settings and the configuration file says more of. */
function settings(valueOf: ArbitraryValues, care: Care): fc.Arbitrary<unknown> {
  const parts = Object.entries(schemaNode().properties ?? {});
  return fc.record(
    Object.fromEntries(parts.map(([name, part]) => [name, valueOf(part as unknown as OpenApiSchema, care)])),
    { requiredKeys: [] },
  );
}

const values = arbitraryValues({
  dereference,
  texts: TEXTS,
  fields: {
    settings: (valueOf) => fc.oneof(settings(valueOf, 'strict'), settings(valueOf, 'loose')),
  },
});

function ids({ path }: DocumentedRoute): fc.Arbitrary<string> {
  const [, kind = ''] = path.split('/');
  return kind === 'snapshots' ? fc.nat(400).map((index) => `snap-${index}`) : known(kind);
}

/** Streams are left out: they do not end. */
export const anyRequest: fc.Arbitrary<Asked> = anyRequestTo({
  routes: documentedRoutes.filter(({ path }) => !path.endsWith('/events')),
  values,
  prefixes: {
    right: ['/v1', '/api/v1'],
    wrong: ['', '/v2', '/V1', '/api/v1/v1', '//v1', '/api', '/v1/.', '/internal/v1'],
  },
  ids,
});
