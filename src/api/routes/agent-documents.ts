/** Documents of the agent outside the versioned paths, without an envelope: health, metrics, API description. */
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import { schemaNode } from '../../config/schema.ts';
import { JSON_TYPE } from '../framework/framework.ts';
import type { ApiApp, MetricsText } from '../framework/route.ts';
import { apiDocument, type JsonObject } from '../reference/api-document.ts';
import { text } from '../reference/document-reader.ts';
import type { Appendix } from '../reference/reference-page.ts';
import { referenceRoutes } from '../reference/reference-routes.ts';

export interface DocumentParts {
  /** Version of the program. */
  readonly version: string;
  /** The port that the agent listens on; undefined before it listens. */
  readonly port: () => number | undefined;
  /** Metrics in the Prometheus text format; absent when none are kept. */
  readonly metrics: (() => Promise<MetricsText>) | undefined;
}

const introduction = (
  origin: string,
): string => String.raw`<p>This agent listens at <code>${origin}</code>. Each path below is available under <code>/v1</code> and, identically,
under <code>/api/v1</code>, but for those of the section Agent, which are at the root. The machine-readable description is
<a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<h2>Getting started</h2>
<p>Create credentials with <code>${text(holdfastForAnybody`credentials create --name my-program`)}</code>, or on the page under Settings, API access.
Exchange them for a token: <code>data.access_token</code> of the reply. It is valid for an hour, and sent with each request in the place of TOKEN:</p>
<pre>curl -s ${origin}/v1/auth/token -H 'Content-Type: application/json' \
  -d '{"api_key": "hfk_…", "secret": "hfs_…"}'
curl -s ${origin}/v1/backup -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' -d '{"source": "/home/me/documents"}'</pre>`;

/** The document says of the settings only that they are those of the file, whose schema is in the program. */
const SETTINGS: Appendix = {
  id: 'settings',
  title: 'Fields of the settings',
  lead: `What \`GET /settings\` gives and \`PUT /settings\` takes in \`settings\`: what is left out has the default. A secret reference is an object with one of \`file\`, \`env\`, \`command\` and \`credential\`, which says where the secret is; no request sets one. \`NAME\` is chosen freely.`,
  schema: settingsSchema(),
};

function settingsSchema(): JsonObject {
  const { properties = {}, ...rest } = schemaNode();
  const shown = Object.entries(properties).filter(([name]) => name !== '$schema');
  return JSON.parse(JSON.stringify({ ...rest, properties: Object.fromEntries(shown) })) as JsonObject;
}

/** What is typed here stays in the page: it is gone when the page is closed. */
const ACCESS = `<section class="access card" data-access-part hidden>
<h2>Access</h2>
<p>To try requests from this page, paste a token, or get one for an API key. They are kept until this page is closed.</p>
<form class="inputs" data-exchange="/v1/auth/token">
<div class="field"><label for="access-key">API key</label><input id="access-key" data-key placeholder="hfk_…" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="access-secret">Secret</label><input id="access-secret" data-secret type="password" placeholder="hfs_…" autocomplete="off"></div>
<div class="field"><button type="submit">Get a token</button></div>
</form>
<div class="field"><label for="access-token">Token</label><input id="access-token" data-token autocomplete="off" spellcheck="false"></div>
<p data-access-state role="status"></p>
</section>`;

export function agentDocuments(app: ApiApp, { version, port, metrics }: DocumentParts): void {
  const json = { scope: 'public', produces: 'application/json' } as const;
  const origin = (): string | undefined => {
    const at = port();
    return at === undefined ? undefined : `http://127.0.0.1:${at}`;
  };
  const document = async (): Promise<JsonObject> =>
    await apiDocument('desktop', { version, baseUrl: origin() });

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

  referenceRoutes(app, {
    document,
    introduction: () => introduction(origin() ?? 'http://localhost:7390'),
    access: ACCESS,
    appendix: SETTINGS,
  });

  if (metrics === undefined) return;
  app.get('/metrics', { config: { scope: 'api', produces: 'text/plain' } }, async (_request, reply) => {
    const { type, text } = await metrics();
    reply.type(type);
    return text;
  });
}
