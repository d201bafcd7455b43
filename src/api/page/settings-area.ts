/** The routes of the page's settings, API access, account and support. */
import type { Static } from '../../base/schema-type.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import type { ApiApp } from '../framework/route.ts';
import { maybeTimestamp, timestamp } from '../presentation/values.ts';
import { attachment } from '../routes/content-routes.ts';
import {
  About,
  AgentLog,
  AgentLogQuery,
  WebdavOff,
  WebdavSecret,
  WebdavState,
} from '../schemas/page/settings.ts';
import type { Webdav } from '../webdav/webdav.ts';
import { type AccountParts, accountRoutes } from './account-routes.ts';
import { type CredentialParts, credentialRoutes } from './credential-routes.ts';
import { type PreviewParts, previewRoutes } from './preview-routes.ts';

/** The parts of the agent that these routes use. */
export type PageSettings = Omit<PreviewParts, 'settingsFile' | 'isFreshSecret'> &
  Pick<AccountParts, 'enrollment'> &
  SupportParts;

type SettingsAreaParts = PreviewParts & CredentialParts & AccountParts & SupportParts;

export function settingsArea(app: ApiApp, parts: SettingsAreaParts): void {
  previewRoutes(app, parts);
  credentialRoutes(app, parts);
  accountRoutes(app, parts);
  supportRoutes(app, parts);
}

/** What helps to find the cause of a problem: facts about the agent, the end of its log, and a bundle of both. */
interface SupportParts {
  readonly about: (signal: AbortSignal) => Promise<About>;
  /** The last lines of the given level or a worse one, oldest first. Only the end of the log file is read. */
  readonly agentLog: (query: Static<typeof AgentLogQuery>) => Promise<AgentLog>;
  /** A text to read and to send to others, with secrets removed. */
  readonly diagnostics: () => Promise<{ readonly text: string; readonly madeAt: number }>;
}

const TEXT = 'text/plain';

function supportRoutes(app: ApiApp, { about, agentLog, diagnostics }: SupportParts): void {
  const closing = closingSignal(app);
  app.get(
    '/about',
    { config: { scope: 'page' }, schema: { response: { 200: About } } },
    async (_request, reply) => await about(untilClosedOr(closing, reply)),
  );

  app.get(
    '/agent-log',
    { config: { scope: 'page' }, schema: { querystring: AgentLogQuery, response: { 200: AgentLog } } },
    async (request) => await agentLog(request.query),
  );

  app.get('/diagnostics', { config: { scope: 'page', produces: TEXT } }, async (_request, reply) => {
    const { text, madeAt } = await diagnostics();
    const day = timestamp(madeAt).slice(0, 10);
    reply.type(`${TEXT}; charset=utf-8`);
    reply.header('content-disposition', attachment(`holdfast-diagnostics-${day}.txt`));
    return text;
  });
}

/**
 * Turns the WebDAV folder of snapshots on and off, for the product's own page. Must be registered under the prefix of
 * the page's routes.
 */
export function webdavRoutes(app: ApiApp, webdav: Pick<Webdav, 'status' | 'turnOn' | 'turnOff'>): void {
  app.get(
    '/webdav',
    { config: { scope: 'page' }, schema: { response: { 200: WebdavState } } },
    async (): Promise<WebdavState> => {
      const { enabled, created_at: createdAt, address } = webdav.status();
      return { enabled, created_at: maybeTimestamp(createdAt), address };
    },
  );

  app.post(
    '/webdav',
    { config: { scope: 'page', idempotent: false }, schema: { response: { 200: WebdavSecret } } },
    async () => {
      const { address, user, password } = webdav.turnOn();
      return { address, user, password };
    },
  );

  app.delete('/webdav', { config: { scope: 'page' }, schema: { response: { 200: WebdavOff } } }, async () => {
    webdav.turnOff();
    return { enabled: false as const };
  });
}
