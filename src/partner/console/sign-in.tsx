/** The sign-in pages: address and password, then a code where a second factor is set up. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiApp } from '../../api/framework/route.ts';
import { Type } from '../../base/schema-type.ts';
import { isPassword } from '../secrets/passwords.ts';
import type { PartnerLogin } from '../store/partners.ts';
import { Logo } from '../../ui/components/frame.tsx';
import type { ConsoleParts } from './pages.ts';
import { button, field, type Form, FormBody, hidden, type Problems } from './forms.tsx';
import type { JSX } from 'preact';
import { type Notice, sendPage } from './page.tsx';
import { CONSOLE_PREFIX, ENTRY, isConsolePath } from './routes.ts';
import { totpStep } from './totp.ts';
import { findVisitor, pageActor, type Visitor } from './visitor.ts';

export const SIGN_IN_PATH = `${CONSOLE_PREFIX}/sign-in`;

const SignInQuery = Type.Object(
  {
    next: Type.Optional(Type.String({ maxLength: 500 })),
    out: Type.Optional(Type.String({ maxLength: 10 })),
  },
  { additionalProperties: false },
);

/** How long after the password the code may be entered. */
const TICKET_MS = 5 * 60_000;

const WRONG = 'E-mail or password is wrong. Check both, and try again.';
const WRONG_CODE = 'This code is not valid, or was used before. Wait for the next one your app shows.';
const SIGNED_OUT: Notice = { kind: 'good', text: 'You are signed out.' };

export function signInRoutes(app: ApiApp, parts: ConsoleParts): void {
  const { stores, clock, cookies, seals, signInLimit } = parts;

  app.get('/sign-in', { schema: { querystring: SignInQuery }, config: ENTRY }, async (request, reply) => {
    const { next, out } = request.query;
    if ((await findVisitor(request, cookies.session, seals, stores)) !== undefined)
      return reply.redirect(CONSOLE_PREFIX, 303);
    return sendPage(reply, {
      title: 'Sign in',
      notice: out === undefined ? undefined : SIGNED_OUT,
      content: passwordForm('', next ?? ''),
    });
  });

  app.post('/sign-in', { schema: { body: FormBody }, config: ENTRY }, async (request, reply) => {
    const form = request.body;
    const [email, next] = [form.text('email'), form.text('next')];
    const login = await stores.partners.findLogin(email);
    const browser = knownBrowser(request, login);
    const attempt = await signInLimit.begin({ account: email, address: request.ip, browser });
    const matches = await isPassword(form.secret('password'), login?.passwordHash);
    if (!matches || login === undefined) {
      reply.code(401);
      return sendPage(reply, {
        title: 'Sign in',
        content: passwordForm(email, next, { password: WRONG }),
      });
    }
    await attempt.succeeded();
    if (login.totpSecret === null) return await begin(login, next, request, reply);
    const ticket = seals.ticket(login, clock.now() + TICKET_MS);
    return sendPage(reply, { title: 'Code', content: codeForm(email, ticket, next) });
  });

  app.post('/sign-in/code', { schema: { body: FormBody }, config: ENTRY }, async (request, reply) => {
    const form = request.body;
    const [email, ticket, next] = [form.text('email'), form.text('ticket'), form.text('next')];
    const login = await stores.partners.findLogin(email);
    if (login === undefined || login.totpSecret === null || !seals.isTicket(login, clock.now(), ticket)) {
      reply.code(401);
      return sendPage(reply, {
        title: 'Sign in',
        notice: { kind: 'bad', text: 'That took too long. Sign in again.' },
        content: passwordForm(email, next),
      });
    }
    const browser = knownBrowser(request, login);
    const attempt = await signInLimit.begin({
      account: login.id,
      address: request.ip,
      browser,
      isCode: true,
    });
    if (!(await isCode(form, login))) {
      reply.code(401);
      return sendPage(reply, {
        title: 'Code',
        content: codeForm(email, ticket, next, { code: WRONG_CODE }),
      });
    }
    await attempt.succeeded();
    return await begin(login, next, request, reply);
  });

  /** The browser's cookie, when that account has signed in with it. */
  function knownBrowser(request: FastifyRequest, login: PartnerLogin | undefined): string | undefined {
    const browser = cookies.browser.read(request.raw);
    if (login === undefined || browser === undefined) return undefined;
    return seals.isBrowser(login.id, browser) ? browser : undefined;
  }

  async function isCode(form: Form, { id, totpSecret }: PartnerLogin): Promise<boolean> {
    if (totpSecret === null) return false;
    const secret = parts.keys.sealing.open('second factor', id, totpSecret);
    const step = totpStep(secret, form.text('code'), clock.now());
    return step !== undefined && (await stores.partners.takeTotpStep(id, step));
  }

  async function begin(
    login: PartnerLogin,
    next: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { token } = await stores.sessions.create(login.id, pageActor(request));
    const browser = knownBrowser(request, login) ?? seals.newBrowser(login.id);
    reply.header('set-cookie', [cookies.session.keep(token), cookies.browser.keep(browser)]);
    return reply.redirect(safeNext(next), 303);
  }
}

