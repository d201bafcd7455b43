/** Takes apart what a server wrote to a connection: one reply after the other. */
import type { JudgedReply } from './openapi-judge.ts';

/** @throws {Error} when something stands there that is no reply, or less of one than its length says */
export function repliesIn(bytes: Buffer): readonly JudgedReply[] {
  const replies: JudgedReply[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, end < 0 ? rest.length : end).toString('latin1');
    const [first = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`this is no reply: ${head.slice(0, 300)}`);
    const headers = Object.fromEntries(lines.map(fieldOf));
    const begin = end + 4;
    const length = Number(headers['content-length'] ?? 0);
    if (headers['transfer-encoding'] !== undefined) throw new Error(`a reply of unknown length: ${head}`);
    if (rest.length < begin + length) throw new Error(`a reply that was cut: ${head}`);
    // "Go on" is no reply to the request.
    if (status !== 100)
      replies.push({ status, headers, text: rest.subarray(begin, begin + length).toString() });
    rest = rest.subarray(begin + length);
  }
  return replies;
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
