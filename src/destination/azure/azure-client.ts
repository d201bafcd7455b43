/** The client of a container of Azure Blob Storage, and the single way to send it requests. */
import type { ContainerClient, RequestPolicyFactory } from '@azure/storage-blob';
import { RequestError, type DestinationError } from '../../base/errors.ts';
import type { WebAgents } from '../../base/web/web-agents.ts';
import type { AzureAccess } from '../access.ts';
import { failure, meaning } from '../http-failure.ts';
import { onLiveConnection, storeAgents } from '../kept-connections.ts';
import type { UploadPace } from '../limited.ts';
import { plainUrl, type AzurePlace } from '../location.ts';
import { whileMoving, type Moving } from '../stall.ts';
import { strictPipeline } from './azure-answers.ts';
import { azureFailure } from './azure-failure.ts';

/** How many concurrent calls still help on a far and fast line. */
export const AZURE_PARALLEL = 16;

export interface AzureStore {
  readonly container: ContainerClient;
  /** The container, for one call whose answer `policy` sees before the library takes it apart. */
  readonly containerWith: (policy: RequestPolicyFactory) => ContainerClient;
  readonly agents: WebAgents;
  readonly root: string;
  readonly url: string;
  readonly pace: UploadPace | undefined;
  readonly stallMs: number;
}

export async function containerOf(
  place: AzurePlace,
  access: AzureAccess,
): Promise<Pick<AzureStore, 'agents' | 'container' | 'containerWith'>> {
  const { accountKey, sasToken } = access;
  const { account } = place;
  const endpoint =
    place.endpoint ?? (account === undefined ? undefined : `https://${account}.blob.core.windows.net`);
  if (endpoint === undefined) throw unusable('The URL does not name an account.', 'Add ?account=NAME to it.');
  const library = await import('@azure/storage-blob');
  const url = `${endpoint}/${place.container}`;
  const agents = storeAgents({ target: new URL(endpoint), maxSockets: AZURE_PARALLEL * 2 }, plainUrl(place));
  if (accountKey !== undefined) {
    if (account === undefined)
      throw unusable('The URL does not name an account.', 'Add ?account=NAME to it.');
    const credential = new library.StorageSharedKeyCredential(account, accountKey);
    return containersAt(url, agents, library, credential);
  }
  if (sasToken === undefined)
    throw unusable(
      'There are no credentials for the Azure account.',
      'Set accountKey or sasToken in "access" of the destination, or set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN.',
    );
  if (endpoint.startsWith('http:') && !/^http:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(`${endpoint}/`))
    throw unusable('The endpoint does not use TLS, so that anyone could see the signature.', 'Use https.');
  const signed = `${url}?${sasToken.replace(/^\?/, '')}`;
  return containersAt(signed, agents, library, new library.AnonymousCredential());
}

function containersAt(
  url: string,
  agents: WebAgents,
  library: typeof import('@azure/storage-blob'),
  credential: Parameters<typeof library.newPipeline>[0],
): Pick<AzureStore, 'agents' | 'container' | 'containerWith'> {
  const containerWith = (...policies: readonly RequestPolicyFactory[]): ContainerClient =>
    new library.ContainerClient(url, strictPipeline(library, credential, agents, policies));
  return { agents, container: containerWith(), containerWith };
}

function unusable(what: string, hint: string): RequestError {
  return new RequestError('INVALID_DESTINATION', what, { op: 'open destination', hint });
}

interface Question {
  /** As a verb: "store", "read". */
  readonly op: string;
  readonly key?: string;
  /** Failures that the caller handles itself; they are rethrown unchanged. */
  readonly mine?: (error: unknown) => boolean;
  /** Largest size of the answer in bytes; that of a page by default. */
  readonly largest?: number;
}

export async function ask<T>(
  { url, stallMs }: AzureStore,
  { op, key, mine, largest }: Question,
  signal: AbortSignal,
  call: (moving: Moving) => Promise<T>,
): Promise<T> {
  try {
    return await whileMoving(`${op} ${key ?? url}`, stallMs, signal, async (moving) =>
      onLiveConnection(moving.signal, largest, async () => await call(moving)),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (mine?.(error) === true) throw error;
    throw azureFailure(error, { op, url, key });
  }
}

export function senseless(
  { url }: AzureStore,
  op: string,
  key: string | undefined,
  what: string,
  cause?: unknown,
): DestinationError {
  const hint = 'Check that no proxy answers instead of the store, and run a check of the repository.';
  const details = cause === undefined ? { whole: true } : {};
  return failure({ ...meaning('corrupt-reply', 'now', what, hint), details }, { op, url, key }, cause);
}
