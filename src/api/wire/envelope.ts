/** The shape of every JSON response: `success`, `data` or `error`, and `meta`. */
import { type TSchema, Type } from '../../base/schema-type.ts';
import type { ApiError } from './api-error.ts';

export interface Meta {
  readonly request_id: string;
  /** RFC 3339, UTC, with milliseconds. */
  readonly timestamp: string;
}

export interface SuccessEnvelope {
  readonly success: true;
  readonly data: unknown;
  readonly meta: Meta;
}

export interface ErrorEnvelope {
  readonly success: false;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
  readonly meta: Meta;
}

export function metaOf(requestId: string, nowMs: number): Meta {
  return { request_id: requestId, timestamp: new Date(nowMs).toISOString() };
}

export function successEnvelope(data: unknown, meta: Meta): SuccessEnvelope {
  return { success: true, data, meta };
}

export function errorEnvelope(error: ApiError, meta: Meta): ErrorEnvelope {
  const { code, message, details } = error;
  return { success: false, error: { code, message, details }, meta };
}

const MetaSchema = Type.Object({
  request_id: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
});

/** Schema of a successful response with the given data. */
export function EnvelopeOf(data: TSchema): TSchema {
  return Type.Object({ success: Type.Literal(true), data, meta: MetaSchema });
}
