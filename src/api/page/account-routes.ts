/** The plan in force with what is left of its limit, and the enrollment with a Partner service. */
import { HoldfastError, RequestError, StateError } from '../../base/errors.ts';
import type { PartnerStatus } from '../../jobs/agent.ts';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import type { Plan } from '../wire/limits.ts';
import { arrivalOf } from '../framework/plugin-order.ts';
import { maybeTimestamp, timestamp } from '../presentation/values.ts';
import type { Quota } from '../access/rate-limits.ts';
import type { ApiApp } from '../framework/route.ts';
import { Account, EnrollRequest } from '../schemas/page/settings.ts';
import { rateLimitPart } from '../routes/status-routes.ts';

export interface EnrollmentWish {
  /** Base URL of the Partner service. */
  readonly url: string;
  readonly token: string;
  /** Name of the device; undefined for the name of the machine. */
  readonly name: string | undefined;
}

export interface AccountParts {
  /** Returns the plan in force: that of the partner, or that of the settings. */
  readonly plan: () => Plan;
  readonly enrollment: {
    /** Null while the device is not enrolled. */
    readonly status: () => PartnerStatus | null;
    /** @throws {RequestError} ALREADY_ENROLLED, …; {StateError}, and errors of the service */
    readonly enroll: (wish: EnrollmentWish, signal: AbortSignal) => Promise<unknown>;
    /** @throws {RequestError} NOT_ENROLLED; {StateError} */
    readonly leave: () => Promise<unknown>;
  };
}

export function accountRoutes(app: ApiApp, { plan, enrollment }: AccountParts): void {
  const closing = closingSignal(app);
  const account = (quota: Quota): Account => {
    const status = enrollment.status();
    return {
      plan: plan(),
      rate_limit: rateLimitPart(quota),
      partner: status === null ? null : partnerPart(status),
    };
  };

  app.get(
    '/account',
    { config: { scope: 'page' }, schema: { response: { 200: Account } } },
    async (request) => account(arrivalOf(request).quota),
  );

  app.post(
    '/account/enroll',
    {
      config: { scope: 'page', idempotent: false },
      schema: { body: EnrollRequest, response: { 200: Account } },
    },
    async (request, reply) => {
      const { service, token, name } = request.body;
      const wish = { url: service, token, name: name?.trim() === '' ? undefined : name };
      await answered(enrollment.enroll(wish, untilClosedOr(closing, reply)));
      return account(arrivalOf(request).quota);
    },
  );

  app.delete(
    '/account/enrollment',
    { config: { scope: 'page' }, schema: { response: { 200: Account } } },
    async (request) => {
      await answered(enrollment.leave());
      return account(arrivalOf(request).quota);
    },
  );
}

function partnerPart(status: PartnerStatus): NonNullable<Account['partner']> {
  const { service, device_id: deviceId, customer_id: customerId, name, plan, reports } = status;
  return {
    service,
    device_id: deviceId,
    customer_id: customerId,
    name,
    enrolled_at: timestamp(status.enrolled_at),
    status: plan?.status ?? null,
    plan_expires_at: maybeTimestamp(plan?.expires_at ?? null),
    grace_until: maybeTimestamp(plan?.grace_until ?? null),
    last_report_at: maybeTimestamp(reports?.last_at ?? null),
    results_waiting: reports?.results_waiting ?? 0,
    problem: reports?.problem_code ?? null,
  };
}

/** Converts errors of the enrollment to codes of the registry. */
async function answered(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw error instanceof HoldfastError ? asAnswer(error) : error;
  }
}

function asAnswer(error: HoldfastError): Error {
  if (error instanceof StateError)
    return new ApiError('SERVICE_UNAVAILABLE', 'The enrollment cannot be written', {
      hint: 'Check that the state directory is writable and that the disk has space.',
      cause: error,
    });
  if (!(error instanceof RequestError)) return error;
  if (error.code === 'NOT_ENROLLED')
    return new ApiError('NOT_FOUND', error.message, {
      hint: 'Enroll it with the address and the token from your partner.',
      cause: error,
    });
  if (error.code === 'ALREADY_ENROLLED')
    return new ApiError('INVALID_REQUEST', error.message, {
      hint: 'End that enrollment first.',
      cause: error,
    });
  return error;
}
