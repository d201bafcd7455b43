/**
 * The product's own page, and the routes for its sessions. The page uses the routes of the Desktop API under the same
 * prefix.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  holdfastForAnybody,
  npmHere,
  programName,
  programNameForAnybody,
} from '../../base/holdfast-command.ts';
import { Type } from '../../base/schema-type.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Clients } from '../access/clients.ts';
import { pageFiles } from '../framework/page-files.ts';
import { cookieName, sessionToken } from '../access/page-guard.ts';
import { peerUser } from '../access/page-peer.ts';
import type { PageSessions } from '../access/page-sessions.ts';
import { type RateLimits, tooMany } from '../access/rate-limits.ts';
import type { ApiApp } from '../framework/route.ts';
import { PAGE_POLICY } from '../wire/headers.ts';

const Nothing = Type.Object({});
const CodeRequest = Type.Object({ code: Type.String({ maxLength: 256 }) }, { additionalProperties: false });

export interface PageParts {
  readonly sessions: PageSessions;
  readonly rateLimits: Pick<RateLimits, 'takeForClient'>;
  readonly clients: Clients;
  /** The port that the agent listens on; undefined before it listens. */
  readonly port: () => number | undefined;
}

/** Serves the files of the page, which contain nothing secret. */
export function pageDocuments(app: ApiApp): void {
  const files = pageFiles();
  if (files.length === 0) {
    app.get('/', { config: { scope: 'entry', produces: 'text/plain' } }, async (_request, reply) =>
      reply.code(503).type('text/plain; charset=utf-8').send(notBuilt()),
    );
  }
  for (const file of files) {
    app.get(file.path, { config: { scope: 'entry', produces: file.type } }, async (request, reply) => {
      reply.type(file.type === 'image/png' ? file.type : `${file.type}; charset=utf-8`);
      reply.header('content-security-policy', PAGE_POLICY);
      reply.header('cross-origin-opener-policy', 'same-origin');
      reply.header('vary', 'accept-encoding');
      if (file.isLasting) reply.header('cache-control', 'public, max-age=31536000, immutable');
      const read = await file.read();
      const content =
        file.type === 'text/html' ? withProgram(read.toString(), await peerUser(request.raw.socket)) : read;
      if (file.type === 'image/png' || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
        return content;
      reply.header('content-encoding', 'gzip');
      return await compress(content);
    });
  }
}

/**
 * Puts the command of the program into the page, which names commands even before sign-in, as they are typed on this
 * machine. The form with the state directory is shown only to the agent's own user and to root.
 */
export function withProgram(html: string, peer: number | undefined): string {
  const isOwn = peer !== undefined && (peer === 0 || peer === process.getuid?.());
  const program = (isOwn ? programName() : programNameForAnybody()).replaceAll(
    /[&<>"]/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
  return html.replaceAll('{{PROGRAM}}', () => program);
}

const notBuilt = (): string =>
  `The page is not built. Build it with: ${npmHere('run build')}; then restart the agent.\n`;
const compress = promisify(gzip);

/** Must be registered under the prefix of the page's routes. */
export function pageRoutes(app: ApiApp, { sessions, rateLimits, clients, port }: PageParts): void {
  // Scripts cannot read the cookie, and requests from other sites' pages do not carry it.
  const cookie = (token: string): string =>
    `${cookieName(port())}=${token}; Path=/internal/; HttpOnly; SameSite=Strict`;

  app.post(
    '/session',
    {
      config: { scope: 'entry', idempotent: false },
      schema: { body: CodeRequest, response: { 200: Nothing } },
    },
    async (request, reply) => {
      const { socket } = request.raw;
      const token = await sessions.open(request.body.code, async () => await peerUser(socket));
      if (token === undefined) {
        // Only wrong codes count: a correct code is accepted however many wrong ones come from the same machine.
        const quota = await rateLimits.takeForClient(clients.of(socket, request.ip));
        throw quota.accepted ? badCode() : tooMany('requests', quota);
      }
      reply.header('set-cookie', cookie(token));
      return {};
    },
  );

  app.delete(
    '/session',
    { config: { scope: 'page' }, schema: { response: { 200: Nothing } } },
    async (request, reply) => {
      const token = sessionToken(request.raw, port());
      if (token !== undefined) sessions.end(token);
      reply.header('set-cookie', `${cookie('')}; Max-Age=0`);
      return {};
    },
  );
}

function badCode(): ApiError {
  return new ApiError('INVALID_CREDENTIALS', 'The code has already been used, or is older than a minute', {
    hint: `Open the page with: ${holdfastForAnybody`ui`}`,
  });
}
