/** Registers the routes and hooks of the settings page. */
import type { ApiApp } from '../../api/framework/route.ts';
import { ApiError } from '../../api/wire/api-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { PartnerLimits } from '../request/limits.ts';
import type { PartnerKeys } from '../secrets/keys.ts';
import type { PartnerStores } from '../store/store.ts';
import type { TestTarget } from '../webhooks/test-targets.ts';
import { accountPage } from './account.tsx';
import { activityPage } from './activity.tsx';
import { apiKeyPage } from './api-key.tsx';
import { customerPage } from './customer.tsx';
import { customerEditPage } from './customer-form.tsx';
import { customersPage } from './customers.tsx';
import {
  type Form,
  FORM_TYPE,
  MOST_FORM_BYTES,
  parseForm,
  requireFormToken,
  requireOwnOrigin,
} from './forms.tsx';
import { consoleFiles } from './page.tsx';
import { plansPage } from './plans.tsx';
import { createSeals, type Seals } from './seals.ts';
import { secondFactorPage } from './second-factor.tsx';
import { createSignInLimit, type SignInLimit } from './sign-in-limit.ts';
import { sendToSignIn, signInRoutes } from './sign-in.tsx';
import { usagePage } from './usage.tsx';
import { type Cookies, createCookies, findVisitor } from './visitor.ts';
import { webhookPage } from './webhook.tsx';
import { webhooksPage } from './webhooks.tsx';

export interface ConsoleOptions {
  readonly stores: PartnerStores;
  readonly clock: Pick<Clock, 'now'>;
  readonly keys: PartnerKeys;
  readonly limits: Pick<PartnerLimits, 'failedSignIns'>;
  /** Base URL at which partners reach the service; null for the address that it listens on. */
  readonly publicUrl: string | null;
  readonly testTargets: readonly TestTarget[];
}

/** What all pages share. */
export interface ConsoleParts extends ConsoleOptions {
  readonly cookies: Cookies;
  readonly seals: Seals;
  readonly signInLimit: SignInLimit;
}

/** Must be registered below the prefix of the page, in its own scope. */
export function consoleRoutes(app: ApiApp, options: ConsoleOptions): void {
  const { stores, keys, limits, publicUrl } = options;
  const parts: ConsoleParts = {
    ...options,
    cookies: createCookies(publicUrl?.startsWith('https:') === true),
    seals: createSeals(keys.forms),
    signInLimit: createSignInLimit(limits, stores.signIns),
  };
  takeForms(app);
  app.decorateRequest('visitor', null);
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'POST') requireOwnOrigin(request, publicUrl);
    const { scope, suspended } = request.routeOptions.config;
    if (scope === 'entry') return undefined;
    const visitor = await findVisitor(request, parts.cookies.session, parts.seals, stores);
    if (visitor === undefined) return sendToSignIn(request, reply);
    if (visitor.partner.status === 'suspended' && suspended !== 'allowed')
      throw new ApiError('PARTNER_SUSPENDED', 'This account is suspended');
    request.visitor = visitor;
    return undefined;
  });
  app.addHook('preValidation', async (request) => {
    if (request.method !== 'POST' || request.body instanceof Object) return;
    throw new ApiError('INVALID_REQUEST', 'The form arrived without its fields', { hint: 'Send it again.' });
  });
  app.addHook('preHandler', async (request) => {
    if (request.method === 'POST' && request.routeOptions.config.scope !== 'entry')
      requireFormToken(request, request.body as Form, parts.seals);
  });

  for (const { path, type, read } of Object.values(consoleFiles())) {
    app.get(path, { config: { scope: 'entry', produces: type } }, async (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type(`${type}; charset=utf-8`)
        .send(await read()),
    );
  }
  signInRoutes(app, parts);
  accountPage(app, parts);
  secondFactorPage(app, parts);
  apiKeyPage(app, parts);
  customersPage(app, parts);
  customerPage(app, parts);
  customerEditPage(app, parts);
  plansPage(app, parts);
  usagePage(app, parts);
  webhooksPage(app, parts);
  webhookPage(app, parts);
  activityPage(app, parts);
}

/** Makes the routes accept forms and no other bodies. */
function takeForms(app: ApiApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    FORM_TYPE,
    { parseAs: 'buffer', bodyLimit: MOST_FORM_BYTES },
    async (_request: unknown, body: Buffer) => parseForm(body),
  );
}
