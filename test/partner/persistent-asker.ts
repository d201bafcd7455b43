/** Somebody who asks one instance or the other, as a balancer would send it, until there is an answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask, type Answer, type Question, type ServicePair } from './service-pair.ts';

export interface AskedQuestion {
  readonly question: Question;
  /** 0 or 1. */
  readonly instance: number;
  /** As `performance.now()` tells it. */
  readonly askedAt: number;
}

export interface PersistentAsker {
  /** @throws {Error} when it is refused for good */
  ask(question: Question): Promise<Answer>;
  /** Those that wait for their answer. */
  readonly underWay: ReadonlySet<AskedQuestion>;
  /** Those to which no answer came although there was a connection. */
  readonly cut: readonly AskedQuestion[];
}

/** Before it is asked again where nobody listens. */
const PAUSE_MS = 50;
/** Not as often as the service allows: each time counts for the rate limit. */
const IN_PROGRESS_PAUSE_MS = 5_000;

export function persistentAsker({ instances }: Pick<ServicePair, 'instances'>): PersistentAsker {
  const underWay = new Set<AskedQuestion>();
  const cut: AskedQuestion[] = [];
  let turn = 0;

  const askOnce = async (question: Question): Promise<Answer | undefined> => {
    turn += 1;
    const instance = turn % 2;
    const asked = { question, instance, askedAt: performance.now() };
    underWay.add(asked);
    try {
      return await ask(instances[instance] ?? expect.fail('no such instance'), question);
    } catch (error) {
      if (!isNobodyThere(error)) cut.push(asked);
      return undefined;
    } finally {
      underWay.delete(asked);
    }
  };

  return {
    underWay,
    cut,
    ask: async (question) => {
      for (;;) {
        const answer = await askOnce(question);
        if (answer !== undefined && answer.status < 400) return answer;
        await delay(answer === undefined ? PAUSE_MS : pauseMs(answer, question));
      }
    },
  };
}

function pauseMs({ status, headers, text }: Answer, { path }: Question): number {
  if (status === 409 && text.includes('IDEMPOTENCY_IN_PROGRESS')) return IN_PROGRESS_PAUSE_MS;
  if (status === 429) return Number(headers.get('retry-after')) * 1_000;
  throw new Error(`${path} was answered with ${status}: ${text}`);
}

function isNobodyThere(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