/** Redirects a visitor without a session to sign in. Afterwards they return to the page, if the request was a GET. */
export function sendToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = request.method === 'GET' && request.url !== CONSOLE_PREFIX ? request.url : undefined;
  const path = next === undefined ? SIGN_IN_PATH : `${SIGN_IN_PATH}?next=${encodeURIComponent(next)}`;
  return reply.redirect(path, 303);
}

/**
 * Restricts a redirect to pages of the settings, as the browser will interpret it: parts such as `..` could lead
 * elsewhere.
 */
export function safeNext(next: string): string {
  const isPlain = /^(?:\/[\w-]+)+(?:\?[\w=&-]*)?$/.test(next);
  return isPlain && isConsolePath(next.split('?', 1)[0] ?? '') ? next : CONSOLE_PREFIX;
}

/**
 * Whether the password is that of the signed-in partner. Counts like a sign-in.
 * @throws {ApiError} RATE_LIMIT_EXCEEDED
 */
export async function isOwnPassword(
  { stores, signInLimit }: Pick<ConsoleParts, 'stores' | 'signInLimit'>,
  { partner: { email }, formToken }: Visitor,
  { password, address }: { readonly password: string; readonly address: string },
): Promise<boolean> {
  const attempt = await signInLimit.begin({ account: email, address, browser: formToken });
  const login = await stores.partners.findLogin(email);
  const matches = await isPassword(password, login?.passwordHash);
  if (matches) await attempt.succeeded();
  return matches;
}

function passwordForm(email: string, next: string, problems: Problems = {}): JSX.Element {
  return (
    <>
      <div class="centered">
        <div class="mark">
          <Logo size={44} />
        </div>
        <h1>Sign in to Holdfast Partner</h1>
      </div>
      <form class="card" method="post" action={SIGN_IN_PATH}>
        {hidden('next', next)}
        {field(
          { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' },
          problems,
        )}
        {field(
          { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
          problems,
        )}
        {button('Sign in', 'main-action')}
      </form>
    </>
  );
}

function codeForm(email: string, ticket: string, next: string, problems: Problems = {}): JSX.Element {
  return (
    <>
      <div class="centered">
        <div class="mark">
          <Logo size={44} />
        </div>
        <h1>One more step</h1>
      </div>
      <form class="card" method="post" action={`${SIGN_IN_PATH}/code`}>
        {hidden('next', next)}
        {hidden('email', email)}
        {hidden('ticket', ticket)}
        {field(
          {
            name: 'code',
            label: 'Code',
            hint: 'The six digits your authenticator app shows now.',
            autocomplete: 'one-time-code',
            inputmode: 'numeric',
            longest: 10,
          },
          problems,
        )}
        {button('Sign in', 'main-action')}
      </form>
    </>
  );
}
