/** A name server on loopback that answers as it is told: enough of DNS (RFC 1035) for A and AAAA records over UDP. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

export interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
}

export interface NameServer extends AsyncDisposable {
  /** As `dns.setServers` takes it. */
  readonly address: string;
  readonly asked: Question[];
  /** Addresses, an error of DNS, or no answer at all. */
  answer: (question: Question) => readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';
}

const CODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

export async function startNameServer(answer: NameServer['answer']): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { question, end } = readQuestion(query);
    server.asked.push(question);
    const given = server.answer(question);
    if (given === 'silence') return;
    const addresses = typeof given === 'string' ? [] : given;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (typeof given === 'string' ? CODES[given] : 0), 2);
    header.writeUInt16BE(addresses.length, 6);
    // Without the additional records of the query.
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...addresses.map(record)]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server: NameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    asked: [],
    answer,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
  return server;
}

function readQuestion(query: Buffer): { readonly question: Question; readonly end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  const type = query.readUInt16BE(offset + 1) === TYPES.AAAA ? 'AAAA' : 'A';
  return { question: { name: labels.join('.'), type }, end: offset + 5 };
}

const TYPES = { A: 1, AAAA: 28 } as const;

/** For the name of the question; to be forgotten at once. */
function record(address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(data.length === 4 ? TYPES.A : TYPES.AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
