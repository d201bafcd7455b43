/** Requests for the folder of snapshots as they are: no library puts a path or a header right. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';

export interface DavReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly text: string;
}

export interface DavOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export async function dav(port: number, target: string, options: DavOptions = {}): Promise<DavReply> {
  const { method = 'GET', headers = {}, body } = options;
  const request = httpRequest({ host: '127.0.0.1', port, path: target, method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  return { status: response.statusCode ?? 0, headers: response.headers, body: whole, text: whole.toString() };
}

/** The addresses in the answer to a PROPFIND of that depth. */
export async function addresses(
  port: number,
  target: string,
  depth: '0' | '1' = '1',
): Promise<readonly string[]> {
  const reply = await dav(port, target, { method: 'PROPFIND', headers: { depth } });
  if (reply.status !== 207) throw new Error(`${reply.status}: ${reply.text}`);
  return [...reply.text.matchAll(/<D:href>(.*?)<\/D:href>/g)].map(([, href = '']) => href);
}

/** Path of an address as it is given to people. */
export function pathOf(address: string): string {
  return address.replace(/^http:\/\/[^/]+/, '');
}
