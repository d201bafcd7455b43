/** The account page: the partner's data, password, second factor, and sessions. */
import type { FastifyReply } from 'fastify';
import type { ApiApp } from '../../api/framework/route.ts';
import { RequestError } from '../../base/errors.ts';
import { hashPassword } from '../secrets/passwords.ts';
import type { KnownSession } from '../store/sessions.ts';
import { Actions } from '../../ui/components/button.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Card, PageHead } from '../../ui/components/card.tsx';
import { soon } from './concerns.tsx';
import type { ConsoleParts } from './pages.ts';
import { button, field, form, type Form, FormBody, type Problems } from './forms.tsx';
import type { JSX } from 'preact';
import { DoneQuery, type Notice, noticeFor, sendPage } from './page.tsx';
import { ACCOUNT_PAGE, CONSOLE_PREFIX } from './routes.ts';
import { maybeOwn, own, shownCount, shownTime, statusTag, tag } from './shown.tsx';
import { isOwnPassword, SIGN_IN_PATH } from './sign-in.tsx';
import { pageActor, type Visitor, visitorOf } from './visitor.ts';

export function accountPage(app: ApiApp, parts: ConsoleParts): void {
  const { stores, cookies, clock } = parts;

  app.get('', { schema: { querystring: DoneQuery }, config: ACCOUNT_PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    return await show(reply, visitor, { notice: noticeFor(request.query.done) });
  });

  app.post('/password', { schema: { body: FormBody }, config: ACCOUNT_PAGE }, async (request, reply) => {
    const visitor = visitorOf(request);
    const { partner, token } = visitor;
    const next = request.body.secret('next');
    const problems = await passwordProblems(visitor, request);
    if (Object.keys(problems).length > 0) return await show(reply.code(400), visitor, { problems });
    const hashed = await hashedOrProblem(next);
    if (typeof hashed !== 'string') return await show(reply.code(400), visitor, { problems: hashed });
    await stores.partners.setPassword(partner.id, hashed, pageActor(request));
    await stores.sessions.removeAll(partner.id, token);
    return reply.redirect(`${CONSOLE_PREFIX}?done=password`, 303);
  });

  app.post('/sign-out', { schema: { body: FormBody }, config: ACCOUNT_PAGE }, async (request, reply) => {
    await stores.sessions.remove(visitorOf(request).token);
    reply.header('set-cookie', cookies.session.forget());
    return reply.redirect(`${SIGN_IN_PATH}?out=1`, 303);
  });

  app.post(
    '/sign-out-everywhere',
    { schema: { body: FormBody }, config: ACCOUNT_PAGE },
    async (request, reply) => {
      await stores.sessions.endAll(visitorOf(request).partner.id, pageActor(request));
      reply.header('set-cookie', cookies.session.forget());
      return reply.redirect(`${SIGN_IN_PATH}?out=1`, 303);
    },
  );

  async function passwordProblems(
    visitor: Visitor,
    { body, ip: address }: { readonly body: Form; readonly ip: string },
  ): Promise<Problems> {
    const [password, next, again] = [body.secret('current'), body.secret('next'), body.secret('again')];
    if (!(await isOwnPassword(parts, visitor, { password, address })))
      return { current: 'Wrong password. Enter the one you sign in with.' };
    return next === again ? {} : { again: 'The passwords do not match. Enter the new password twice.' };
  }

  async function show(
    reply: FastifyReply,
    visitor: Visitor,
    { notice, problems = {} }: { readonly notice?: Notice | undefined; readonly problems?: Problems },
  ): Promise<FastifyReply> {
    const { id, status } = visitor.partner;
    const before = soon(clock.now());
    const [sessions, all, attention, trials] = await Promise.all([
      stores.sessions.list(id, visitor.token),
      stores.customers.count(id),
      stores.customers.count(id, { attentionBefore: before }),
      stores.customers.count(id, { trialEndsBefore: before }),
    ]);
    // A suspended account can see only itself.
    const overview = status === 'active' ? customersCard({ all, attention, trials }) : null;
    return sendPage(reply, {
      title: 'Account',
      section: 'Account',
      visitor,
      notice,
      content: (
        <>
          <PageHead title="Account" />
          {overview} {factsCard(visitor)} {passwordCard(visitor, problems)} {secondFactorCard(visitor)}
          {sessionsCard(visitor, sessions)}
        </>
      ),
    });
  }
}

