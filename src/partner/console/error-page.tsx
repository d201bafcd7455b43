/** Shows errors of the settings page as pages that say what to do. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../api/wire/api-error.ts';
import { Logo } from '../../ui/components/frame.tsx';
import { sendPage } from './page.tsx';
import { CONSOLE_PREFIX } from './routes.ts';

/** Title and advice for codes whose API messages would mislead here. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  NOT_FOUND: ['Page not found', 'Check the address, or start from the settings page.'],
  METHOD_NOT_ALLOWED: ['This address accepts only forms', 'Start from the settings page.'],
  UNSUPPORTED_MEDIA_TYPE: ['This address accepts only forms', 'Start from the settings page.'],
  PAYLOAD_TOO_LARGE: ['That was too much at once', 'A form can hold at most 64 KiB. Go back and shorten it.'],
  UNKNOWN_FIELD: ['Page not found', 'Something after the question mark in the address is not valid.'],
  SERVICE_UNAVAILABLE: ['The service is not available right now', 'Try again in a minute.'],
  SHUTTING_DOWN: ['The service is restarting', 'Try again in a minute.'],
  CUSTOMER_NOT_FOUND: ['Customer not found', 'It may have been deleted.'],
  DEVICE_NOT_FOUND: ['Device not found', 'It may have been removed already.'],
  WEBHOOK_NOT_FOUND: ['Webhook not found', 'It may have been deleted.'],
  DELIVERY_NOT_FOUND: ['Delivery not found', 'Deliveries are kept for 90 days.'],
  PARTNER_SUSPENDED: ['This account is suspended', 'Contact the provider of this service.'],
};

const TITLES: Readonly<Record<string, string>> = {
  RATE_LIMIT_EXCEEDED: 'Too many attempts',
  ORIGIN_NOT_ALLOWED: 'This form came from another site',
  FORBIDDEN: 'This form is no longer valid',
};

export function sendErrorPage(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  const unforeseen = error.code === 'INTERNAL_ERROR';
  if (unforeseen) request.log.error({ err: error.cause, request_id: request.id }, 'A page failed');
  const [title, text] = unforeseen
    ? [
        'Something went wrong',
        `Try again. If it keeps happening, give the provider this number: ${request.id}`,
      ]
    : (WORDS[error.code] ?? [TITLES[error.code] ?? 'That did not work', error.message]);
  reply.code(error.statusCode).headers(error.headers);
  sendPage(reply, {
    title,
    content: (
      <>
        <div class="centered">
          <div class="mark">
            <Logo size={44} />
          </div>
          <h1>{title}</h1>
        </div>
        <div class="card">
          <p>{text}</p>
          <p>
            <a class="button wide" href={CONSOLE_PREFIX}>
              Go to the settings page
            </a>
          </p>
        </div>
      </>
    ),
  });
}
