/** What the settings page of the Partner service holds, out of its HTML; and what a program needs of it: a key. */

/** Of the first form with that action. */
export function hiddenFields(html: string, action: string): Readonly<Record<string, string>> {
  const start = html.indexOf(`action="${action}"`);
  if (start === -1) throw new Error(`the page has no form for ${action}`);
  const form = html.slice(start, html.indexOf('</form>', start));
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/?>/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, resolved(value)]));
}

export function readable(html: string): string {
  return resolved(html.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');
}

function resolved(text: string): string {
  const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return text.replaceAll(/&(lt|gt|quot|amp);/g, (_all, name: string) => characters[name] ?? '');
}

/** What a person does in the settings page: signs in, and has a key generated. */
export async function generateKey(
  address: string,
  { email, password, name }: Readonly<Record<'email' | 'password' | 'name', string>>,
): Promise<string> {
  const send = async (path: string, cookie: string, fields: Record<string, string>): Promise<Response> =>
    await fetch(`${address}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: address, cookie },
      body: new URLSearchParams(fields),
    });
  const signedIn = await send('/settings/sign-in', '', { email, password });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const page = await (await fetch(`${address}/settings/api`, { headers: { cookie } })).text();
  const action = '/settings/api/generate';
  const made = await send(action, cookie, { ...hiddenFields(page, action), name });
  return /hfp_[0-9A-Za-z]{36}/.exec(await made.text())?.[0] ?? '';
}
