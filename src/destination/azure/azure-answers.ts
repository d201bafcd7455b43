/** Whether it was the store that answered, before the library makes something of what a proxy has sent, and how far it is. */
import type { Pipeline, RequestPolicyFactory } from '@azure/storage-blob';
import type { WebAgents } from '../../base/web/web-agents.ts';
import type { Moving } from '../stall.ts';

/** An answer, of whatever status, that lacks what the store says with each of its own. */
export class ForeignAnswer extends Error {
  override readonly name = 'ForeignAnswer';

  constructor() {
    super('The answer is none of the store');
  }
}

interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | undefined };
}

type Library = typeof import('@azure/storage-blob');

/** Asks once, and takes no answer but the store's. */
export function strictPipeline(
  library: Library,
  credential: Parameters<Library['newPipeline']>[0],
  agents: WebAgents,
): Pipeline {
  const settings = { retryOptions: { maxTries: 1 }, keepAliveOptions: { enable: true } };
  const pipeline = library.newPipeline(credential, settings);
  pipeline.factories.push(onlyStore, over(agents));
  return pipeline;
}

/** The library has a way of its own to read the variables of proxies, which gives way to an agent that is there. */
function over({ http, https }: WebAgents): RequestPolicyFactory {
  return {
    create: (next) => ({
      async sendRequest(request) {
        request.agent = request.url.startsWith('https:') ? https : http;
        return await next.sendRequest(request);
      },
    }),
  };
}

const onlyStore: RequestPolicyFactory = {
  create: (next) => ({
    async sendRequest(request) {
      try {
        const answer = await next.sendRequest(request);
        expectStore(answer);
        return answer;
      } catch (error) {
        const { response } = error as { readonly response?: Answer };
        if (response !== undefined) expectStore(response);
        throw error;
      }
    },
  }),
};

/** One that says that it cannot do it at the moment may come from what stands before the store. */
function expectStore({ status, headers }: Answer): void {
  const passes = status >= 500 || [407, 408, 429].includes(status);
  const isOwn = ['x-ms-request-id', 'x-ms-version'].some((name) => headers.get(name) !== undefined);
  if (!passes && !isOwn) throw new ForeignAnswer();
}

/** Tells of what has come of an answer, which the library gives when all has. */
export function arriving({ moved }: Moving): (progress: { readonly loadedBytes: number }) => void {
  let known = 0;
  return ({ loadedBytes }) => {
    moved(loadedBytes - known);
    known = loadedBytes;
  };
}
