/** The form fields that say who a customer is, to add and to change one, and the page that changes them. */
import type { FastifyReply } from 'fastify';
import type { JSX } from 'preact';
import type { ApiApp } from '../../api/framework/route.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { noCustomer } from '../resources/customers.ts';
import { IdParams } from '../resources/values.ts';
import type { Customer } from '../store/customer-view.ts';
import {
  identityProblems,
  LONGEST_EMAIL,
  LONGEST_EXTERNAL_ID,
  LONGEST_NAME,
  newCustomer,
  typedCustomer,
  type TypedCustomer,
} from './customer-fields.ts';
import { button, field, form, FormBody, type Problems } from './forms.tsx';
import { sendPage } from './page.tsx';
import type { ConsoleParts } from './pages.ts';
import { CONSOLE_PREFIX, PAGE } from './routes.ts';
import { own } from './shown.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

export function identityFields(typed: TypedCustomer, problems: Problems): JSX.Element {
  return (
    <>
      {field({ name: 'name', label: 'Name', value: typed.name, longest: LONGEST_NAME }, problems)}
      {field(
        {
          name: 'email',
          label: 'E-mail',
          type: 'email',
          value: typed.email,
          optional: true,
          longest: LONGEST_EMAIL,
        },
        problems,
      )}
      {field(
        {
          name: 'external_id',
          label: 'Customer number',
          value: typed.externalId,
          optional: true,
          longest: LONGEST_EXTERNAL_ID,
          hint: 'Your own number or name for this customer. In the API, this is external_id.',
        },
        problems,
      )}
    </>
  );
}

/** The problem that another customer has that number; any other error is thrown. */
export function takenProblem(error: unknown): Problems {
  if (!(error instanceof ApiError) || error.code !== 'CUSTOMER_EXISTS') throw error;
  return {
    external_id: 'Another customer already has this number. Choose a different one, or leave this empty.',
  };
}

export function customerEditPage(app: ApiApp, { stores }: Pick<ConsoleParts, 'stores'>): void {
  const { customers } = stores;

  app.get('/customers/:id/edit', { schema: { params: IdParams }, config: PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const customer = await customers.get(visitor.partner.id, request.params.id);
    if (customer === undefined) throw noCustomer();
    const { name, email, externalId, planId } = customer;
    const typed = { name, email: email ?? '', externalId: externalId ?? '', planId };
    return showForm(reply, visitor, customer, typed, {});
  });

  app.post(
    '/customers/:id/edit',
    { schema: { params: IdParams, body: FormBody }, config: PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const { id } = visitor.partner;
      const customer = await customers.get(id, request.params.id);
      if (customer === undefined) throw noCustomer();
      const typed = typedCustomer(request.body);
      const problems = identityProblems(typed);
      if (Object.keys(problems).length > 0)
        return showForm(reply.code(400), visitor, customer, typed, problems);
      const { name, email, externalId } = newCustomer(typed);
      try {
        const fields = { name, email, externalId };
        if ((await customers.patch(id, customer.id, fields, pageActor(request))) === undefined)
          throw noCustomer();
      } catch (error) {
        return showForm(reply.code(409), visitor, customer, typed, takenProblem(error));
      }
      return reply.redirect(`${pathOf(customer)}?done=changed`, 303);
    },
  );
}

function pathOf({ id }: Customer): string {
  return `${CONSOLE_PREFIX}/customers/${encodeURIComponent(id)}`;
}

function showForm(
  reply: FastifyReply,
  visitor: Visitor,
  customer: Customer,
  typed: TypedCustomer,
  problems: Problems,
): FastifyReply {
  return sendPage(reply, {
    title: 'Change a customer',
    section: 'Customers',
    visitor,
    content: (
      <>
        <a class="back" href={pathOf(customer)}>
          ← {own(customer.name)}
        </a>
        <PageHead title="Change a customer" />
        <Card>
          {form(
            visitor,
            `${pathOf(customer)}/edit`,
            <>
              {identityFields(typed, problems)}
              {button('Save', 'main-action')}
            </>,
          )}
        </Card>
      </>
    ),
  });
}
