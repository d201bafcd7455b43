/**
 * Policies for the Azure library: they reject answers that are not the store's own, before the library interprets a
 * proxy's page.
 */
import type { Pipeline, RequestPolicyFactory } from '@azure/storage-blob';
import type { WebAgents } from '../../base/web/web-agents.ts';

/** An answer, with any status, that lacks the headers which the store adds to all of its answers. */
export class ForeignAnswer extends Error {
  override readonly name = 'ForeignAnswer';

  constructor() {
    super('The answer is not from the store');
  }
}

interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | undefined };
}

type Library = typeof import('@azure/storage-blob');

/**
 * A pipeline that does not retry and accepts only answers of the store itself.
 *
 * @param policies they see these answers before the library does
 */
export function strictPipeline(
  library: Library,
  credential: Parameters<Library['newPipeline']>[0],
  agents: WebAgents,
  policies: readonly RequestPolicyFactory[],
): Pipeline {
  const settings = { retryOptions: { maxTries: 1 }, keepAliveOptions: { enable: true } };
  const pipeline = library.newPipeline(credential, settings);
  pipeline.factories.push(...policies, onlyStore, over(agents));
  return pipeline;
}

/**
 * Sets the proxy agent of each request. The library reads the proxy variables in its own way, but not where an agent is
 * already set.
 */
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

/**
 * Accepts a temporary failure even without the store's headers, as it may come from a proxy or balancer in front of the
 * store.
 */
function expectStore({ status, headers }: Answer): void {
  const passes = status >= 500 || [407, 408, 429].includes(status);
  const isOwn = ['x-ms-request-id', 'x-ms-version'].some((name) => headers.get(name) !== undefined);
  if (!passes && !isOwn) throw new ForeignAnswer();
}
