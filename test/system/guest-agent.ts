/** An agent in the machine, asked by the command line or, which costs a tenth of that, over its Desktop API. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandOptions, Guest, Outcome } from './guest.ts';

/** Where an agent has what is its own. */
export interface AgentPlace {
  readonly unit: string;
  readonly user: string;
  readonly state: string;
  readonly port: number;
  /** In front of each command; the package knows the places of its own service. */
  readonly environment: string;
}

export const PACKAGED: AgentPlace = {
  unit: 'holdfast.service',
  user: 'holdfast',
  state: '/var/lib/holdfast',
  port: 7390,
  environment: '',
};

export interface ShownJob {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly attempt: number;
  readonly snapshot_id: string | null;
  readonly finished_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface ShownSnapshot {
  readonly id: string;
  readonly [name: string]: unknown;
}

const PATIENCE_MS = 300_000;
/** Emulated, a request takes seconds of processor time, which the job would have. */
const [FIRST_POLL_MS, LONGEST_POLL_MS] = [1_500, 12_000];
/** A job starts a process of its own, and may wait for the system to answer. */
const JOB_MS = 900_000;

export class GuestAgent {
  readonly guest: Guest;
  readonly place: AgentPlace;
  #token: string | undefined;

  constructor(guest: Guest, place: AgentPlace = PACKAGED) {
    this.guest = guest;
    this.place = place;
  }

  /** The command line, as the user of the agent. */
  async try(words: string, options: CommandOptions = {}): Promise<Outcome> {
    const { user, environment } = this.place;
    return await this.guest.try(`cd / && runuser -u ${user} -- env ${environment} holdfast ${words}`, {
      withinMs: PATIENCE_MS,
      ...options,
    });
  }

  async run(words: string, options: CommandOptions = {}): Promise<string> {
    const { user, environment } = this.place;
    return await this.guest.run(`cd / && runuser -u ${user} -- env ${environment} holdfast ${words}`, {
      withinMs: PATIENCE_MS,
      ...options,
    });
  }

  async ready(withinMs = PATIENCE_MS): Promise<void> {
    await this.guest.until(`curl -fsS -m 20 http://127.0.0.1:${this.place.port}/readyz`, withinMs, 2_000);
  }

  /** What signs in to the Desktop API, made once; in a file of the machine, so that it is there after the next start. */
  async credential(): Promise<void> {
    if ((await this.guest.try(`test -s ${this.#file}`)).code === 0) return;
    const made = await this.run('credentials create --name system-test --json');
    const { api_key, secret } = JSON.parse(made) as { api_key: string; secret: string };
    await this.guest.write(this.#file, JSON.stringify({ api_key, secret }), '0600');
  }

  async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    this.#token ??= await this.#signIn();
    const sent = body === undefined ? '' : `-H 'Content-Type: application/json' --data-binary @-`;
    const out = await this.guest.run(
      `curl -sS -m 120 -w '\\n%{http_code}' -X ${method} -H 'Authorization: Bearer ${this.#token}' ${sent} 'http://127.0.0.1:${this.place.port}/v1${path}'`,
      { withinMs: 150_000, ...(body === undefined ? {} : { input: JSON.stringify(body) }) },
    );
    const at = out.lastIndexOf('\n');
    const status = Number(out.slice(at + 1));
    if (status === 401) {
      this.#token = undefined;
      return await this.ask(method, path, body);
    }
    if (status === 429) {
      await sleep(5_000);
      return await this.ask(method, path, body);
    }
    return { status, body: JSON.parse(out.slice(0, at)) as unknown };
  }

  async data<Value>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Value> {
    const reply = await this.ask(method, path, body);
    if (reply.status >= 300)
      throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 600)}`);
    return (reply.body as { data: Value }).data;
  }

  async submit(kind: string, body: unknown): Promise<ShownJob> {
    return await this.data<ShownJob>('POST', `/${kind}`, body);
  }

  async job(kind: string, id: string): Promise<ShownJob> {
    return await this.data<ShownJob>('GET', `/${kind}/${id}`);
  }

  async finished(kind: string, id: string, withinMs = JOB_MS): Promise<ShownJob> {
    const untilMs = performance.now() + withinMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LONGEST_POLL_MS, pauseMs * 1.5)) {
      const shown = await this.job(kind, id);
      if (shown.finished_at !== null && shown.status !== 'queued') return shown;
      if (performance.now() > untilMs)
        throw new Error(`${kind} ${id} is still ${JSON.stringify(shown).slice(0, 600)}`);
      await sleep(pauseMs);
    }
  }

  /** Good for an hour of the machine's clock. */
  async token(): Promise<string> {
    return (this.#token ??= await this.#signIn());
  }

  get #file(): string {
    return `/opt/credential-${this.place.port}.json`;
  }

  async #signIn(): Promise<string> {
    const out = await this.guest.run(
      `curl -fsS -m 120 -X POST -H 'Content-Type: application/json' --data-binary @${this.#file} http://127.0.0.1:${this.place.port}/v1/auth/token`,
    );
    return (JSON.parse(out) as { data: { token: string } }).data.token;
  }
}
