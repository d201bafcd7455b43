/** A mail server on loopback, as small as the protocol allows (RFC 5321). */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface SmtpReceiver {
  readonly port: number;
  /** Lines of all sessions but for the messages themselves. */
  readonly commands: string[];
  readonly messages: string[];
  /** Gives the reply to a command; undefined for the usual one. */
  reply: (command: string) => string | undefined;
  close(): Promise<void>;
}

/** `extensions`: what EHLO announces. */
export async function smtpReceiver(extensions: readonly string[] = []): Promise<SmtpReceiver> {
  const commands: string[] = [];
  const messages: string[] = [];
  const sockets = new Set<Socket>();

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.setEncoding('utf8');
    socket.write(receiver.reply('(greeting)') ?? '220 mail.test\r\n');
    let pending = '';
    let inMessage = false;
    socket.on('data', (part: string) => {
      pending += part;
      for (;;) {
        const end = inMessage ? '\r\n.\r\n' : '\r\n';
        const at = pending.indexOf(end);
        if (at < 0) return;
        const line = pending.slice(0, at);
        pending = pending.slice(at + end.length);
        if (inMessage) {
          messages.push(line);
          inMessage = false;
          socket.write(receiver.reply('(message)') ?? '250 taken\r\n');
        } else {
          commands.push(line);
          const reply = receiver.reply(line) ?? usualReply(line, extensions);
          inMessage = line === 'DATA' && reply.startsWith('354');
          socket.write(reply);
          if (line === 'QUIT') socket.end();
        }
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: SmtpReceiver = {
    port,
    commands,
    messages,
    reply: () => undefined,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

function usualReply(line: string, extensions: readonly string[]): string {
  const [verb] = line.split(' ');
  switch (verb) {
    case 'EHLO': {
      const lines = ['mail.test', ...extensions];
      return lines.map((text, index) => `250${index < lines.length - 1 ? '-' : ' '}${text}\r\n`).join('');
    }
    case 'DATA':
      return '354 go on\r\n';
    case 'STARTTLS':
      return '502 not here\r\n';
    case 'QUIT':
      return '221 bye\r\n';
    case 'AUTH':
      return '235 welcome\r\n';
    default:
      return '250 fine\r\n';
  }
}
