/** What gives access to the API on the reference page: a token or key that is typed, and kept in the page alone. */

export interface Access {
  /** Empty while there is none. */
  token(): string;
  /** Shows where a token is entered. */
  ask(): void;
}

export function accessOf(page: Document): Access {
  const part = page.querySelector<HTMLElement>('[data-access-part]');
  const token = part?.querySelector<HTMLInputElement>('[data-token]');
  if (part === null || token === null || token === undefined)
    return { token: () => '', ask: () => undefined };
  const state = part.querySelector('[data-access-state]');
  const say = (text: string): void => {
    if (state !== null) state.textContent = text;
  };
  const trade = async (exchange: string): Promise<void> => {
    try {
      token.value = await tokenFor(exchange, part);
      say('The token is ready. It is valid for an hour.');
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  part.hidden = false;
  part.addEventListener('submit', (event) => {
    event.preventDefault();
    const { exchange } = event.target instanceof HTMLElement ? event.target.dataset : {};
    if (exchange === undefined) return;
    say('');
    void trade(exchange);
  });
  return {
    token: () => token.value.trim(),
    ask() {
      say('This request needs access: enter it here.');
      token.focus();
    },
  };
}

/** @throws {Error} with what the API says */
async function tokenFor(exchange: string, part: HTMLElement): Promise<string> {
  const typed = (name: string): string =>
    part.querySelector<HTMLInputElement>(`[data-${name}]`)?.value.trim() ?? '';
  const reply = await fetch(exchange, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: typed('key'), secret: typed('secret') }),
    credentials: 'omit',
    cache: 'no-store',
  });
  const answer = (await reply.json()) as {
    readonly data?: { readonly access_token: string };
    readonly error?: { readonly message: string };
  };
  if (answer.data !== undefined) return answer.data.access_token;
  throw new Error(answer.error?.message ?? `The agent answered ${reply.status}.`);
}
