/** Whose connections these are: what the system's tables are asked for, and how often. */
import { expect, test } from 'vitest';
import {
  createPeerUsers,
  type PeerAddress,
  type PeerTiming,
  type Version,
} from '../../../src/api/access/page-peer.ts';

const HERE = 7_390;
const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const LOOPBACK = { 4: '0100007F', 6: '0000000000000000FFFF00000100007F' } as const;

function socketFrom(port: number): PeerAddress {
  return { localAddress: '127.0.0.1', localPort: HERE, remoteAddress: '127.0.0.1', remotePort: port };
}

function ended(version: Version, port: number): string {
  return `${LOOPBACK[version]}:${port.toString(16).padStart(4, '0').toUpperCase()}`;
}

/** Both ends of a connection, each with its user: the server's comes first. */
function linesOf(version: Version, port: number, uid: number, state = '01'): string {
  const line = (here: number, there: number, user: number): string =>
    `   0: ${ended(version, here)} ${ended(version, there)} ${state} 00000000:00000000 00:00000000 00000000 ${String(user).padStart(5)}        0 1060 1 0000000014265c4b 100 0 0 10 0\n`;
  return line(HERE, port, 0) + line(port, HERE, uid);
}

interface Tables {
  readonly reads: Version[];
  text: Record<Version, string>;
}

const AT_ONCE: PeerTiming = { monotonic: () => 0, pause: async () => await Promise.resolve() };

function peersWith(text: Partial<Record<Version, string>>): {
  tables: Tables;
  peers: ReturnType<typeof createPeerUsers>;
} {
  const tables: Tables = { reads: [], text: { 4: HEADER, 6: HEADER, ...text } };
  const peers = createPeerUsers(async (version) => {
    tables.reads.push(version);
    return await Promise.resolve(Buffer.from(tables.text[version]));
  }, AT_ONCE);
  return { tables, peers };
}

test('of all that are asked for at a time one look tells, and at no connection twice', async () => {
  const ports = Array.from({ length: 700 }, (_, at) => 40_000 + at);
  const { tables, peers } = peersWith({ 4: HEADER + ports.map((port) => linesOf(4, port, port)).join('') });
  const sockets = ports.map(socketFrom);
  expect(await Promise.all(sockets.map(async (socket) => await peers.of(socket)))).toEqual(ports);
  expect(await peers.ofMany(sockets)).toEqual(ports);
  expect(tables.reads).toEqual([4]);
});

test('the table of the newer protocol is looked at for what the other one does not have', async () => {
  const { tables, peers } = peersWith({
    4: HEADER + linesOf(4, 40_000, 7),
    6: HEADER + linesOf(6, 40_001, 8),
  });
  expect(await peers.of(socketFrom(40_000))).toBe(7);
  expect(tables.reads).toEqual([4]);
  expect(await peers.ofMany([socketFrom(40_000), socketFrom(40_001), socketFrom(40_002)])).toEqual([
    7,
    8,
    undefined,
  ]);
  expect(tables.reads).toEqual([4, 4, 6]);
});

test('an end that its program has closed, of which the system says that it is root, tells nothing', async () => {
  const { peers } = peersWith({ 4: HEADER + linesOf(4, 40_000, 0, '05') });
  expect(await peers.of(socketFrom(40_000))).toBeUndefined();
});

test('a look that has begun tells nothing of a connection that came later from the same port', async () => {
  const begun = Promise.withResolvers<undefined>();
  const goesOn = Promise.withResolvers<undefined>();
  const answers = [linesOf(4, 40_000, 7), linesOf(4, 40_000, 8)];
  const peers = createPeerUsers(async (version) => {
    if (version === 6) return Buffer.from(HEADER);
    const answer = answers.shift() ?? '';
    begun.resolve(undefined);
    await goesOn.promise;
    return Buffer.from(HEADER + answer);
  }, AT_ONCE);
  const before = peers.of(socketFrom(40_000));
  await begun.promise;
  const later = peers.of(socketFrom(40_000));
  goesOn.resolve(undefined);
  expect(await Promise.all([before, later])).toEqual([7, 8]);
});

test('ten times as many connections take some ten times as long', async () => {
  const timeOf = async (count: number): Promise<number> => {
    const ports = Array.from({ length: count }, (_, at) => 1_024 + at);
    const { peers } = peersWith({ 4: HEADER + ports.map((port) => linesOf(4, port, port)).join('') });
    const from = performance.now();
    const users = await peers.ofMany(ports.map(socketFrom));
    expect(users.at(-1)).toBe(ports.at(-1));
    return performance.now() - from;
  };
  await timeOf(1_000);
  const few = await timeOf(2_000);
  expect(await timeOf(20_000)).toBeLessThan(40 * few + 100);
});

test('looks hold the process up for a twentieth of the time at most, and nobody waits for long between them', async () => {
  let nowMs = 0;
  let [readMs, searchMs] = [0, 0];
  const pauses: number[] = [];
  const timing: PeerTiming = {
    monotonic: () => nowMs,
    pause: async (ms) => {
      pauses.push(ms);
      await Promise.resolve();
    },
  };
  const peers = createPeerUsers(async (version) => {
    if (version === 6) return Buffer.alloc(0);
    nowMs += readMs;
    const indexOf = (): number => {
      nowMs += searchMs;
      return -1;
    };
    return await Promise.resolve(Object.assign(Buffer.from(HEADER), { indexOf }));
  }, timing);
  const looks = [
    { read: 0, search: 0, rest: 20 },
    { read: 10, search: 1, rest: 20 },
    { read: 100, search: 0, rest: 100 },
    { read: 0, search: 2, rest: 38 },
    { read: 100, search: 10, rest: 190 },
    { read: 100, search: 50, rest: 500 },
    { read: 5_000, search: 0, rest: 500 },
  ];
  for (const { read, search } of looks) {
    [readMs, searchMs] = [read, search];
    await peers.of(socketFrom(40_000));
  }
  await peers.of(socketFrom(40_000));
  expect(pauses.slice(0, looks.length)).toEqual(looks.map(({ rest }) => rest));
});

test('a line is found among those of others, wherever it stands, and taken for no other', async () => {
  const port = 40_000;
  const others = [port + 1, port - 1].map((other) => linesOf(4, other, 9)).join('');
  const [ofServer, ofPeer] = linesOf(4, port, 7).split('\n');
  for (const lines of [
    `${ofPeer}\n${ofServer}\n${others}`,
    `${others}${ofServer}\n${ofPeer}`,
    `${others}${linesOf(4, port, 8, '06')}${ofServer}\n${ofPeer}\n`,
  ]) {
    const { peers } = peersWith({ 4: HEADER + lines });
    expect(await peers.of(socketFrom(port))).toBe(7);
  }
  const { peers } = peersWith({ 4: HEADER + others + (ofServer ?? '') });
  expect(await peers.of(socketFrom(port))).toBeUndefined();
});
