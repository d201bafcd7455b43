/** Routes for the devices of a partner's customers, the tokens that they enroll with, and orders. */
import { ApiError } from '../../api/wire/api-error.ts';
import { type ApiApp, ListQuery, PageOf, page } from '../../api/framework/route.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { actorOf, earlierEffect, partnerOf } from '../request/visit.ts';
import type { Device } from '../store/devices.ts';
import { ORDER_KINDS, type Order } from '../store/orders.ts';
import type { PartnerStores } from '../store/store.ts';
import { noCustomer } from './customers.ts';
import {
  Bytes,
  Count,
  DeletedData,
  IdParams,
  LastBackupData,
  MaybeTime,
  Time,
  maybeTimestamp,
  shownBackup,
  timestamp,
} from './values.ts';

const EnrollmentTokenData = Type.Object({
  /** Null when a repeated request is answered, which then has `secret_shown`. */
  secret: Type.Union([Type.String(), Type.Null()]),
  secret_shown: Type.Optional(Type.Literal(true)),
  customer_id: Type.String(),
  created_at: Time,
  expires_at: Time,
});

const DeviceData = Type.Object({
  id: Type.String(),
  customer_id: Type.String(),
  name: Type.String(),
  platform: Type.String(),
  agent_version: Type.String(),
  enrolled_at: Time,
  last_seen_at: MaybeTime,
  last_backup: LastBackupData,
  storage_used_bytes: Bytes,
  expected_every_seconds: Type.Union([Count, Type.Null()]),
  missed_since: MaybeTime,
});

const OrderKindName = Type.Enum([...ORDER_KINDS]);
const OrderCreate = Type.Object({ order: OrderKindName }, { additionalProperties: false });
const OrderData = Type.Object({
  id: Type.String(),
  device_id: Type.String(),
  order: OrderKindName,
  created_at: Time,
  expires_at: Time,
});

type Stores = Pick<PartnerStores, 'customers' | 'devices' | 'enrollment' | 'orders'>;

export function deviceRoutes(app: ApiApp, { customers, devices, enrollment, orders }: Stores): void {
  app.post(
    '/customers/:id/enrollment-tokens',
    {
      schema: { params: IdParams, response: { 201: EnrollmentTokenData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { id } = request.params;
      const made = await enrollment.createToken(partnerOf(request), id, actorOf(request));
      if (made === undefined) throw noCustomer();
      reply.code(201);
      return {
        secret: made.token,
        customer_id: id,
        created_at: timestamp(made.createdAt),
        expires_at: timestamp(made.expiresAt),
      };
    },
  );

  app.get(
    '/customers/:id/devices',
    {
      schema: { params: IdParams, querystring: ListQuery({}), response: { 200: PageOf(DeviceData) } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { id } = request.params;
      const { limit, cursor } = request.query;
      const filters = { customer_id: id };
      const before = app.cursors.open('devices', filters, cursor);
      if ((await customers.get(partnerOf(request), id)) === undefined) throw noCustomer();
      const { items, next } = await devices.list(partnerOf(request), id, { limit, before });
      return page(
        items.map(shownDevice),
        next === undefined ? null : app.cursors.seal('devices', filters, next),
      );
    },
  );

  app.get(
    '/devices/:id',
    {
      schema: { params: IdParams, response: { 200: DeviceData } },
      config: { scope: 'api' },
    },
    async (request) => {
      const device = await devices.get(partnerOf(request), request.params.id);
      if (device === undefined) throw noDevice();
      return shownDevice(device);
    },
  );

  app.delete(
    '/devices/:id',
    {
      schema: { params: IdParams, response: { 200: DeletedData } },
      config: { scope: 'api' },
    },
    async (request): Promise<Static<typeof DeletedData>> => {
      const { id } = request.params;
      if (!(await devices.remove(partnerOf(request), id, actorOf(request)))) throw noDevice();
      return { id, deleted: true };
    },
  );

  app.post(
    '/devices/:id/orders',
    {
      schema: { params: IdParams, body: OrderCreate, response: { 201: OrderData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { id } = request.params;
      const earlier = earlierEffect(request);
      const order =
        earlier === undefined
          ? await orders.create(partnerOf(request), id, request.body.order, actorOf(request))
          : await orders.get(partnerOf(request), id, earlier);
      if (order === undefined) throw noDevice();
      reply.code(201);
      return shownOrder(order);
    },
  );
}

/** Used for another partner's device and for one that never existed alike. */
function noDevice(): ApiError {
  return new ApiError('DEVICE_NOT_FOUND', 'There is no device with that id', {
    hint: 'GET /customers/{id}/devices lists those of a customer.',
  });
}

function shownDevice(device: Device): Static<typeof DeviceData> {
  return {
    id: device.id,
    customer_id: device.customerId,
    name: device.name,
    platform: device.platform,
    agent_version: device.agentVersion,
    enrolled_at: timestamp(device.enrolledAt),
    last_seen_at: maybeTimestamp(device.lastSeenAt),
    last_backup: shownBackup(device.lastBackup),
    storage_used_bytes: device.storageUsedBytes,
    expected_every_seconds: device.expectedEverySeconds,
    missed_since: maybeTimestamp(device.missedSince),
  };
}

function shownOrder(order: Order): Static<typeof OrderData> {
  return {
    id: order.id,
    device_id: order.deviceId,
    order: order.kind,
    created_at: timestamp(order.createdAt),
    expires_at: timestamp(order.expiresAt),
  };
}
