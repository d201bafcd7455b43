/** The page that sets up and removes the second factor. It applies only once a code proves that an app has the secret. */
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { Secret } from '../../ui/components/own-text.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import type { ConsoleParts } from './pages.ts';
import { button, field, form, type Form, FormBody, hidden, type Problems } from './forms.tsx';
import type { JSX } from 'preact';
import { sendPage } from './page.tsx';
import { ACCOUNT_PAGE, CONSOLE_PREFIX } from './routes.ts';
import { tag } from './shown.tsx';
import { isOwnPassword } from './sign-in.tsx';
import { newTotpSecret, totpStep, totpUri } from './totp.ts';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

const PATH = `${CONSOLE_PREFIX}/second-factor`;

const WRONG_PASSWORD = 'Wrong password. Enter the one you sign in with.';
const WRONG_CODE =
  'This code is wrong or has expired. Check that the clock on your phone is right, and enter the next code.';

export function secondFactorPage(app: ApiApp, parts: ConsoleParts): void {
  const {
    stores,
    clock,
    keys: { sealing },
  } = parts;

  app.get('/second-factor', { config: ACCOUNT_PAGE }, async (request, reply) =>
    show(reply, visitorOf(request), newTotpSecret()),
  );

  app.post('/second-factor', { schema: { body: FormBody }, config: ACCOUNT_PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { id } = visitor.partner;
    const secret = opened(id, request.body.text('sealed'));
    const step = totpStep(secret, request.body.text('code'), clock.now());
    const problems = await problemsOf(visitor, request, step);
    if (step === undefined || Object.keys(problems).length > 0)
      return show(reply.code(400), visitor, secret, { setUp: problems });
    await stores.partners.setTotp(id, sealing.seal('second factor', id, secret), pageActor(request));
    // Uses up the typed code, so that somebody who saw it cannot sign in with it.
    await stores.partners.takeTotpStep(id, step);
    return reply.redirect(`${CONSOLE_PREFIX}?done=factor-set`, 303);
  });

  app.post(
    '/second-factor/remove',
    { schema: { body: FormBody }, config: ACCOUNT_PAGE },
    async (request, reply) => {
      const visitor = visitorOf(request);
      const password = request.body.secret('removing_password');
      if (!(await isOwnPassword(parts, visitor, { password, address: request.ip }))) {
        const remove = { removing_password: WRONG_PASSWORD };
        return show(reply.code(400), visitor, newTotpSecret(), { remove });
      }
      await stores.partners.setTotp(visitor.partner.id, null, pageActor(request));
      return reply.redirect(`${CONSOLE_PREFIX}?done=factor-removed`, 303);
    },
  );

  /**
   * The secret that the page showed.
   * @throws {ApiError} INVALID_REQUEST when it was not made for this account
   */
  function opened(id: string, sealed: string): string {
    try {
      return sealing.open('second factor', id, sealed);
    } catch (cause) {
      throw new ApiError('INVALID_REQUEST', 'This form is no longer valid', {
        hint: 'Open the page again.',
        cause,
      });
    }
  }

  async function problemsOf(
    visitor: Visitor,
    { body, ip: address }: { readonly body: Form; readonly ip: string },
    step: number | undefined,
  ): Promise<Problems> {
    const password = body.secret('password');
    if (!(await isOwnPassword(parts, visitor, { password, address }))) return { password: WRONG_PASSWORD };
    return step === undefined ? { code: WRONG_CODE } : {};
  }

  function show(
    reply: FastifyReply,
    visitor: Visitor,
    secret: string,
    { setUp = {}, remove = {} }: { readonly setUp?: Problems; readonly remove?: Problems } = {},
  ): FastifyReply {
    const { id, hasTotp } = visitor.partner;
    const sealed = sealing.seal('second factor', id, secret);
    return sendPage(reply, {
      title: 'Second factor',
      section: 'Account',
      visitor,
      content: (
        <>
          <a class="back" href={CONSOLE_PREFIX}>
            ← Account
          </a>
          <PageHead title={<>Second factor {hasTotp ? tag('On', 'good') : tag('Off')}</>} />
          {setUpCard(visitor, secret, sealed, setUp)} {hasTotp ? removeCard(visitor, remove) : null}
        </>
      ),
    });
  }
}

function setUpCard(visitor: Visitor, secret: string, sealed: string, problems: Problems): JSX.Element {
  const { email, hasTotp } = visitor.partner;
  return (
    <Card title={hasTotp ? 'Replace it' : 'Set it up'}>
      <p>
        Enter this in an authenticator app, or <a href={totpUri(secret, email)}>open it in one</a> on this
        device.
      </p>
      <Secret label="Secret for the app">{secret.match(/.{1,4}/g)?.join(' ') ?? ''}</Secret>
      <details>
        <summary>As a link, for apps that accept one</summary>
        <pre>{totpUri(secret, email)}</pre>
      </details>
      <h3>Then confirm it</h3>
      {form(
        visitor,
        PATH,
        <>
          {hidden('sealed', sealed)}
          {field(
            {
              name: 'code',
              label: 'Code',
              hint: 'The six digits your app shows now.',
              autocomplete: 'one-time-code',
              inputmode: 'numeric',
              longest: 10,
            },
            problems,
          )}
          {field(
            { name: 'password', label: 'Your password', type: 'password', autocomplete: 'current-password' },
            problems,
          )}
          {button('Turn on', 'main-action')}
        </>,
      )}
    </Card>
  );
}

function removeCard(visitor: Visitor, problems: Problems): JSX.Element {
  return (
    <Card title="Remove it">
      <p>You can then sign in with your password alone.</p>
      {form(
        visitor,
        `${PATH}/remove`,
        <>
          {field(
            {
              name: 'removing_password',
              label: 'Your password',
              type: 'password',
              autocomplete: 'current-password',
            },
            problems,
          )}
          {button('Remove the second factor', 'danger')}
        </>,
      )}
    </Card>
  );
}
