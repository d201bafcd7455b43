/** Turns any error thrown while a request is answered into the error of the response. */
import type { ErrorObject } from 'ajv';
import { isAbort } from '../../base/errors.ts';
import { ApiError, fromHoldfastError } from '../wire/api-error.ts';
import { validationError, type RequestPart } from '../wire/validation.ts';

/** Reveals nothing about an unforeseen error except that it occurred. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return (
    fromHoldfastError(error) ??
    fromFramework(error) ??
    new ApiError('INTERNAL_ERROR', 'Something failed unexpectedly', {
      hint: 'Look for the request id in the log.',
      cause: error,
    })
  );
}

interface FrameworkError extends Error {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly validation?: unknown;
  readonly validationContext?: unknown;
}

function fromFramework(error: unknown): ApiError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode, validation, validationContext }: FrameworkError = error;
  if (Array.isArray(validation)) {
    return validationError(validation as ErrorObject[], validationContext as RequestPart);
  }
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body is not JSON', {
        hint: 'Send it as application/json.',
        cause: error,
      });
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', {
        hint: 'Send less at once; the limit is 1 MiB.',
        cause: error,
      });
    case 'FST_ERR_HANDLER_TIMEOUT':
      return new ApiError('SERVICE_UNAVAILABLE', 'The answer took too long', {
        hint: 'Try again later.',
        cause: error,
      });
    default:
  }
  // The client aborted the request, or announced a body that it did not send.
  const ofClient = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  if (ofClient || isAbort(error)) {
    return new ApiError('INVALID_REQUEST', 'The request could not be read completely', {
      hint: 'Send it again.',
      cause: error,
    });
  }
  return undefined;
}
