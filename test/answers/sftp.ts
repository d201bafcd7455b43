/** SSH servers that answer without end, or stop to answer. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { startSftpStore, type SftpRequest, type SftpStore } from '../support/sftp-store.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

/** A server of good behaviour until it is told how to behave. */
export interface SshSite extends AsyncDisposable {
  readonly port: number;
  readonly publicKey: string;
  misbehave(manner: SshManner | undefined): void;
  firstMs: number | undefined;
  count: number;
}

export interface SshManner {
  /** In place of the SSH server. */
  readonly line?: (socket: Socket) => void;
  /** In place of the answer to a request; false to let it be answered. */
  readonly request?: (asked: SftpRequest, sftp: SFTPWrapper) => boolean;
  /** In place of beginning a session. */
  readonly isMute?: boolean;
  readonly bound: number;
}

const noise = Buffer.alloc(65_536, 'holdfast');

function pour(socket: Socket, piece: Buffer): void {
  socket.on('error', () => {});
  const more = (): void => {
    while (!socket.destroyed) if (!socket.write(piece)) return void socket.once('drain', more);
  };
  more();
}

function name(filename: string, isFolder = false) {
  const mode = isFolder ? 0o040_755 : 0o100_600;
  return { filename, longname: '', attrs: { mode, size: 1, uid: 0, gid: 0, atime: 0, mtime: 1_000 } };
}

let grown = 0;

export const SSH_MANNERS: Readonly<Record<string, SshManner>> = {
  'no-word': { bound: 300, line: () => {} },
  'greeting-only': { bound: 300, line: (socket) => void socket.write('SSH-2.0-OpenSSH_9.9\r\n') },
  'greeting-endless': {
    bound: 70,
    line: (socket) => pour(socket, Buffer.from('hello there\r\n'.repeat(5_000))),
  },
  'greeting-one-line': { bound: 70, line: (socket) => pour(socket, noise) },
  'packet-huge': {
    bound: 70,
    line: (socket) => {
      socket.write('SSH-2.0-OpenSSH_9.9\r\n');
      socket.write(Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x04]));
      pour(socket, noise);
    },
  },
  'ignored-packets': {
    bound: 70,
    line: (socket) => {
      socket.write('SSH-2.0-OpenSSH_9.9\r\n');
      // SSH_MSG_IGNORE of ten bytes, before any key was exchanged.
      const one = Buffer.from([0, 0, 0, 12, 6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
      pour(socket, Buffer.concat(Array.from({ length: 4_000 }, () => one)));
    },
  },
  'session-mute': { bound: 300, isMute: true },
  'request-mute': { bound: 300, request: () => true },
  'list-mute': { bound: 300, request: ({ kind }) => kind === 'READDIR' },
  'read-mute': { bound: 300, request: ({ kind }) => kind === 'READ' },
  'list-endless': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READDIR') return false;
      sftp.name(
        id,
        Array.from({ length: 200 }, () => name(`f${(grown += 1)}`)),
      );
      return true;
    },
  },
  'list-long-names': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READDIR') return false;
      sftp.name(id, [name('x'.repeat(200_000))]);
      return true;
    },
  },
  'list-deep': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind === 'OPENDIR') {
        sftp.handle(id, Buffer.alloc(4));
        return true;
      }
      if (kind !== 'READDIR') return false;
      sftp.name(id, [name(`d${(grown += 1)}`, true)]);
      return true;
    },
  },
  'list-drip': {
    bound: 300,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READDIR') return false;
      setTimeout(() => sftp.name(id, [name(`f${(grown += 1)}`)]), 15_000);
      return true;
    },
  },
  'read-drip': {
    bound: 300,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READ') return false;
      setTimeout(() => sftp.data(id, Buffer.from('x')), 1_000);
      return true;
    },
  },
  'size-huge': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'FSTAT') return false;
      sftp.attrs(id, { mode: 0o100_600, size: 2 ** 40, uid: 0, gid: 0, atime: 0, mtime: 1_000 });
      return true;
    },
  },
  'read-too-much': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READ') return false;
      sftp.data(id, Buffer.alloc(250_000));
      return true;
    },
  },
  'refusal-long': {
    bound: 30,
    request: ({ kind, id }, sftp) => {
      if (kind !== 'READ' && kind !== 'READDIR') return false;
      sftp.status(id, STATUS_CODE.FAILURE, 'no '.repeat(80_000));
      return true;
    },
  },
};

/** Stands before an SSH server, so that it can be another one for a while. */
export async function startSshSite(): Promise<SshSite> {
  let manner: SshManner | undefined;
  const note = (): void => {
    site.firstMs ??= performance.now();
    site.count += 1;
  };
  const store: SftpStore = await startSftpStore({
    fault: (asked, sftp) => {
      if (manner?.request?.(asked, sftp) !== true) return false;
      note();
      return true;
    },
    isMute: () => {
      if (manner?.isMute !== true) return false;
      note();
      return true;
    },
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    if (manner?.line !== undefined) {
      note();
      socket.resume();
      manner.line(socket);
      return;
    }
    // Two ends that wait for each other's acknowledgements would make each answer 40 ms late.
    socket.setNoDelay(true);
    const onward = connect({ port: store.port, host: '127.0.0.1', noDelay: true });
    onward.on('error', () => socket.destroy());
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const site: SshSite = {
    port: (server.address() as AddressInfo).port,
    publicKey: store.publicKey,
    misbehave: (next) => void (manner = next),
    firstMs: undefined,
    count: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      await store.stop();
    },
  };
  return site;
}
