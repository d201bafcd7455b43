/** Documents of the agent outside the versioned paths, without an envelope: health, metrics, API description. */
import { docsPage, STYLE_SHA256 } from '../framework/docs-page.ts';
import { JSON_TYPE } from '../framework/framework.ts';
import type { ApiApp, MetricsText } from '../framework/route.ts';
import { apiDocument, type JsonObject } from '../framework/api-document.ts';
import { policyWithStyle } from '../wire/headers.ts';

export interface DocumentParts {
  /** Version of the program. */
  readonly version: string;
  /** The port that the agent listens on; undefined before it listens. */
  readonly port: () => number | undefined;
  /** Metrics in the Prometheus text format; absent when none are kept. */
  readonly metrics: (() => Promise<MetricsText>) | undefined;
}

const INTRODUCTION = String.raw`<p>Each path below stands under <code>/v1</code> and, the same, under <code>/api/v1</code>.
The description for programs is <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<h2>Getting started</h2>
<pre>curl -s http://localhost:PORT/v1/auth/token -H 'Content-Type: application/json' \
  -d '{"api_key": "hfk_…", "secret": "hfs_…"}'
curl -s http://localhost:PORT/v1/backup -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' -d '{"source": "/home/me/documents"}'</pre>`;

export function agentDocuments(app: ApiApp, { version, port, metrics }: DocumentParts): void {
  const json = { scope: 'public', produces: 'application/json' } as const;
  const document = async (): Promise<JsonObject> => {
    const at = port();
    return await apiDocument('desktop', {
      version,
      baseUrl: at === undefined ? undefined : `http://127.0.0.1:${at}`,
    });
  };

  app.get('/healthz', { config: json }, async () => ({
    status: 'ok',
  }));

  // The agent listens only once everything is open. Whether there are backups is of no concern to a supervisor.
  app.get('/readyz', { config: json }, async () => ({
    status: 'ready',
  }));

  app.get('/openapi.json', { config: json }, async (_request, reply) => {
    reply.type(JSON_TYPE);
    return JSON.stringify(await document());
  });

  app.get('/docs', { config: { scope: 'public', produces: 'text/html' } }, async (_request, reply) => {
    reply.type('text/html; charset=utf-8');
    reply.header('content-security-policy', policyWithStyle(STYLE_SHA256));
    return docsPage(await document(), INTRODUCTION);
  });

  if (metrics === undefined) return;
  app.get('/metrics', { config: { scope: 'api', produces: 'text/plain' } }, async (_request, reply) => {
    const { type, text } = await metrics();
    reply.type(type);
    return text;
  });
}
