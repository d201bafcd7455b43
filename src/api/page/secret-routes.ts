/** `POST /secrets` and the recovery kit: stores the secrets of destinations, and hands out the kit that opens them. */
import type { Static } from '../../base/schema-type.ts';
import { StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { ApiError } from '../wire/api-error.ts';
import { attachment } from '../routes/content-routes.ts';
import { badField } from '../routes/request-values.ts';
import type { ApiApp } from '../framework/route.ts';
import { RecoveryKit, SecretReference, SecretRequest } from '../schemas/page/protect.ts';
import type { ProtectParts } from './protect-parts.ts';

const TEXT = 'text/plain';

export function secretRoutes(
  app: ApiApp,
  parts: Pick<ProtectParts, 'keepSecret' | 'recoveryKit' | 'recoveryKitText' | 'confirmRecoveryKit'>,
): void {
  app.post(
    '/secrets',
    {
      config: { scope: 'page', idempotent: false },
      schema: { body: SecretRequest, response: { 200: SecretReference } },
    },
    async (request): Promise<Static<typeof SecretReference>> => {
      const { secret } = request.body;
      if (secret.includes('\0') || !secret.isWellFormed())
        throw badField('secret', 'is not text', 'A secret is text without NUL characters.');
      return await stateOrBusy(async () => await parts.keepSecret(secret));
    },
  );

  app.get(
    '/recovery-kit',
    { config: { scope: 'page' }, schema: { response: { 200: RecoveryKit } } },
    async () => await stateOrBusy(async () => await parts.recoveryKit()),
  );

  app.get('/recovery-kit/text', { config: { scope: 'page', produces: TEXT } }, async (_request, reply) => {
    const text = await stateOrBusy(async () => await parts.recoveryKitText());
    if (text === undefined) throw gone();
    reply
      .type(`${TEXT}; charset=utf-8`)
      .header('content-disposition', attachment('holdfast-recovery-kit.txt'))
      .header('cache-control', 'no-store');
    return text;
  });

  app.post(
    '/recovery-kit/confirm',
    { config: { scope: 'page' }, schema: { response: { 200: RecoveryKit } } },
    async () => await stateOrBusy(async () => await parts.confirmRecoveryKit()),
  );
}

/**
 * Reports failures in the state directory as a temporary problem: they are not the request's fault, and the response
 * should not name its paths.
 */
async function stateOrBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    throw new ApiError('SERVICE_UNAVAILABLE', 'The state directory of the agent cannot be used', {
      hint: `To find out why, run on the computer of the agent: ${holdfast`doctor`}`,
      cause: error,
    });
  }
}

function gone(): ApiError {
  return new ApiError('NOT_FOUND', 'The recovery kit is no longer on this computer', {
    hint: `Use the one that you saved, or create a new recovery code on the computer itself: ${holdfast`keys add --recovery-code`}`,
  });
}
