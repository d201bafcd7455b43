import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiError, fromHoldfastError } from '../../../src/api/wire/api-error.ts';
import { ERROR_CODES, statusOf, type ErrorCode } from '../../../src/api/wire/error-codes.ts';
import { toApiError } from '../../../src/api/framework/framework-errors.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import {
  BugError,
  DestinationError,
  RepositoryError,
  RequestError,
  StateError,
} from '../../../src/base/errors.ts';

describe('the registry of error codes', () => {
  test('has for each code a status that exists, and says what it means in a sentence', () => {
    for (const [code, { status, title, description }] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[A-Z][A-Z_]+[A-Z]$/);
      if (status !== null) expect(STATUS_CODES[status], code).toBeDefined();
      expect(title, code).toMatch(/^[A-Z].*[^.]$/);
      expect(description, code).toMatch(/^[A-Z].*\.$/);
    }
    const statuses: Partial<Record<ErrorCode, number>> = {
      INVALID_SOURCE: 400,
      INVALID_TOKEN: 401,
      QUOTA_EXCEEDED: 402,
      HOST_NOT_ALLOWED: 403,
      QUEUE_FULL: 409,
      REVISION_MISMATCH: 412,
      IDEMPOTENCY_KEY_REUSED: 422,
      RATE_LIMIT_EXCEEDED: 429,
      DESTINATION_ERROR: 502,
      SHUTTING_DOWN: 503,
      INSUFFICIENT_STORAGE: 507,
    };
    for (const [code, status] of Object.entries(statuses))
      expect(statusOf(code as ErrorCode), code).toBe(status);
  });

  test('has every code that the hand-written description names', () => {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../../docs/api/desktop.yaml'), 'utf8');
    const named = [...text.matchAll(/\b(?:[A-Z]+_)+(?:[A-Z]+)\b/g)].map(([code]) => code);
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((code) => !Object.hasOwn(ERROR_CODES, code))).toEqual([]);
  });
});

describe('an error of the program', () => {
  test('about the request is told as it is, with its hint', () => {
    const error = new RequestError('INVALID_SOURCE', 'The path /x does not exist', {
      hint: 'Check its spelling.',
      details: { path: '/x', reason: 'not_found' },
    });
    expect(fromHoldfastError(error)).toMatchObject({
      code: 'INVALID_SOURCE',
      statusCode: 400,
      message: 'The path /x does not exist. Check its spelling.',
      details: { path: '/x', reason: 'not_found' },
    });
  });

  test('about storage is a 502, or a 507 when it is full', () => {
    expect(toApiError(new DestinationError('unreachable', 'gone'))).toMatchObject({
      code: 'DESTINATION_ERROR',
    });
    expect(toApiError(new DestinationError('full', 'full'))).toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    expect(toApiError(new RepositoryError('REPOSITORY_LOCKED', 'locked'))).toMatchObject({ statusCode: 409 });
    expect(toApiError(new RepositoryError('CORRUPT_DATA', 'damaged'))).toMatchObject({
      code: 'DESTINATION_ERROR',
    });
  });

  test('names the request that helps, where the program names a command', () => {
    const error = new RepositoryError('PATH_NOT_IN_SNAPSHOT', '/x is not in snapshot 1', {
      hint: 'To look further, run: holdfast versions /x',
    });
    expect(toApiError(error).message).toBe(
      '/x is not in snapshot 1. To see which snapshots have it: GET /files/versions?path=…',
    );
  });

  test('that a part of the program knows by a finer name is an invalid request', () => {
    const error = new RequestError('NOT_A_FILE', '/x is a directory', { hint: 'List it.' });
    expect(toApiError(error)).toMatchObject({
      code: 'INVALID_REQUEST',
      statusCode: 400,
      message: '/x is a directory. List it.',
    });
  });

  test('about secrets and the catalog says what cannot be done, and nothing of the paths', () => {
    const secret = '/var/lib/holdfast/secret';
    const unsafe = toApiError(new ConfigError('SECRET_UNSAFE', secret, { details: { file: secret } }));
    expect(unsafe).toMatchObject({ code: 'DESTINATION_ERROR', details: {} });
    const closed = toApiError(new StateError('CATALOG_CLOSED', secret));
    expect(closed).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: {} });
    for (const { message } of [unsafe, closed]) expect(message).not.toContain(secret);
  });

  test('about anything else says nothing of what happened', () => {
    const secret = '/var/lib/holdfast/state.db';
    const unforeseen: unknown[] = [
      new StateError('READ_ERROR', secret),
      new BugError(secret),
      new RequestError('NO_SUCH_CODE', secret),
      // Codes of jobs stand for no response.
      new RequestError('JOB_INTERRUPTED', secret),
      new TypeError(secret),
      secret,
      undefined,
      Object.assign(new Error(secret), { statusCode: 500, code: 'FST_ERR_X' }),
    ];
    for (const error of unforeseen) {
      const shown = toApiError(error);
      expect(shown).toMatchObject({ code: 'INTERNAL_ERROR', statusCode: 500, details: {} });
      expect(shown.message).not.toContain(secret);
    }
  });

  test('that is an ApiError already stays that', () => {
    const error = new ApiError('FORBIDDEN', 'No');
    expect(toApiError(error)).toBe(error);
  });
});
