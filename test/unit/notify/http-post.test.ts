// Turn 6 of 8.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { post, type Post } from '../../../src/notify/http-post.ts';
import { DeliveryError } from '../../../src/notify/sender.ts';
import { answerWith, httpReceiver, type HttpReceiver } from './http-receiver.ts';

let receiver: HttpReceiver;
let other: HttpReceiver;
beforeEach(async () => {
  [receiver, other] = await Promise.all([httpReceiver(), httpReceiver()]);
});
afterEach(async () => {
  await Promise.all([receiver.close(), other.close()]);
});

const { signal } = new AbortController();
const toReceiver = (path = '/hook') => ({
  url: `${receiver.url}${path}`,
  headers: { 'x-mark': 'yes' },
  body: 'text ü',
});

async function failureOf(sending: Promise<unknown>): Promise<DeliveryError> {
  const error = await sending.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof DeliveryError)) throw new Error('it did not fail as expected', { cause: error });
  return error;
}

describe('a post', () => {
  it('carries headers and body, and gives the start of the reply', async () => {
    receiver.answer = (_count, response) => response.writeHead(202).end('é'.repeat(100_000));
    const reply = await post(toReceiver(), signal);
    expect(receiver.received).toMatchObject([
      { method: 'POST', path: '/hook', body: 'text ü', headers: { 'x-mark': 'yes' } },
    ]);
    expect(reply).toBe('é'.repeat(2048));
  });

  it('reads no more of a reply without end than it wants', async () => {
    receiver.answer = (_count, response) => {
      const timer = setInterval(() => response.write('x'.repeat(1000)), 1);
      response.on('close', () => clearInterval(timer));
    };
    expect(await post(toReceiver(), signal, 2000)).toBe('x'.repeat(4096));
  });

  it.each([
    [400, 'never'],
    [401, 'never'],
    [404, 'never'],
    [303, 'never'],
    [408, 'later'],
    [429, 'later'],
    [500, 'later'],
    [503, 'later'],
  ])('that is answered with %i may be repeated: %s', async (status, retry) => {
    receiver.answer = answerWith(status);
    const failure = await failureOf(post(toReceiver(), signal));
    expect(failure).toMatchObject({ retry, details: { status } });
    expect(failure.message).toContain(`status ${status}`);
  });

  it('hears for how long the receiver wants to hear nothing, up to an hour', async () => {
    receiver.answer = answerWith(429, { 'retry-after': '7' });
    expect(await failureOf(post(toReceiver(), signal))).toMatchObject({ silenceMs: 7000 });
    receiver.answer = answerWith(503, { 'retry-after': '86400' });
    expect(await failureOf(post(toReceiver(), signal))).toMatchObject({ silenceMs: 3_600_000 });
    const date = 'Sun, 22 Nov 2026 00:00:00 GMT';
    receiver.answer = answerWith(503, { 'retry-after': 'Sun, 22 Nov 2026 00:10:00 GMT', date });
    expect(await failureOf(post(toReceiver(), signal))).toMatchObject({ silenceMs: 600_000 });
    receiver.answer = answerWith(503);
    expect(await failureOf(post(toReceiver(), signal))).toMatchObject({ silenceMs: null });
  });

  it('is done with the status of the answer: the rest may never end, or break off', async () => {
    receiver.answer = (_count, response) => void response.writeHead(200).write('OK');
    expect(await post(toReceiver(), signal)).toBe('OK');
    receiver.answer = (_count, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('OK', () => response.destroy());
    };
    expect(await post(toReceiver(), signal)).toBe('OK');
    expect(receiver.received).toHaveLength(2);
  });

  it('follows a redirect on the same host, body and headers included', async () => {
    receiver.answer = (count, response) => {
      if (count === 1) response.writeHead(301, { location: '/moved' }).end();
      else response.end('OK');
    };
    expect(await post(toReceiver(), signal)).toBe('OK');
    expect(receiver.received[1]).toMatchObject({
      method: 'POST',
      path: '/moved',
      body: 'text ü',
      headers: { 'x-mark': 'yes' },
    });
  });

  it.each([
    'http://127.0.0.1:OTHER/',
    'http://localhost:OTHER/',
    '//127.0.0.1:OTHER/',
    'http://localhost:SAME/',
    'http://user:word@127.0.0.1:SAME/',
    'https://127.0.0.1:SAME/',
    'file:///etc/passwd',
    'http://[',
  ])('does not follow a redirect to %s', async (target) => {
    const location = target
      .replace('OTHER', new URL(other.url).port)
      .replace('SAME', new URL(receiver.url).port);
    receiver.answer = answerWith(307, { location });
    const failure = await failureOf(post(toReceiver(), signal));
    expect(failure).toMatchObject({ retry: 'later' });
    expect(failure.message).toContain('redirects elsewhere');
    expect([receiver.received.length, other.received.length]).toEqual([1, 0]);
  });

  it('does not follow redirects without end', async () => {
    receiver.answer = answerWith(308, { location: '/again' });
    expect((await failureOf(post(toReceiver(), signal))).message).toContain('in a circle');
    expect(receiver.received).toHaveLength(4);
  });

  it('gives up on a receiver that says nothing', async () => {
    receiver.answer = () => undefined;
    const failure = await failureOf(post(toReceiver(), signal, 100));
    expect(failure).toMatchObject({ retry: 'later', mayHaveArrived: true });
    expect(failure.message).toMatch(/did not answer within 0.1 s/);
  });

  it('fails for now when nobody listens', async () => {
    await other.close();
    const failure = await failureOf(post({ url: `${other.url}/secret-path`, headers: {}, body: '' }, signal));
    other = await httpReceiver();
    expect(failure).toMatchObject({ retry: 'later', mayHaveArrived: false });
    expect(failure.message).toContain('ECONNREFUSED');
  });

  it('names neither path nor query of the address, which are often a secret', async () => {
    receiver.answer = answerWith(500);
    const failure = await failureOf(post(toReceiver('/canary-path?key=canary-query'), signal));
    expect(`${failure.message}${failure.hint}${JSON.stringify(failure.details)}`).not.toContain('canary');
    const withUser = await failureOf(
      post({ url: 'http://canary:canary@127.0.0.1/', headers: {}, body: '' }, signal),
    );
    expect(`${withUser.message}${withUser.hint}${String(withUser.cause)}`).not.toContain('canary');
  });

  it('to what is no web address fails for good', async () => {
    for (const url of ['', 'nonsense', 'ftp://host/', 'file:///etc/passwd']) {
      expect(await failureOf(post({ url, headers: {}, body: '' }, signal))).toMatchObject({ retry: 'never' });
    }
  });

  it('stops with the reason of its caller', async () => {
    receiver.answer = () => undefined;
    const stop = new AbortController();
    const sending = post(toReceiver(), stop.signal);
    const reason = new Error('shutting down');
    setTimeout(() => stop.abort(reason), 30);
    await expect(sending).rejects.toBe(reason);
  });
});

