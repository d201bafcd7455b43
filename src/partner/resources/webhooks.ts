/** Routes for webhook endpoints, to which events are sent for the partner's own programs. */
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import { type ApiApp, ListQuery, PageOf, page } from '../../api/framework/route.ts';
import type { Clock } from '../../base/clock.ts';
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { actorOf, earlierEffect, partnerOf } from '../request/visit.ts';
import type { Sealing } from '../secrets/sealing.ts';
import { EVENT_KINDS } from '../store/events.ts';
import type { PartnerStores } from '../store/store.ts';
import type { WebhookEndpoint } from '../store/webhook-endpoints.ts';
import { newWebhookSecret } from '../webhooks/secrets.ts';
import { parseTarget } from '../webhooks/target.ts';
import type { TestTarget } from '../webhooks/test-targets.ts';
import { DeletedData, IdParams, MaybeText, MaybeTime, Time, maybeTimestamp, timestamp } from './values.ts';

const Events = Type.Array(Type.Enum([...EVENT_KINDS]), { maxItems: 50, uniqueItems: true });
const Description = Type.Union([Type.String({ maxLength: 500, pattern: NO_NUL }), Type.Null()]);
/** `parseTarget` checks the URL and gives the reason for refusing one. */
const Url = Type.String({ minLength: 1 });
const Status = Type.Enum(['enabled', 'disabled']);

const WebhookCreate = Type.Object(
  { url: Url, events: Type.Optional(Events), description: Type.Optional(Description) },
  { additionalProperties: false },
);
const WebhookUpdate = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    status: Type.Optional(Status),
  },
  { additionalProperties: false, minProperties: 1 },
);
const DEFAULT_OVERLAP_SECONDS = 86_400;
const SecretRotation = Type.Object(
  { overlap_seconds: Type.Integer({ minimum: 0, maximum: 604_800, default: DEFAULT_OVERLAP_SECONDS }) },
  { additionalProperties: false },
);

const shown = {
  id: Type.String(),
  url: Type.String(),
  events: Events,
  description: MaybeText,
  status: Status,
  disabled_reason: Type.Union([Type.Enum(['gone', 'failing', 'by_partner']), Type.Null()]),
  failing_since: MaybeTime,
  created_at: Time,
  updated_at: Time,
};
const WebhookData = Type.Object(shown);
const WebhookWithSecretData = Type.Object({
  ...shown,
  /** Null when a repeated request is answered, which then has `secret_shown`. */
  secret: MaybeText,
  secret_shown: Type.Optional(Type.Literal(true)),
  previous_secret_until: MaybeTime,
});

export interface WebhookParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly sealing: Pick<Sealing, 'seal'>;
  readonly testTargets: readonly TestTarget[];
}

export function webhookRoutes(
  app: ApiApp,
  { webhooks }: Pick<PartnerStores, 'webhooks'>,
  { clock, sealing, testTargets }: WebhookParts,
): void {
  /** Replaces the secret of the endpoint by a new one. */
  const rotate = async (
    request: FastifyRequest,
    id: string,
    until: number,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string }> => {
    const secret = newWebhookSecret().reveal();
    const sealed = sealing.seal('webhook secret', id, secret);
    const actor = actorOf(request);
    return {
      endpoint: found(await webhooks.rotateSecret(partnerOf(request), id, sealed, until, actor)),
      secret,
    };
  };

  app.post(
    '/webhooks',
    {
      schema: { body: WebhookCreate, response: { 201: WebhookWithSecretData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { url, events = [], description = null } = request.body;
      parseTarget(url, testTargets);
      reply.code(201);
      const earlier = earlierEffect(request);
      if (earlier !== undefined) {
        const { endpoint, secret } = await rotate(request, earlier, clock.now());
        return { ...shownEndpoint(endpoint), secret, previous_secret_until: null };
      }
      const secret = newWebhookSecret().reveal();
      const sealSecret = (id: string): string => sealing.seal('webhook secret', id, secret);
      const endpoint = { url, events, description, sealSecret };
      const made = await webhooks.create(partnerOf(request), endpoint, actorOf(request));
      return { ...shownEndpoint(made), secret, previous_secret_until: null };
    },
  );

  app.get(
    '/webhooks',
    {
      schema: { querystring: ListQuery({}), response: { 200: PageOf(WebhookData) } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const before = app.cursors.open('webhooks', {}, cursor);
      const { items, next } = await webhooks.list(partnerOf(request), { limit, before });
      return page(
        items.map(shownEndpoint),
        next === undefined ? null : app.cursors.seal('webhooks', {}, next),
      );
    },
  );

  app.get(
    '/webhooks/:id',
    {
      schema: { params: IdParams, response: { 200: WebhookData } },
      config: { scope: 'api' },
    },
    async (request) => shownEndpoint(found(await webhooks.get(partnerOf(request), request.params.id))),
  );

  app.patch(
    '/webhooks/:id',
    {
      schema: { params: IdParams, body: WebhookUpdate, response: { 200: WebhookData } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { body, params } = request;
      if (body.url !== undefined) parseTarget(body.url, testTargets);
      return shownEndpoint(
        found(await webhooks.patch(partnerOf(request), params.id, body, actorOf(request))),
      );
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      schema: { params: IdParams, response: { 200: DeletedData } },
      config: { scope: 'api' },
    },
    async (request): Promise<Static<typeof DeletedData>> => {
      const { id } = request.params;
      if (!(await webhooks.remove(partnerOf(request), id, actorOf(request)))) throw noEndpoint();
      return { id, deleted: true };
    },
  );

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      schema: { params: IdParams, body: SecretRotation, response: { 200: WebhookWithSecretData } },
      config: { scope: 'api', body: 'optional' },
    },
    async (request) => {
      const { id } = request.params;
      const { overlap_seconds: overlapSeconds } = request.body;
      const until = clock.now() + overlapSeconds * 1_000;
      const { endpoint, secret } = await rotate(request, id, until);
      const previousUntil = overlapSeconds === 0 ? null : timestamp(until);
      return { ...shownEndpoint(endpoint), secret, previous_secret_until: previousUntil };
    },
  );
}

/** Used for another partner's endpoint and for one that never existed alike. */
export function noEndpoint(): ApiError {
  return new ApiError('WEBHOOK_NOT_FOUND', 'There is no webhook endpoint with that id', {
    hint: 'GET /webhooks lists them.',
  });
}

function found(endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (endpoint === undefined) throw noEndpoint();
  return endpoint;
}

function shownEndpoint(endpoint: WebhookEndpoint): Static<typeof WebhookData> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: [...endpoint.events],
    description: endpoint.description,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    failing_since: maybeTimestamp(endpoint.failingSince),
    created_at: timestamp(endpoint.createdAt),
    updated_at: timestamp(endpoint.updatedAt),
  };
}
