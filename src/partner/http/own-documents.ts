/** Documents of the service outside the versioned paths, without an envelope: health, metrics, API description. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { JSON_TYPE } from '../../api/framework/framework.ts';
import type { ApiApp, MetricsText } from '../../api/framework/route.ts';
import { apiDocument, type JsonObject } from '../../api/reference/api-document.ts';
import { referenceRoutes } from '../../api/reference/reference-routes.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { PARTNER_PREFIX } from '../resources/values.ts';
import type { PartnerStores } from '../store/store.ts';

export interface OwnDocumentParts {
  readonly stores: Pick<PartnerStores, 'ping'>;
  /** Version of the program. */
  readonly version: string;
  /** Base URL at which partners reach the service; undefined before it listens. */
  readonly baseUrl: () => string | undefined;
  /** Metrics in the Prometheus text format; absent when none are published. */
  readonly metrics: (() => Promise<MetricsText>) | undefined;
}

export function ownDocuments(app: ApiApp, { stores, version, baseUrl, metrics }: OwnDocumentParts): void {
  const json = { scope: 'public', produces: 'application/json' } as const;
  const document = async (): Promise<JsonObject> =>
    await apiDocument('partner', { version, baseUrl: baseUrl() });

  app.get('/healthz', { config: json }, async () => ({
    status: 'ok',
  }));
  app.get('/readyz', { config: json }, async () => {
    try {
      await stores.ping();
    } catch (cause) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The store does not answer', {
        hint: 'Try again later.',
        cause,
      });
    }
    return { status: 'ready' };
  });
  app.get('/openapi.json', { config: json }, async (_request, reply) => {
    reply.type(JSON_TYPE);
    return JSON.stringify(await document());
  });
  referenceRoutes(app, {
    document,
    introduction: () => introduction(baseUrl() ?? 'https://SERVICE'),
    access: ACCESS,
  });
  if (metrics === undefined) return;
  app.get('/metrics', { config: { scope: 'public', produces: 'text/plain' } }, async (_request, reply) => {
    const { type, text } = await metrics();
    reply.type(type);
    return text;
  });
}

const introduction = (
  origin: string,
): string => String.raw`<p>Each path below begins with <code>${PARTNER_PREFIX}</code>.
The machine-readable description is <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<h2>Getting started</h2>
<pre>curl -s ${origin}${PARTNER_PREFIX}/account -H 'Authorization: Bearer hfp_…'
curl -s ${origin}${PARTNER_PREFIX}/customers -H 'Authorization: Bearer hfp_…' \
  -H 'Content-Type: application/json' -d '{"name": "Bakery Moreau"}'</pre>`;

/** What is typed here stays in the page: it is gone when the page is closed. */
const ACCESS = `<section class="access card" data-access-part hidden>
<h2>Access</h2>
<p>To try requests from this page, paste an API key. It is kept until this page is closed.</p>
<div class="field"><label for="access-token">API key</label><input id="access-token" data-token placeholder="hfp_…" autocomplete="off" spellcheck="false"></div>
<p data-access-state role="status"></p>
</section>`;

export interface PartnerMetrics {
  text(): Promise<MetricsText>;
}

/** Metrics of this instance for Prometheus. None of them is about a single partner or customer. */
export function createPartnerMetrics(version: string): PartnerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'holdfast_partner_info',
    help: 'The version of the service, as a label.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  return { text: async () => ({ type: registry.contentType, text: await registry.metrics() }) };
}
