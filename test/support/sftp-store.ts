/** An SSH server with SFTP in this process, which keeps a few files in memory and has faults of its own. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import ssh2, { type Connection, type SFTPWrapper } from 'ssh2';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const DIRECTORY = 0o040_755;
const FILE = 0o100_600;

export interface SftpStore {
  readonly port: number;
  readonly publicKey: string;
  /** By path; the destination is `/keep`. */
  readonly files: Map<string, Buffer>;
  /** Seconds since 1970, by path, where it is not 1,000. */
  readonly times: Map<string, number>;
  /** So many files more cannot be made, as if their directory were not there. */
  forget(times: number): void;
  /** So many writes more are refused, as those of an account whose quota is used up. */
  refuseWrites(times: number): void;
  stop(): Promise<void>;
}

export interface SftpStoreOptions {
  /** What the server calls itself. */
  readonly software?: string;
  /** Called when a session is let in; with it the session never says anything. */
  readonly onSilence?: () => void;
  /** Opens a file that is to be created also where there is one. */
  readonly createsTwice?: boolean;
  /** Directories beside `/keep`, such as `/keep/a`. */
  readonly folders?: readonly string[];
  /** Each directory has always more names. */
  readonly isEndless?: boolean;
  /** Asked when a session begins: with true it never says anything. */
  readonly isMute?: () => boolean;
  /** The status with which every new directory is refused. */
  readonly makesNone?: number;
  /** What a shell prints before SFTP begins, which it then never does. */
  readonly greeting?: Buffer;
  /** Asked before each request of a session: true when it has dealt with it itself. */
  readonly fault?: (asked: SftpRequest, sftp: SFTPWrapper) => boolean;
}

export interface SftpRequest {
  readonly kind: 'STAT' | 'OPENDIR' | 'READDIR' | 'READ' | 'FSTAT';
  readonly id: number;
  /** What it is about. */
  readonly path: string;
}

const endlessNames = Array.from({ length: 1_000 }, (_, i) => ({
  filename: `endless-${i}`,
  longname: '',
  attrs: { mode: FILE, size: 1, uid: 0, gid: 0, atime: 0, mtime: 1_000 },
}));

