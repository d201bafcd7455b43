/** Routes for the customers of a partner, whose machines are backed up. */
import { ApiError } from '../../api/wire/api-error.ts';
import { type ApiApp, ListQuery, PageOf, page } from '../../api/framework/route.ts';
import { BugError } from '../../base/errors.ts';
import { NO_NUL, ONE_LINE } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { actorOf, earlierEffect, partnerOf } from '../request/visit.ts';
import type { Customer } from '../store/customer-view.ts';
import type { NewCustomer } from '../store/customers.ts';
import type { PartnerStores } from '../store/store.ts';
import {
  Bytes,
  Count,
  DeletedData,
  IdParams,
  LastBackupData,
  MaybeText,
  MaybeTime,
  Time,
  maybeTimestamp,
  requireLine,
  shownBackup,
  timestamp,
} from './values.ts';

const MetadataValue = Type.String({ maxLength: 500, pattern: NO_NUL });
const Metadata = Type.Record(Type.String(), MetadataValue, {
  // The pattern that describes names of a record does not match a name with a line break.
  additionalProperties: MetadataValue,
  maxProperties: 50,
  propertyNames: { minLength: 1, maxLength: 40, pattern: ONE_LINE },
});
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE });
const Email = Type.Union([Type.String({ format: 'email', maxLength: 254 }), Type.Null()]);
const ExternalId = Type.Union([
  Type.String({ minLength: 1, maxLength: 255, pattern: ONE_LINE }),
  Type.Null(),
]);
const PlanId = Type.String({ minLength: 1, maxLength: 128, pattern: NO_NUL });

const optional = {
  email: Type.Optional(Email),
  external_id: Type.Optional(ExternalId),
  plan_id: Type.Optional(PlanId),
  metadata: Type.Optional(Metadata),
};
const CustomerCreate = Type.Object({ name: Name, ...optional }, { additionalProperties: false });
const CustomerUpdate = Type.Object(
  { name: Type.Optional(Name), ...optional },
  { additionalProperties: false, minProperties: 1 },
);

const CustomerData = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: MaybeText,
  external_id: MaybeText,
  plan_id: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  status: Type.Enum(['active', 'suspended']),
  trial_ends_at: MaybeTime,
  storage_used_bytes: Bytes,
  storage_limit_bytes: Bytes,
  devices_count: Count,
  last_backup: LastBackupData,
  created_at: Time,
  updated_at: Time,
});

const CustomerFilters = {
  status: Type.Optional(Type.Enum(['active', 'suspended'])),
  plan_id: Type.Optional(PlanId),
  external_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: NO_NUL })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: NO_NUL })),
  trial_ends_before: Type.Optional(Time),
};

type Stores = Pick<PartnerStores, 'customers' | 'plans'>;

export function customerRoutes(app: ApiApp, { customers, plans }: Stores): void {
  app.post(
    '/customers',
    {
      schema: { body: CustomerCreate, response: { 201: CustomerData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { name, email = null, external_id: externalId = null, metadata = {} } = request.body;
      requireLine('name', name);
      requireLine('external_id', externalId);
      for (const key of Object.keys(metadata)) requireLine('metadata', key);
      const planId = request.body.plan_id ?? (await plans.findBySlug('free_trial'))?.id;
      if (planId === undefined) throw new BugError('there is no free trial');
      const customer = { name, email, externalId, planId, metadata };
      reply.code(201);
      const earlier = earlierEffect(request);
      if (earlier !== undefined) return found(await customers.get(partnerOf(request), earlier));
      return shownCustomer(await customers.create(partnerOf(request), customer, actorOf(request)));
    },
  );

  app.get(
    '/customers',
    {
      schema: { querystring: ListQuery(CustomerFilters), response: { 200: PageOf(CustomerData) } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { limit, cursor, ...filters } = request.query;
      const before = app.cursors.open('customers', filters, cursor);
      const { items, next } = await customers.list(partnerOf(request), {
        limit,
        before,
        status: filters.status,
        planId: filters.plan_id,
        externalId: filters.external_id,
        search: filters.q,
        trialEndsBefore:
          filters.trial_ends_before === undefined ? undefined : Date.parse(filters.trial_ends_before),
      });
      return page(
        items.map(shownCustomer),
        next === undefined ? null : app.cursors.seal('customers', filters, next),
      );
    },
  );

  app.get(
    '/customers/:id',
    {
      schema: { params: IdParams, response: { 200: CustomerData } },
      config: { scope: 'api' },
    },
    async (request) => found(await customers.get(partnerOf(request), request.params.id)),
  );

  app.patch(
    '/customers/:id',
    {
      schema: { params: IdParams, body: CustomerUpdate, response: { 200: CustomerData } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { params, body } = request;
      requireLine('name', body.name);
      requireLine('external_id', body.external_id);
      for (const key of Object.keys(body.metadata ?? {})) requireLine('metadata', key);
      const changes = changesOf(body);
      return found(await customers.patch(partnerOf(request), params.id, changes, actorOf(request)));
    },
  );

  app.delete(
    '/customers/:id',
    {
      schema: { params: IdParams, response: { 200: DeletedData } },
      config: { scope: 'api' },
    },
    async (request): Promise<Static<typeof DeletedData>> => {
      const { id } = request.params;
      if (!(await customers.remove(partnerOf(request), id, actorOf(request)))) throw noCustomer();
      return { id, deleted: true };
    },
  );

  for (const action of ['suspend', 'resume'] as const) {
    app.post(
      `/customers/:id/${action}`,
      {
        schema: { params: IdParams, response: { 200: CustomerData } },
        config: { scope: 'api' },
      },
      async (request) => {
        const { id } = request.params;
        // A repeated request does not undo what others have changed since.
        if (earlierEffect(request) !== undefined) return found(await customers.get(partnerOf(request), id));
        return found(await customers[action](partnerOf(request), id, actorOf(request)));
      },
    );
  }
}

/** Used for another partner's customer and for one that never existed alike. */
export function noCustomer(): ApiError {
  return new ApiError('CUSTOMER_NOT_FOUND', 'There is no customer with that id', {
    hint: 'GET /customers lists them.',
  });
}

function found(customer: Customer | undefined): Static<typeof CustomerData> {
  if (customer === undefined) throw noCustomer();
  return shownCustomer(customer);
}

function changesOf(body: Static<typeof CustomerUpdate>): Partial<NewCustomer> {
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.email === undefined ? {} : { email: body.email }),
    ...(body.external_id === undefined ? {} : { externalId: body.external_id }),
    ...(body.plan_id === undefined ? {} : { planId: body.plan_id }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
  };
}

function shownCustomer(customer: Customer): Static<typeof CustomerData> {
  return {
    id: customer.id,
    name: customer.name,
    email: customer.email,
    external_id: customer.externalId,
    plan_id: customer.planId,
    metadata: { ...customer.metadata },
    status: customer.status,
    trial_ends_at: maybeTimestamp(customer.trialEndsAt),
    storage_used_bytes: customer.storageUsedBytes,
    storage_limit_bytes: customer.storageLimitBytes,
    devices_count: customer.devicesCount,
    last_backup: shownBackup(customer.lastBackup),
    created_at: timestamp(customer.createdAt),
    updated_at: timestamp(customer.updatedAt),
  };
}
