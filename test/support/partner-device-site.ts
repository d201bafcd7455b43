/** The real agent, enrolled with a Partner service that a test plays: `await using both = await openPartnerSite()`. */
import { eventually, openDaemonSite, type DaemonSite } from './daemon-site.ts';
import { startPartnerStub, type PartnerStub } from './partner-stub.ts';

interface Status {
  readonly data: {
    readonly plan: string;
    readonly rate_limit: { readonly limit: number };
    readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  };
}

export const MAINTENANCE = { prune: 'off', check: 'off', drill: 'off' };
export const DAY_MS = 86_400_000;

export interface PartnerSite extends AsyncDisposable {
  readonly site: DaemonSite;
  readonly stub: PartnerStub;
}

/** An agent with one source, enrolled. */
export async function openPartnerSite(settings: object = {}): Promise<PartnerSite> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await openDaemonSite());
  const stub = stack.use(await startPartnerStub({ now: () => site.clock.now() }));
  site.write({ 'a.txt': 'content' });
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false }],
    maintenance: MAINTENANCE,
    conditions: { onBattery: 'run', onMetered: 'run' },
    ...settings,
  });
  await site.endOfNext('backup', []);
  await site.ask('enroll', { url: stub.address, token: 'hfe_good', name: 'front desk' });
  const parts = stack.move();
  return { site, stub, [Symbol.asyncDispose]: async () => await parts.disposeAsync() };
}

/** Puts the clock forward a minute again and again, until it holds. */
export async function inTime<T>(
  site: DaemonSite,
  ask: () => T | undefined | false,
  what: string,
): Promise<T> {
  return await eventually(() => {
    const answer = ask();
    if (answer === undefined || answer === false) site.clock.skip(61_000);
    return answer;
  }, what);
}

/** With a token of its own: an earlier one ends when the clock is put forward. */
export async function statusOf(site: DaemonSite): Promise<Status['data']> {
  const { api_key, secret } = await site.ask('create_credential', { name: 'test' });
  const url = `http://127.0.0.1:${site.daemon.listening.port}/v1`;
  const signedIn = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key, secret }),
  });
  const { data } = (await signedIn.json()) as { readonly data: { readonly token: string } };
  const reply = await fetch(`${url}/status`, { headers: { authorization: `Bearer ${data.token}` } });
  return ((await reply.json()) as Status).data;
}

/** The clock goes on until the agent asks for its plan. */
export async function planAsked({ site, stub }: PartnerSite): Promise<void> {
  const asked = (): number => stub.requests.filter(({ path }) => path.endsWith('/plan')).length;
  const before = asked();
  await inTime(site, () => asked() > before, 'the question for the plan');
}

/** The clock goes on until a further report has come. */
export async function reportedAgain({ site, stub }: PartnerSite): Promise<void> {
  const before = stub.reports.size;
  await inTime(site, () => stub.reports.size > before, 'another report');
}
