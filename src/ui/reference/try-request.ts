/** Sends a request that was typed into a form of the reference page, and shows what came back. */
import type { Access } from './access.ts';
import { curlOf, requestOf } from './typed-request.ts';

/** Characters of a reply that are shown; what follows is not read. */
const SHOWN = 256 * 1024;

export function tryIn(form: HTMLFormElement, access: Access): void {
  const stop = form.querySelector<HTMLButtonElement>('[data-stop]');
  const reply = form.querySelector<HTMLElement>('[data-reply]');
  const curl = form.querySelector<HTMLElement>('[data-curl]');
  if (stop === null || reply === null || curl === null) return;
  const needsToken = form.dataset['access'] === 'needed';
  let running = new AbortController();
  form.hidden = false;

  const showCommand = (): void => {
    curl.textContent = curlOf(requestOf(form, '', 'sample'), location.origin, needsToken);
  };
  form.addEventListener('input', showCommand);
  showCommand();
  stop.addEventListener('click', () => running.abort());

  /** Undefined when it is needed and there is none: then it is asked for. */
  const tokenOrAsk = (): string | undefined => {
    const token = form.dataset['access'] === 'none' ? '' : access.token();
    if (!needsToken || token !== '') return token;
    access.ask();
    return undefined;
  };
  form.querySelector('[data-fill]')?.addEventListener('click', () => {
    const token = tokenOrAsk();
    if (token !== undefined) void fillIn(form, token, reply).finally(showCommand);
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = tokenOrAsk();
    if (token === undefined) return;
    running.abort();
    running = new AbortController();
    const { signal } = running;
    stop.hidden = false;
    void send(form, { token, reply, signal }).finally(() => {
      if (running.signal === signal) stop.hidden = true;
    });
  });
}

/** Fills a form that replaces something with what is there now, and with the revision that it has. */
async function fillIn(form: HTMLFormElement, token: string, reply: HTMLElement): Promise<void> {
  const head = document.createElement('p');
  try {
    const response = await fetch(form.dataset['path'] ?? '', {
      headers: { authorization: `Bearer ${token}` },
      credentials: 'omit',
      cache: 'no-store',
    });
    const { data, error } = (await response.json()) as {
      readonly data?: Readonly<Record<string, unknown>>;
      readonly error?: { readonly message: string };
    };
    if (data === undefined)
      throw new Error(error?.message ?? `The answer has the status ${response.status}.`);
    const { revision: _, ...body } = data;
    const revision = form.querySelector<HTMLInputElement>('[name="If-Match"]');
    const typed = form.querySelector<HTMLTextAreaElement>('[data-body]');
    if (revision !== null) revision.value = response.headers.get('etag') ?? '';
    if (typed !== null) typed.value = JSON.stringify(body, undefined, 2);
    head.textContent = 'This is what is there now. Change it, then send it.';
  } catch (error) {
    head.textContent = error instanceof Error ? error.message : String(error);
  }
  reply.replaceChildren(head);
}

interface Sending {
  readonly token: string;
  readonly reply: HTMLElement;
  readonly signal: AbortSignal;
}

async function send(form: HTMLFormElement, { token, reply, signal }: Sending): Promise<void> {
  const { path, method, headers, body } = requestOf(form, token);
  const head = document.createElement('p');
  const shown = document.createElement('pre');
  reply.replaceChildren(head);
  const begun = performance.now();
  try {
    const response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
    });
    const took = Math.round(performance.now() - begun);
    head.textContent = `${response.status} ${response.statusText}, after ${took} ms`;
    reply.append(shown);
    await showBody(response, shown);
  } catch (error) {
    if (signal.aborted) head.textContent += head.textContent === '' ? 'Stopped.' : ' (stopped)';
    else head.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Shows text as it comes, since event streams do not end, and JSON with one field a line. */
async function showBody(response: Response, shown: HTMLElement): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  if (!/json|^text\//.test(type)) {
    const length = response.headers.get('content-length');
    shown.textContent = `${type === '' ? 'No body' : type}${length === null ? '' : `, ${length} bytes`}`;
    await response.body?.cancel();
    return;
  }
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) break;
    text += next.value;
    shown.textContent = text.slice(0, SHOWN);
    if (text.length < SHOWN) continue;
    shown.textContent += '\n… and more.';
    await reader?.cancel();
    return;
  }
  shown.textContent = type.includes('json') ? indented(text) : text;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