describe('what a network answers in place of the receiver', () => {
  const page = '<!DOCTYPE html>\n<html><title>Welcome to the hotel</title></html>';
  const answerPage = (status: number, body = page): void => {
    receiver.answer = (_count, response) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  };
  const sent = async (facts: Partial<Post> = {}): Promise<string> =>
    await post({ url: receiver.url, headers: {}, body: 'b', ...facts }, signal);

  it('is no delivery where it is a web page, and is tried again', async () => {
    for (const status of [200, 401, 403]) {
      answerPage(status);
      await expect(sent()).rejects.toMatchObject({
        retry: 'later',
        message: expect.stringContaining('a web page'),
        hint: expect.stringContaining('sign in first'),
      });
    }
  });

  it('may be a page of the receiver itself, which is then not told for days; what a program prints is none', async () => {
    answerPage(200);
    await expect(sent({ mayAnswerPage: true })).rejects.toMatchObject({ mayHaveArrived: true });
    await expect(sent()).rejects.toMatchObject({ mayHaveArrived: false });
    answerPage(200, 'ok');
    expect(await sent()).toBe('ok');
  });

  it('is tried again where it leads elsewhere', async () => {
    receiver.answer = answerWith(302, { location: 'http://portal.example/sign-in' });
    await expect(sent()).rejects.toMatchObject({
      retry: 'later',
      message: expect.stringContaining('redirects elsewhere'),
      hint: expect.stringContaining('sign in first'),
    });
  });

  it('a wrong address is refused for good, with a page or without', async () => {
    answerPage(404);
    await expect(sent()).rejects.toMatchObject({ retry: 'never', details: { status: 404 } });
  });

  it('a receiver that wants a certificate is told as such', async () => {
    answerPage(400, '<html><head><title>400 No required SSL certificate was sent</title></head></html>');
    await expect(sent()).rejects.toMatchObject({
      retry: 'never',
      message: expect.stringContaining('requires a certificate from this computer'),
    });
  });
});