/** The hash of a new password, or what is wrong with it. */
async function hashedOrProblem(password: string): Promise<string | Problems> {
  try {
    return await hashPassword(password);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { next: `${error.message}. ${error.hint}` };
  }
}

/** What a partner looks for first: whether anybody needs them. */
function customersCard({
  all,
  attention,
  trials,
}: Readonly<Record<'all' | 'attention' | 'trials', number>>): JSX.Element | null {
  if (all === 0) return null;
  const path = `${CONSOLE_PREFIX}/customers`;
  return (
    <Card title="Customers">
      <dl>
        <dt>In all</dt>
        <dd>
          <a href={path}>{shownCount(all)}</a>
        </dd>
        <dt>Need attention</dt>
        <dd>
          <a href={`${path}?show=attention`}>{shownCount(attention)}</a>
        </dd>
        <dt>Trials that end this week or have ended</dt>
        <dd>
          <a href={`${path}?show=trials`}>{shownCount(trials)}</a>
        </dd>
      </dl>
    </Card>
  );
}

function factsCard({ partner }: Visitor): JSX.Element {
  return (
    <Card title={own(partner.name)}>
      <dl>
        <dt>Company</dt>
        <dd>{maybeOwn(partner.company)}</dd>
        <dt>E-mail</dt>
        <dd>{own(partner.email)}</dd>
        <dt>Status</dt>
        <dd>{statusTag(partner.status)}</dd>
        <dt>Account ID</dt>
        <dd>
          <code>{partner.id}</code>
        </dd>
        <dt>Since</dt>
        <dd>{shownTime(partner.createdAt)}</dd>
      </dl>
    </Card>
  );
}

function passwordCard(visitor: Visitor, problems: Problems): JSX.Element {
  return (
    <Card title="Password">
      <p class="quiet">A new password signs you out everywhere else.</p>
      {form(
        visitor,
        `${CONSOLE_PREFIX}/password`,
        <>
          <input type="hidden" name="username" value={visitor.partner.email} autocomplete="username" />
          {field(
            {
              name: 'current',
              label: 'Current password',
              type: 'password',
              autocomplete: 'current-password',
            },
            problems,
          )}
          {field(
            {
              name: 'next',
              label: 'New password',
              type: 'password',
              autocomplete: 'new-password',
              hint: 'At least 12 characters, such as a few words that nobody would guess.',
            },
            problems,
          )}
          {field(
            { name: 'again', label: 'Repeat new password', type: 'password', autocomplete: 'new-password' },
            problems,
          )}
          {button('Change password')}
        </>,
      )}
    </Card>
  );
}

function secondFactorCard({ partner }: Visitor): JSX.Element {
  const [state, text, action] = partner.hasTotp
    ? [tag('On', 'good'), 'Signing in requires a code from your authenticator app.', 'Remove or replace it']
    : [tag('Off'), 'If signing in also requires a code, a stolen password is not enough.', 'Set up'];
  return (
    <Card title={<>Second factor {state}</>}>
      <p>{text}</p>
      <a class="button" href={`${CONSOLE_PREFIX}/second-factor`}>
        {action}
      </a>
    </Card>
  );
}

function sessionsCard(visitor: Visitor, sessions: readonly KnownSession[]): JSX.Element {
  return (
    <Card title="Sessions">
      <p class="quiet">A session ends 12 hours after you sign in, or after 2 hours without use.</p>
      <Table
        label="Sessions"
        columns={[
          { title: 'Signed in' },
          { title: 'Last used' },
          { title: 'From' },
          { title: 'This session', isUnseen: true },
        ]}
      >
        {sessions.map(({ session, isThis }) => (
          <tr>
            <td>{shownTime(session.createdAt)}</td>
            <td>{shownTime(session.lastSeenAt)}</td>
            <td>{session.ip ?? 'unknown'}</td>
            <td>{isThis ? tag('This session', 'good') : null}</td>
          </tr>
        ))}
      </Table>
      <Actions>
        {form(visitor, `${CONSOLE_PREFIX}/sign-out-everywhere`, button('Sign out everywhere', 'danger'))}
      </Actions>
    </Card>
  );
}
