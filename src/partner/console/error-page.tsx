/** Shows errors of the settings page as pages that say what to do. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../api/wire/api-error.ts';
import { Logo } from '../../ui/components/frame.tsx';
import { sendPage } from './page.tsx';
import { CONSOLE_PREFIX } from './routes.ts';

/** Title and advice for codes whose API messages would mislead here. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  NOT_FOUND: ['There is no such page', 'Check the address, or begin at the first page.'],
  METHOD_NOT_ALLOWED: ['This address takes forms only', 'Begin at the first page.'],
  UNSUPPORTED_MEDIA_TYPE: ['This address takes forms only', 'Begin at the first page.'],
  PAYLOAD_TOO_LARGE: ['That was too much at once', 'A form may hold 64 KiB. Go back, and shorten it.'],
  UNKNOWN_FIELD: ['There is no such page', 'Something in the address after the question mark is not known.'],
  SERVICE_UNAVAILABLE: ['The service cannot answer now', 'Try again in a minute.'],
  SHUTTING_DOWN: ['The service is being restarted', 'Try again in a minute.'],
  CUSTOMER_NOT_FOUND: ['There is no such customer', 'It may have been deleted.'],
  DEVICE_NOT_FOUND: ['There is no such device', 'It may have been removed already.'],
  WEBHOOK_NOT_FOUND: ['There is no such webhook', 'It may have been deleted.'],
  DELIVERY_NOT_FOUND: ['There is no such delivery', 'Deliveries are kept for 90 days.'],
  PARTNER_SUSPENDED: ['This account is suspended', 'Ask the provider of this service.'],
};

const TITLES: Readonly<Record<string, string>> = {
  RATE_LIMIT_EXCEEDED: 'Too many attempts',
  ORIGIN_NOT_ALLOWED: 'This form came from elsewhere',
  FORBIDDEN: 'This form cannot be used any more',
};

export function sendErrorPage(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  const unforeseen = error.code === 'INTERNAL_ERROR';
  if (unforeseen) request.log.error({ err: error.cause, request_id: request.id }, 'A page failed');
  const [title, text] = unforeseen
    ? ['Something went wrong', `Try again. If it stays so, tell the provider this number: ${request.id}`]
    : (WORDS[error.code] ?? [TITLES[error.code] ?? 'This did not work', error.message]);
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
              To the settings page
            </a>
          </p>
        </div>
      </>
    ),
  });
}
