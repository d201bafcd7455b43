/** Routes for credentials of the Desktop API. A secret is shown only in the response that creates it. */
import { Type } from '../../base/schema-type.ts';
import { RequestError } from '../../base/errors.ts';
import type {
  Credentials as CredentialBook,
  CredentialInfo,
  NewCredential as Made,
} from '../access/credentials.ts';
import { maybeTimestamp, timestamp } from '../presentation/values.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  type Credential,
  Credentials,
  NewCredential,
  NewCredentialRequest,
} from '../schemas/page/settings.ts';

export interface CredentialParts {
  readonly credentials: Pick<CredentialBook, 'list' | 'create' | 'rotate' | 'revoke'>;
}

const Nothing = Type.Object({});
const KeyParams = Type.Object({ key: Type.String({ maxLength: 128 }) });

export function credentialRoutes(app: ApiApp, { credentials }: CredentialParts): void {
  app.get(
    '/credentials',
    { config: { scope: 'page' }, schema: { response: { 200: Credentials } } },
    async () => ({ items: active().map(shown) }),
  );

  app.post(
    '/credentials',
    {
      config: { scope: 'page', idempotent: false },
      schema: { body: NewCredentialRequest, response: { 201: NewCredential } },
    },
    async (request, reply) => {
      reply.code(201);
      return withSecret(credentials.create(request.body.name));
    },
  );

  app.post(
    '/credentials/:key/rotate',
    {
      config: { scope: 'page', idempotent: false },
      schema: { params: KeyParams, response: { 200: NewCredential } },
    },
    async (request) => withSecret(credentials.rotate(request.params.key)),
  );

  app.delete(
    '/credentials/:key',
    { config: { scope: 'page' }, schema: { params: KeyParams, response: { 200: Nothing } } },
    async (request) => {
      credentials.revoke(request.params.key);
      return {};
    },
  );

  function active(): readonly CredentialInfo[] {
    return credentials.list().filter(({ revoked_at: revoked }) => revoked === null);
  }

  function withSecret({ api_key: key, secret }: Made): NewCredential {
    const made = active().find((one) => one.api_key === key);
    if (made !== undefined) return { ...shown(made), secret };
    throw new RequestError('NOT_FOUND', 'The credential was revoked in the meantime', {
      hint: 'List the credentials to see the active ones.',
    });
  }
}

function shown({
  api_key: key,
  name,
  created_at: createdAt,
  last_used_at: usedAt,
}: CredentialInfo): Credential {
  return { api_key: key, name, created_at: timestamp(createdAt), last_used_at: maybeTimestamp(usedAt) };
}
