/** Who is let in, by whom, and what an account that may only add can do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import type { SFTPWrapper } from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import type { SftpAccess } from '../../src/destination/access.ts';
import type { SftpOptions } from '../../src/destination/sftp/place.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { cacheDirectory } from '../servers/cache-directory.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { runCommand } from '../servers/run-command.ts';
import { startOrSkip } from '../servers/unavailable.ts';

const live = new AbortController().signal;
const found = await startOrSkip(startOpenSsh);

if ('missing' in found) test.skip(`OpenSSH was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-home-'));
    await mkdir(join(home, '.ssh'), { mode: 0o700 });
  });

  afterAll(async () => {
    await rm(home, { recursive: true });
    await server.stop();
  });

  const open = async (access: SftpAccess, options: SftpOptions = {}, name = 'trust') =>
    await openSftpDestination(server.place(name), access, { create: true, ...options });

  async function refusal(access: SftpAccess, options: SftpOptions = {}): Promise<DestinationError> {
    const outcome = await open(access, options).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(DestinationError);
    return outcome as DestinationError;
  }

  async function works(access: SftpAccess, options: SftpOptions = {}): Promise<void> {
    const destination = await open(access, options);
    try {
      await destination.put('a', Buffer.from('x'), live);
      await destination.delete('a', live);
    } finally {
      await destination.close();
    }
  }

  test('a server that is not known is refused, with its fingerprint and what to do', async () => {
    const shown = await runCommand('ssh-keygen', ['-lf', server.hostKeyFile]);
    const fingerprint = /SHA256:\S+/.exec(shown)?.[0] ?? 'none';
    const error = await refusal({ keyFile: server.keyFile }, { home });
    expect(error.kind).toBe('denied');
    expect(error.message).toContain(fingerprint);
    expect(error.hint).toContain(`ssh-keyscan -p ${server.port} 127.0.0.1 >> ${home}/.ssh/known_hosts`);
  });

  test('known_hosts of the person are obeyed, hashed ones too, and so are changed and revoked keys', async () => {
    const file = join(home, '.ssh', 'known_hosts');
    const key = (await readFile(server.hostKeyFile, 'utf8')).split(' ').slice(0, 2).join(' ');
    const access = { keyFile: server.keyFile };
    await writeFile(file, `[127.0.0.1]:${server.port} ${key}\n`);
    await works(access, { home });
    await runCommand('ssh-keygen', ['-H', '-f', file]);
    expect(await readFile(file, 'utf8')).not.toContain('127.0.0.1');
    await works(access, { home });

    await writeFile(file, `[127.0.0.1]:${server.port} ${key}\n@revoked * ${key}\n`);
    const revoked = await refusal(access, { home });
    expect([revoked.kind, revoked.details['verdict']]).toEqual(['denied', 'revoked']);

    await runCommand('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, 'other')]);
    const other = (await readFile(join(home, 'other.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
    await writeFile(file, `[127.0.0.1]:${server.port} ${other}\n`);
    const changed = await refusal(access, { home });
    expect([changed.kind, changed.details['verdict']]).toEqual(['denied', 'changed']);
    expect(changed.message).toContain(`${file}:1`);
    await rm(file);
  });

  test('a key that the server does not know, that others may read or that is locked is refused plainly', async () => {
    const { hostKeyFile } = server;
    const unknown = await refusal({ keyFile: join(home, 'other'), hostKeyFile });
    expect(unknown).toMatchObject({ kind: 'denied', hint: expect.stringContaining('authorized_keys') });
    expect(unknown.message).toContain(server.user);

    const open = join(home, 'open');
    await copyFile(server.keyFile, open);
    await chmod(open, 0o644);
    expect((await refusal({ keyFile: open, hostKeyFile })).message).toContain('by others');

    const locked = join(home, 'locked');
    await copyFile(server.keyFile, locked);
    await chmod(locked, 0o600);
    await runCommand('ssh-keygen', ['-q', '-p', '-N', 'open sesame', '-f', locked]);
    expect((await refusal({ keyFile: locked, hostKeyFile })).message).toContain('passphrase');
    expect((await refusal({ keyFile: locked, keyPassphrase: 'wrong', hostKeyFile })).kind).toBe('denied');
    await works({ keyFile: locked, keyPassphrase: 'open sesame', hostKeyFile });
    expect((await refusal({ keyFile: join(home, 'none'), hostKeyFile })).message).toContain('does not exist');
  });

  test('keys are taken from the agent, from ssh’s configuration and from where ssh keeps them', async () => {
    const { hostKeyFile } = server;
    const socket = join(home, 'agent');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    try {
      const environment = { SSH_AUTH_SOCK: socket };
      const add = async () =>
        await runCommand('ssh-add', ['-q', server.keyFile], { env: { ...process.env, ...environment } });
      await expect
        .poll(
          async () =>
            await add().then(
              () => true,
              () => false,
            ),
          { timeout: 30_000 },
        )
        .toBe(true);
      await works({ hostKeyFile }, { home, environment });
    } finally {
      const ended = once(agent, 'exit');
      agent.kill();
      await ended;
    }
    // An agent that is gone is no reason to stop.
    const environment = { SSH_AUTH_SOCK: socket };
    expect((await refusal({ hostKeyFile }, { home, environment })).kind).toBe('denied');
    await writeFile(join(home, '.ssh', 'config'), `Host 127.0.0.1\n  IdentityFile ${server.keyFile}\n`);
    await works({ hostKeyFile }, { home, environment });
    await rm(join(home, '.ssh', 'config'));
    await copyFile(server.keyFile, join(home, '.ssh', 'id_ed25519'));
    await works({ hostKeyFile }, { home, environment });
  });

  test('a directory that is absent is not made unless that is asked for, and a file is none', async () => {
    const absent = await open(server.access, { create: false }, 'absent').catch((error: unknown) => error);
    expect(absent).toMatchObject({ kind: 'not-found' });
    await writeFile(join(server.data, 'file'), '');
    const file = await open(server.access, {}, 'file').catch((error: unknown) => error);
    expect(file).toMatchObject({ kind: 'unsupported' });
  });

  const asRoot = test.runIf(process.getuid?.() === 0);

  asRoot(
    'an account that may only add cannot change or remove what was stored, whatever it tries',
    async () => {
      const root = await mkdtemp(join(cacheDirectory(), 'chroot-'));
      await chmod(root, 0o755);
      const denied = 'remove,rename,posix-rename,rmdir,setstat,fsetstat,lsetstat,symlink';
      const closed = await startOpenSsh({
        accountSettings: [`ChrootDirectory ${root}`, `ForceCommand internal-sftp -P ${denied}`],
      });
      try {
        await mkdir(join(root, 'backups'));
        await runCommand('chown', [closed.owner, join(root, 'backups')]);
        const place = { ...closed.place(''), directory: '/backups' };
        const destination = await openSftpDestination(place, { ...closed.access, appendOnly: true });
        const body = Buffer.from('committed');
        await destination.put('snapshots/a', body, live);
        await destination.put('snapshots/b', body, live);
        expect(destination.properties).toMatchObject({ canDelete: false, conditionalCreate: true });
        expect(
          await destination.delete('snapshots/a', live).catch((error: DestinationError) => error.kind),
        ).toBe('denied');

        const path = '/backups/snapshots/a';
        const attempts = await withSession(closed, async (sftp, ask) => [
          await ask((done) => sftp.unlink(path, done)),
          await ask((done) => sftp.rename(path, `${path}2`, done)),
          await ask((done) => sftp.rename('/backups/snapshots/b', path, done)),
          await ask((done) => sftp.ext_openssh_rename('/backups/snapshots/b', path, done)),
          await ask((done) => sftp.ext_openssh_hardlink('/backups/snapshots/b', path, done)),
          await ask((done) => sftp.rmdir('/backups/snapshots', done)),
          await ask((done) => sftp.rename('/backups/snapshots', '/backups/away', done)),
          await ask((done) => sftp.open(path, 'r+', done)),
          await ask((done) => sftp.open(path, 'w', done)),
          await ask((done) => sftp.open(path, 'a', done)),
          await ask((done) => sftp.chmod(path, 0o600, done)),
          await ask((done) => sftp.utimes(path, 0, 0, done)),
          await ask((done) => sftp.setstat(path, { size: 0 }, done)),
          await ask((done) => sftp.symlink('/etc/passwd', path, done)),
        ]);
        expect(attempts.map((answer) => answer === 'refused')).toEqual(attempts.map(() => true));
        expect((await destination.get('snapshots/a', undefined, live)).equals(body)).toBe(true);
        await destination.close();
      } finally {
        await closed.stop();
        await rm(root, { recursive: true });
      }
    },
  );

  asRoot('a password lets in who knows it, through all of several connections, and nobody else', async () => {
    const password = 'correct horse: battery staple';
    const closed = await startOpenSsh({ password });
    try {
      const { hostKeyFile } = closed;
      const enter = async (access: SftpAccess) =>
        await openSftpDestination(closed.place('inside'), { hostKeyFile, ...access }, { create: true });
      const destination = await enter({ password });
      const keys = Array.from({ length: 60 }, (_, number) => `packs/${number}`);
      await Promise.all(keys.map(async (key) => await destination.put(key, Buffer.from(key), live)));
      expect((await destination.get('packs/7', undefined, live)).toString()).toBe('packs/7');
      expect((await closed.log()).match(/Accepted password/g)?.length).toBeGreaterThan(1);
      await destination.close();
      for (const access of [{ password: `${password}!` }, { keyFile: closed.keyFile }, {}]) {
        const refused = await enter(access).catch((error: unknown) => error);
        expect(refused).toMatchObject({ kind: 'denied' });
        expect(JSON.stringify(refused) + String(refused)).not.toContain(password);
      }
    } finally {
      await closed.stop();
    }
  });

  asRoot('a full disk is told from other failures, and leaves nothing behind', async () => {
    const small = await startOpenSsh({ room: 4_000_000 });
    try {
      const destination = await openSftpDestination(small.place('x'), small.access, { create: true });
      const outcome = await destination
        .put('a', Buffer.alloc(6_000_000, 1), live)
        .catch((error: unknown) => error);
      expect(outcome).toMatchObject({ kind: 'full', retry: 'later' });
      await destination.put('a', Buffer.alloc(3_000_000, 1), live);
      expect((await destination.stat('a', live)).size).toBe(3_000_000);
      await destination.close();
    } finally {
      await small.stop();
    }
  });
}

type Ask = (send: (done: (error?: Error | null) => void) => void) => Promise<'done' | 'refused'>;

/** What somebody with the same key could do without Holdfast. */
async function withSession<T>(
  server: { readonly port: number; readonly user: string; readonly keyFile: string },
  work: (sftp: SFTPWrapper, ask: Ask) => Promise<T>,
): Promise<T> {
  const client = new ssh2.Client();
  const ready = once(client, 'ready');
  client.connect({
    host: '127.0.0.1',
    port: server.port,
    username: server.user,
    privateKey: await readFile(server.keyFile),
  });
  await ready;
  try {
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
      client.sftp((error, session) => (error === undefined ? resolve(session) : reject(error)));
    });
    return await work(
      sftp,
      async (send) =>
        await new Promise((resolve) => {
          try {
            send((error) => resolve(error === undefined || error === null ? 'done' : 'refused'));
          } catch {
            // What the account may not do is not even offered.
            resolve('refused');
          }
        }),
    );
  } finally {
    client.end();
  }
}
