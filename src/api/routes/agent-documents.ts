/** What the agent says of itself outside the versioned paths, without an envelope: health, metrics, API description. */
import { docsPage, STYLE_SHA256 } from '../framework/docs-page.ts';
import { JSON_TYPE } from '../framework/framework.ts';
import type { MetricsText } from '../wire/metrics-text.ts';
import { describeApi, type Described } from '../framework/openapi.ts';
import { PREFIXES, type ApiApp } from '../framework/route.ts';
import type { RouteTable } from '../framework/route-table.ts';
import { policyWithStyle } from '../wire/security-headers.ts';

export interface DocumentParts {
  readonly table: RouteTable;
  readonly version: string;
  /** In the text format of Prometheus; absent where none are kept. */
  readonly metrics: (() => Promise<MetricsText>) | undefined;
}

const TAG = 'Agent';

const INTRODUCTION = String.raw`<p>Each path below stands under <code>/v1</code> and, the same, under <code>/api/v1</code>.
The description for programs is <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<h2>Getting started</h2>
<pre>curl -s http://localhost:PORT/v1/auth/token -H 'Content-Type: application/json' \
  -d '{"api_key": "hfk_…", "secret": "hfs_…"}'
curl -s http://localhost:PORT/v1/backup -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' -d '{"source": "/home/me/documents"}'</pre>`;

export function agentDocuments(app: ApiApp, { table, version, metrics }: DocumentParts): void {
  const open = { scope: 'public', tag: TAG } as const;
  const json = { ...open, produces: 'application/json' } as const;

  app.get('/healthz', { config: { ...json, summary: 'Whether the process answers' } }, async () => ({
    status: 'ok',
  }));

  // It listens once everything is open. Whether there are backups yet is not what a supervisor asks.
  app.get('/readyz', { config: { ...json, summary: 'Whether the agent has started' } }, async () => ({
    status: 'ready',
  }));

  app.get('/openapi.json', { config: { ...json, summary: 'This description' } }, async (_request, reply) => {
    reply.type(JSON_TYPE);
    return JSON.stringify(describeApi(table.entries, described(version)));
  });

  app.get(
    '/docs',
    { config: { ...open, produces: 'text/html', summary: 'This description, for people' } },
    async (_request, reply) => {
      reply.type('text/html; charset=utf-8');
      reply.header('content-security-policy', policyWithStyle(STYLE_SHA256));
      return docsPage(describeApi(table.entries, described(version)), INTRODUCTION);
    },
  );

  if (metrics === undefined) return;
  app.get(
    '/metrics',
    { config: { scope: 'api', tag: TAG, produces: 'text/plain', summary: 'Figures for Prometheus' } },
    async (_request, reply) => {
      const { type, text } = await metrics();
      reply.type(type);
      return text;
    },
  );
}

function described(version: string): Described {
  return {
    title: 'Holdfast Desktop API',
    version,
    prefixes: PREFIXES,
    security: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  };
}
