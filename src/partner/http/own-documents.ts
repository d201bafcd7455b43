/** What the service says of itself outside the versioned paths, without an envelope: health, metrics, API description. */
import type { MetricsText } from '../../api/wire/metrics-text.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { docsPage, STYLE_SHA256 } from '../../api/framework/docs-page.ts';
import { JSON_TYPE } from '../../api/framework/framework.ts';
import { describeApi, type Described } from '../../api/framework/openapi.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import type { RouteTable } from '../../api/framework/route-table.ts';
import { policyWithStyle } from '../../api/wire/security-headers.ts';
import type { PartnerStores } from '../store/store.ts';
import { PARTNER_PREFIX } from '../request/prefix.ts';

export interface OwnDocumentParts {
  readonly stores: Pick<PartnerStores, 'ping'>;
  readonly table: RouteTable;
  /** Of the program. */
  readonly version: string;
  /** In the text format of Prometheus; absent where none are given out. */
  readonly metrics: (() => Promise<MetricsText>) | undefined;
}

const TAG = 'Service';

export function ownDocuments(app: ApiApp, { stores, table, version, metrics }: OwnDocumentParts): void {
  const open = { scope: 'public', tag: TAG } as const;
  const json = { ...open, produces: 'application/json' } as const;
  const description = (): ReturnType<typeof describeApi> => describeApi(table.entries, described(version));

  app.get('/healthz', { config: { ...json, summary: 'Whether the process answers' } }, async () => ({
    status: 'ok',
  }));
  app.get('/readyz', { config: { ...json, summary: 'Whether the store answers' } }, async () => {
    try {
      await stores.ping();
    } catch (cause) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The store does not answer', {
        hint: 'Ask again later.',
        cause,
      });
    }
    return { status: 'ready' };
  });
  app.get('/openapi.json', { config: { ...json, summary: 'This description' } }, async (_request, reply) => {
    reply.type(JSON_TYPE);
    return JSON.stringify(description());
  });
  app.get(
    '/docs',
    { config: { ...open, produces: 'text/html', summary: 'This description, for people' } },
    async (_request, reply) => {
      reply.type('text/html; charset=utf-8');
      reply.header('content-security-policy', policyWithStyle(STYLE_SHA256));
      return docsPage(description(), INTRODUCTION);
    },
  );
  if (metrics === undefined) return;
  app.get(
    '/metrics',
    { config: { ...open, produces: 'text/plain', summary: 'Figures for Prometheus' } },
    async (_request, reply) => {
      const { type, text } = await metrics();
      reply.type(type);
      return text;
    },
  );
}

const INTRODUCTION = String.raw`<p>Each path below stands under <code>${PARTNER_PREFIX}</code>.
The description for programs is <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<h2>Getting started</h2>
<pre>curl -s https://SERVICE${PARTNER_PREFIX}/account -H 'Authorization: Bearer hfp_…'
curl -s https://SERVICE${PARTNER_PREFIX}/customers -H 'Authorization: Bearer hfp_…' \
  -H 'Content-Type: application/json' -d '{"name": "Bakery Moreau"}'</pre>`;

function described(version: string): Described {
  return {
    title: 'Holdfast Partner API',
    version,
    prefixes: [PARTNER_PREFIX],
    security: {
      apiKey: { type: 'http', scheme: 'bearer' },
      apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    },
    deviceSecurity: { deviceKey: { type: 'http', scheme: 'bearer' } },
  };
}
