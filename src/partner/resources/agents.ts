/** Routes for agents: enrollment and, with the key from it, reports, plans and the stored snapshot heads. */
import { type ApiApp, ListQuery, page, PageOf } from '../../api/framework/route.ts';
import type { Clock } from '../../base/clock.ts';
import { NO_NUL, ONE_LINE } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { invalidKey } from '../request/caller.ts';
import { deviceOf } from '../request/visit.ts';
import type { SigningKey } from '../secrets/keys.ts';
import { planRevision, publicJwk, signOrder, signPlan } from '../signed/documents.ts';
import type { PartnerStores } from '../store/store.ts';
import {
  AgentVersion,
  headsOf,
  RefusedHeadData,
  ReportBody,
  reportOf,
  RepositoryId,
  shownRefusal,
} from './device-reports.ts';
import { requireLine, Time, timestamp } from './values.ts';

const EnrollmentRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 256, pattern: NO_NUL }),
    name: Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE }),
    platform: Type.String({ pattern: '^[a-z0-9]{1,20}-[a-z0-9_]{1,20}$' }),
    agent_version: AgentVersion,
  },
  { additionalProperties: false },
);

const SignedPlanData = Type.Object({ revision: Type.String(), document: Type.String() });

const EnrollmentData = Type.Object({
  /** Null when a repeated request is answered, which then has `secret_shown`. */
  secret: Type.Union([Type.String(), Type.Null()]),
  secret_shown: Type.Optional(Type.Literal(true)),
  device_id: Type.String(),
  customer_id: Type.String(),
  service_key: Type.Object({
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    x: Type.String(),
    kid: Type.String(),
  }),
  plan: SignedPlanData,
});

const ReceiptData = Type.Object({
  seq: Type.Integer(),
  duplicate: Type.Boolean(),
  number_taken: Type.Boolean(),
  highest_seq: Type.Integer(),
  plan_revision: Type.String(),
  orders: Type.Array(Type.String()),
  heads_refused: Type.Array(RefusedHeadData),
});

const HeadData = Type.Object({
  repository_id: RepositoryId,
  writer: Type.String(),
  seq: Type.Integer(),
  hash: Type.String(),
  device_id: Type.String(),
  told_at: Time,
});

export interface AgentParts {
  readonly stores: Pick<PartnerStores, 'enrollment' | 'heads' | 'orders' | 'reports'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly signing: SigningKey;
}

export function agentRoutes(app: ApiApp, { stores, clock, signing }: AgentParts): void {
  app.post(
    '/enroll',
    {
      schema: { body: EnrollmentRequest, response: { 201: EnrollmentData } },
      config: { scope: 'public' },
    },
    async (request, reply): Promise<Static<typeof EnrollmentData>> => {
      const { token, name, platform, agent_version: agentVersion } = request.body;
      requireLine('name', name);
      const facts = { name, platform, agentVersion };
      const running = request.visit?.running;
      const { key, ...caller } = await stores.enrollment.enroll(token, facts, request.ip, running);
      reply.code(201);
      return {
        secret: key,
        device_id: caller.device.id,
        customer_id: caller.device.customerId,
        service_key: publicJwk(signing),
        plan: await signPlan(caller, clock.now(), signing),
      };
    },
  );

  app.post(
    '/devices/self/reports',
    {
      schema: { body: ReportBody, response: { 200: ReceiptData } },
      config: { scope: 'device' },
    },
    async (request): Promise<Static<typeof ReceiptData>> => {
      const caller = deviceOf(request);
      const { partnerId, device } = caller;
      const { body, ip } = request;
      // Each of these steps can be repeated, because a report whose response was lost is sent again.
      const verdict = await stores.reports.accept(partnerId, device.id, reportOf(body));
      if (verdict === 'unknown') throw invalidKey('device');
      const teller = {
        partnerId,
        customerId: device.customerId,
        deviceId: device.id,
        reportSeq: body.seq,
        ip,
      };
      const refused = await stores.heads.remember(teller, headsOf(body));
      await stores.orders.take(partnerId, device.id, body.orders_taken ?? [], ip);
      const orders = await stores.orders.open(partnerId, device.id);
      return {
        seq: body.seq,
        duplicate: verdict === 'duplicate',
        number_taken: verdict === 'taken',
        highest_seq: Math.max(device.reportSeq, body.seq),
        plan_revision: planRevision(caller, clock.now()),
        orders: await Promise.all(orders.map(async (order) => await signOrder(order, signing))),
        heads_refused: refused.map(shownRefusal),
      };
    },
  );

  app.get(
    '/devices/self/plan',
    {
      schema: { response: { 200: SignedPlanData } },
      config: { scope: 'device' },
    },
    async (request): Promise<Static<typeof SignedPlanData>> => ({
      ...(await signPlan(deviceOf(request), clock.now(), signing)),
    }),
  );

  app.get(
    '/devices/self/heads',
    {
      schema: {
        querystring: ListQuery({ repository_id: RepositoryId }),
        response: { 200: PageOf(HeadData) },
      },
      config: { scope: 'device' },
    },
    async (request) => {
      const { partnerId, device } = deviceOf(request);
      const { limit, cursor, repository_id: repositoryId } = request.query;
      const filters = { customer_id: device.customerId, repository_id: repositoryId };
      const after = app.cursors.open('heads', filters, cursor);
      const query = { partnerId, customerId: device.customerId, repositoryId, limit, after };
      const { items, next } = await stores.heads.list(query);
      return page(
        items.map((head) => ({
          repository_id: head.repositoryId,
          writer: head.writer,
          seq: head.seq,
          hash: head.hash,
          device_id: head.deviceId,
          told_at: timestamp(head.toldAt),
        })),
        next === undefined ? null : app.cursors.seal('heads', filters, next),
      );
    },
  );
}