export async function startSftpStore({
  software,
  onSilence,
  createsTwice = false,
  folders = [],
  isEndless = false,
  isMute = () => false,
  makesNone,
  greeting,
  fault = () => false,
}: SftpStoreOptions = {}): Promise<SftpStore> {
  // Not ed25519: of those that ssh2 makes, one in 256 cannot be read back by it.
  const key = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const directories = new Set(['/', '/keep', ...folders]);
  const files = new Map<string, Buffer>();
  const times = new Map<string, number>();
  const open: string[] = [];
  let forgotten = 0;
  let refused = 0;
  const attributesOf = (path: string) => ({
    mode: files.has(path) ? FILE : DIRECTORY,
    size: files.get(path)?.length ?? 0,
    uid: 0,
    gid: 0,
    atime: 0,
    mtime: times.get(path) ?? 1_000,
  });
  const serve = (sftp: SFTPWrapper): void => {
    const listed = new Set<string>();
    const nameOf = (handle: Buffer): string => open[handle.readUInt32BE()] ?? '';
    const known = (id: number, path: string): void => {
      if (fault({ kind: 'STAT', id, path }, sftp)) return;
      if (!files.has(path) && !directories.has(path)) sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      else sftp.attrs(id, attributesOf(path));
    };
    const handleOf = (path: string): Buffer => {
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(open.push(path) - 1);
      return handle;
    };
    sftp.on('STAT', known);
    sftp.on('LSTAT', known);
    sftp.on('FSTAT', (id, handle) => {
      if (!fault({ kind: 'FSTAT', id, path: nameOf(handle) }, sftp)) known(id, nameOf(handle));
    });
    sftp.on('READ', (id, handle, offset, length) => {
      if (fault({ kind: 'READ', id, path: nameOf(handle) }, sftp)) return;
      const part = files.get(nameOf(handle))?.subarray(offset, offset + length);
      if (part === undefined || part.length === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, part);
    });
    sftp.on('MKDIR', (id, path) => {
      if (makesNone !== undefined) return sftp.status(id, makesNone);
      sftp.status(id, directories.has(path) ? STATUS_CODE.FAILURE : STATUS_CODE.OK);
      directories.add(path);
    });
    sftp.on('OPEN', (id, path, flags) => {
      const isThere = directories.has(path.slice(0, path.lastIndexOf('/')));
      const isForgotten = isThere && path.startsWith('/keep/packs/') && forgotten > 0;
      if (isForgotten) forgotten -= 1;
      if (!isThere || isForgotten) return sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      if ((flags & OPEN_MODE.EXCL) !== 0 && !createsTwice && files.has(path))
        return sftp.status(id, STATUS_CODE.FAILURE);
      if ((flags & OPEN_MODE.CREAT) !== 0) files.set(path, Buffer.alloc(0));
      sftp.handle(id, handleOf(path));
    });
    sftp.on('OPENDIR', (id, path) => {
      if (fault({ kind: 'OPENDIR', id, path }, sftp)) return;
      if (directories.has(path)) sftp.handle(id, handleOf(path));
      else sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
    });
    sftp.on('READDIR', (id, handle) => {
      const key = handle.toString('hex');
      if (isEndless) return sftp.name(id, endlessNames);
      if (fault({ kind: 'READDIR', id, path: nameOf(handle) }, sftp)) return;
      if (listed.has(key)) return sftp.status(id, STATUS_CODE.EOF);
      listed.add(key);
      const below = `${nameOf(handle)}/`;
      const inside = [...files.keys(), ...directories].filter(
        (path) => path.lastIndexOf('/') === below.length - 1,
      );
      const names = inside.filter((path) => path.startsWith(below));
      sftp.name(
        id,
        names.map((path) => ({
          filename: path.slice(below.length),
          longname: path,
          attrs: attributesOf(path),
        })),
      );
    });
    sftp.on('WRITE', (id, handle, offset, data) => {
      refused -= 1;
      if (refused >= 0) return sftp.status(id, STATUS_CODE.FAILURE);
      const before = files.get(nameOf(handle)) ?? Buffer.alloc(0);
      const after = before.subarray(offset + data.length);
      const gap = Buffer.alloc(Math.max(0, offset - before.length));
      files.set(nameOf(handle), Buffer.concat([before.subarray(0, offset), gap, data, after]));
      sftp.status(id, STATUS_CODE.OK);
    });
    sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK));
    sftp.on('REMOVE', (id, path) => {
      sftp.status(id, files.delete(path) ? STATUS_CODE.OK : STATUS_CODE.NO_SUCH_FILE);
    });
    sftp.on('RENAME', (id, from, to) => {
      files.set(to, files.get(from) ?? Buffer.alloc(0));
      sftp.status(id, files.delete(from) ? STATUS_CODE.OK : STATUS_CODE.NO_SUCH_FILE);
    });
  };
  const connections = new Set<Connection>();
  const ssh = new ssh2.Server(
    { hostKeys: [key.private], ...(software === undefined ? {} : { ident: software }) },
    (connection) => {
      connections.add(connection);
      connection.on('error', () => {});
      connection.on('authentication', (context) => context.accept());
      connection.on('session', (accept) => {
        const session = accept();
        if (greeting !== undefined) session.on('subsystem', (begin) => void begin().write(greeting));
        else if (onSilence === undefined && !isMute()) session.on('sftp', (begin) => serve(begin()));
        else
          session.on('subsystem', (begin) => {
            begin();
            onSilence?.();
          });
      });
    },
  );
  // As servers do: otherwise each answer may wait 40 ms for an acknowledgement.
  const server = createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    publicKey: key.public,
    files,
    times,
    forget: (times) => void (forgotten = times),
    refuseWrites: (times) => void (refused = times),
    stop: async () => {
      for (const connection of connections) connection.end();
      server.close();
      await once(server, 'close');
    },
  };
}
