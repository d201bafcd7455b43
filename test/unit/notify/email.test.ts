import { afterEach, describe, expect, it } from 'vitest';
import { emailSender, type MailAccount } from '../../../src/notify/email.ts';
import { sampleNotice } from './sample-notice.ts';
import { smtpReceiver, type SmtpReceiver } from './smtp-receiver.ts';

const open: SmtpReceiver[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});

async function mailServer(extensions?: readonly string[]): Promise<SmtpReceiver> {
  const receiver = await smtpReceiver(extensions);
  open.push(receiver);
  return receiver;
}

function account({ port }: SmtpReceiver, facts: Partial<MailAccount> = {}): MailAccount {
  return {
    host: '127.0.0.1',
    port,
    user: null,
    password: null,
    from: 'Holdfast <agent@mail.test>',
    to: ['ada@mail.test', 'bob@mail.test'],
    ...facts,
  };
}

const { signal } = new AbortController();
const password = { reveal: () => 'canary' };

describe('an e-mail', () => {
  it('goes to everybody with subject, text and log', async () => {
    const server = await mailServer();
    await emailSender(account(server)).send(sampleNotice({ log: ['one', 'two'] }), signal);
    expect(server.commands.filter((line) => /^(?:MAIL|RCPT)/.test(line))).toEqual([
      'MAIL FROM:<agent@mail.test>',
      'RCPT TO:<ada@mail.test>',
      'RCPT TO:<bob@mail.test>',
    ]);
    const [message = ''] = server.messages;
    const [head = '', body = ''] = message.split(/\r\n\r\n([\s\S]*)/);
    expect(head).toMatch(/^Subject: \[Holdfast workshop\] Backup failed: \/home\/ada$/m);
    expect(head).toMatch(/^Message-ID: <msg_0001@holdfast\.invalid>$/im);
    expect(head).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(head).toMatch(/^Date: Sat, 21 Nov 2026 02:31:07 \+0000$/m);
    expect(body).toMatch(
      /^The destination nas cannot be reached\. [\s\S]*\r\nEnd of the log:\r\none\r\ntwo$/,
    );
  });

  it('has no header that comes from the name of a file', async () => {
    const server = await mailServer();
    const source = '/home/a\r\nBcc: eve@mail.test\r\n\r\nbody';
    await emailSender(account(server)).send(sampleNotice({ source }), signal);
    expect(server.commands.join('\n')).not.toContain('eve');
    expect(server.messages[0]).not.toMatch(/^Bcc:/im);
  });

  it('is sent with the user and password of the account', async () => {
    const server = await mailServer(['AUTH PLAIN']);
    await emailSender(account(server, { user: 'ada', password })).send(sampleNotice(), signal);
    expect(server.commands).toContain(`AUTH PLAIN ${Buffer.from('\0ada\0canary').toString('base64')}`);
    expect(server.messages).toHaveLength(1);
  });

  it('does not send the password over a network in the clear', async () => {
    const server = await mailServer(['AUTH PLAIN']);
    // A name of this machine that is not one of its loopback names.
    const sending = emailSender(account(server, { host: '0.0.0.0', user: 'ada', password })).send(
      sampleNotice(),
      signal,
    );
    await expect(sending).rejects.toMatchObject({ code: 'NOTICE_NOT_DELIVERED' });
    expect(server.commands.join('\n')).toContain('STARTTLS');
    expect(server.commands.join('\n')).not.toContain('AUTH');
  });

  it.each([
    ['AUTH', '535 no', 'never'],
    ['AUTH', '454 not now', 'later'],
    ['MAIL', '550 not you', 'never'],
    ['RCPT', '450 come back', 'later'],
    ['RCPT', '550 nobody', 'never'],
    ['DATA', '452 full', 'later'],
    ['(greeting)', '421 busy', 'later'],
  ])('that is refused at %s with "%s" may be sent again: %s', async (verb, reply, retry) => {
    const server = await mailServer(['AUTH PLAIN']);
    server.reply = (command) => (command.startsWith(verb) ? `${reply}\r\n` : undefined);
    const sending = emailSender(account(server, { user: 'ada', password })).send(sampleNotice(), signal);
    const failure: unknown = await sending.catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'NOTICE_NOT_DELIVERED',
      retry,
      details: { status: Number(reply.slice(0, 3)) },
    });
    expect(failure instanceof Error && failure.message).not.toContain('canary');
    expect(server.messages).toEqual([]);
  });

  it('that some recipients are refused is not sent again to the others', async () => {
    const server = await mailServer();
    server.reply = (command) => (command.includes('bob') ? '550 5.1.1 nobody\r\n' : undefined);
    await expect(emailSender(account(server)).send(sampleNotice(), signal)).rejects.toMatchObject({
      retry: 'never',
      details: { refused: 1 },
      reachedSome: true,
      message: expect.stringContaining('It says: "550 5.1.1 nobody"'),
    });
    expect(server.messages).toHaveLength(1);
  });

  it('that some recipients are refused for now is sent again to them alone', async () => {
    const server = await mailServer();
    server.reply = (command) => (command.includes('bob') ? '450 4.2.0 greylisted\r\n' : undefined);
    const notice = sampleNotice();
    const send = async (): Promise<void> => await emailSender(account(server)).send(notice, signal);
    await expect(send()).rejects.toMatchObject({ retry: 'later', reachedSome: true });
    server.reply = () => undefined;
    server.commands.length = 0;
    await send();
    expect(server.commands.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<bob@mail.test>']);
    await send();
    expect(server.messages).toHaveLength(2);
  });

  it('that the server has and does not answer is waited for longer: it may be stored twice otherwise', async () => {
    const server = await mailServer();
    server.reply = (command) => (command === '(message)' ? '' : undefined);
    const sending = emailSender(account(server), { handOverMs: 300, acceptMs: 700 }).send(
      sampleNotice(),
      signal,
    );
    const began = performance.now();
    await expect(sending).rejects.toMatchObject({
      retry: 'later',
      message: expect.stringContaining('received the message, but did not confirm it within 0.7 s'),
    });
    expect(performance.now() - began).toBeGreaterThan(600);
  });

  it.each([
    ['MAIL', '550 5.1.8 not you', 'rejects the sender', 'Check the sender'],
    ['MAIL', '530 5.7.0 Authentication required', 'requires a sign-in', 'Set the user name and password'],
    ['MAIL', '530 5.7.0 Must issue a STARTTLS command first', 'offers no encryption', '465'],
    ['RCPT', '554 5.7.1 Relay access denied', 'requires a sign-in', 'Set the user name and password'],
    ['RCPT', '450 4.2.0 Greylisted, come back in 300 s', 'rejects the recipients', 'greylisting'],
    ['RCPT', '550 5.1.1 nobody', 'rejects the recipients', '"to"'],
    ['(message)', '554 5.7.1 spam', 'rejects the message', 'Follow what the server says'],
    ['(greeting)', '554 5.7.1 blocked', 'accepts no mail', 'Follow what the server says'],
    ['(greeting)', 'HTTP/1.1 400 Bad Request', 'does not answer like a mail server', 'Check host and port'],
  ])('that is refused at %s with "%s" says that the server %s', async (verb, reply, what, hint) => {
    const server = await mailServer();
    server.reply = (command) => (command.startsWith(verb) ? `${reply}\r\n` : undefined);
    await expect(emailSender(account(server)).send(sampleNotice(), signal)).rejects.toMatchObject({
      message: expect.stringContaining(what),
      hint: expect.stringContaining(hint),
    });
  });

  it('shows no password in the words of a server that repeats it', async () => {
    const server = await mailServer(['AUTH PLAIN']);
    server.reply = (command) =>
      command.startsWith('AUTH') ? `535 no: canary ${command.slice(11)}\r\n` : undefined;
    const failure: unknown = await emailSender(account(server, { user: 'ada', password }))
      .send(sampleNotice(), signal)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      retry: 'never',
      message: expect.stringContaining('It says: "535 no: [secret] [secret]"'),
    });
    expect(failure).not.toHaveProperty('cause');
  });

  it('is given up when the server says nothing or is not there', async () => {
    const server = await mailServer();
    server.reply = (command) => (command.startsWith('EHLO') ? '' : undefined);
    const failure: unknown = await emailSender(account(server), { handOverMs: 200, acceptMs: 60_000 })
      .send(sampleNotice(), signal)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ retry: 'later', message: expect.stringContaining('within 0.2 s') });
    await server.close();
    open.length = 0;
    await expect(emailSender(account(server)).send(sampleNotice(), signal)).rejects.toMatchObject({
      retry: 'later',
      message: expect.stringMatching(/cannot be reached \(ECONNREFUSED\)$/),
    });
  });

  it('stops with the reason of its caller', async () => {
    const server = await mailServer();
    server.reply = (command) => (command.startsWith('MAIL') ? '' : undefined);
    const stop = new AbortController();
    const reason = new Error('shutting down');
    setTimeout(() => stop.abort(reason), 100);
    await expect(emailSender(account(server)).send(sampleNotice(), stop.signal)).rejects.toBe(reason);
  });
});
