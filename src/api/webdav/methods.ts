/** Answers the WebDAV methods for entries of the folder: list, describe and read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteString } from '../../base/byte-path.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Admission } from './admission.ts';
import { conditionalRange, conditionOutcome, send, sendText } from './reply.ts';
import { httpDate, multistatus } from './multistatus.ts';
import { parsePropfind } from './propfind-body.ts';
import { ALLOWED, answerOptions } from './server-root.ts';
import type { FoundFile, SnapshotTree } from './tree.ts';

export interface Exchange extends Admission {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly tree: SnapshotTree;
  /** Whether the target ended in a slash, which only the URL of a folder may. */
  readonly isFolderAddress: boolean;
  /** Aborts when the response ends, its connection is lost, or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * Methods that would change something. They are answered with 403, because a client that gets 405 for MKCOL assumes
 * that the folder exists already.
 */
const WRITING: ReadonlySet<string> = new Set([
  'PUT',
  'DELETE',
  'MKCOL',
  'COPY',
  'MOVE',
  'PROPPATCH',
  'LOCK',
  'UNLOCK',
  'POST',
  'PATCH',
]);

export async function answerMethod(exchange: Exchange): Promise<void> {
  const { method = '' } = exchange.request;
  if (method === 'OPTIONS') return answerOptions(exchange.response);
  if (method === 'PROPFIND') return await propfind(exchange);
  if (method === 'GET' || method === 'HEAD') return await get(exchange);
  if (WRITING.has(method)) {
    throw new ApiError('FORBIDDEN', 'Snapshots never change', {
      hint: 'This folder is read-only. Copy what you need to another folder.',
    });
  }
  throw new ApiError('METHOD_NOT_ALLOWED', 'This folder is read-only', {
    hint: `It accepts ${ALLOWED}.`,
    headers: { allow: ALLOWED },
  });
}

async function propfind(exchange: Exchange): Promise<void> {
  const { request, response, base, names, tree } = exchange;
  const depth = request.headers['depth'];
  const wanted = parsePropfind(await readBody(request));
  if (wanted === undefined) {
    throw new ApiError('INVALID_REQUEST', 'The body is not a valid PROPFIND request', {
      hint: 'Send the XML of RFC 4918, section 14.20, with at most 64 properties and 4,096 characters in all.',
    });
  }
  if (depth !== '0' && depth !== '1') {
    // An infinite depth would list all snapshots completely, which no client wants.
    const condition = '<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>';
    response.writeHead(403, { 'content-type': 'application/xml; charset=utf-8' });
    response.end(`<?xml version="1.0" encoding="utf-8"?>\n${condition}\n`);
    return;
  }
  const entry = await findHere(exchange, tree, names);
  const parts = multistatus(entry, { base, names, wanted, deep: depth === '1' });
  await send(response, 207, { 'content-type': 'application/xml; charset=utf-8' }, parts);
}

async function get(exchange: Exchange): Promise<void> {
  const { request, response, names, tree } = exchange;
  const entry = await findHere(exchange, tree, names);
  if (entry.kind === 'folder') {
    sendText(
      request,
      response,
      200,
      'This is a folder. Open it with a file manager, or with a program for WebDAV.\n',
    );
  } else await getFile(exchange, entry);
}

async function getFile({ request, response, signal }: Exchange, file: FoundFile): Promise<void> {
  const { etag, modifiedMs } = file.facts;
  const validators = { etag, modifiedMs: file.isFixed ? modifiedMs : undefined };
  const headers = {
    ...(etag === undefined ? {} : { etag }),
    ...lastModified(modifiedMs),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
  };
  const outcome = conditionOutcome(request.headers, validators);
  if (outcome === 304) {
    response.writeHead(304, headers).end();
    return;
  }
  if (outcome === 412) {
    sendText(request, response, 412, 'The file does not match the condition.\n');
    return;
  }
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...headers, ...CONTENT, 'content-length': file.facts.size }).end();
    return;
  }
  const content = await file.content();
  const { size } = content;
  const range = conditionalRange(request.headers, size, validators);
  if (range === 'unsatisfiable') {
    throw new ApiError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`, {
      hint: 'Ask for bytes that it has.',
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: size };
  const part = range === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  await send(
    response,
    range === undefined ? 200 : 206,
    { ...headers, ...CONTENT, ...part, 'content-length': end - start },
    content.read(range, signal),
  );
}

/** A backed-up file may be a page with a script, which a browser must not display as a page of the agent. */
const CONTENT = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' };

function lastModified(ms: number | undefined): Readonly<Record<string, string>> {
  const date = httpDate(ms);
  return date === undefined ? {} : { 'last-modified': date };
}

async function findHere(
  { isFolderAddress }: Exchange,
  tree: SnapshotTree,
  names: readonly ByteString[],
): ReturnType<SnapshotTree['find']> {
  const entry = await tree.find(names);
  if (entry.kind === 'folder' || !isFolderAddress) return entry;
  throw new ApiError('PATH_NOT_IN_SNAPSHOT', 'That is a file, not a folder', {
    hint: 'Ask for it without the slash at the end.',
  });
}

const LARGEST_BODY = 65_536;

/** @throws {ApiError} PAYLOAD_TOO_LARGE, or INVALID_REQUEST when the body ends too early */
async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > LARGEST_BODY) break;
      parts.push(part);
    }
  } catch (cause) {
    throw new ApiError('INVALID_REQUEST', 'The request could not be read completely', {
      hint: 'Send it again.',
      cause,
    });
  }
  if (length > LARGEST_BODY) {
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', {
      hint: `Ask for fewer properties; the limit is ${LARGEST_BODY / 1024} KiB.`,
      headers: { connection: 'close' },
    });
  }
  return Buffer.concat(parts).toString('utf8');
}
