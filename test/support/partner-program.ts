/** The program of the Partner service in a directory of its own, on the kind of store that is tested. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPlace, type Place } from './cli.ts';
import { STORE_KIND, storePlace, type StoreKind } from './partner-store-site.ts';

export interface PartnerPlace extends Place {
  readonly storeAddress: string;
  readonly keyFile: string;
  /** Writes `partner.json`, where the program looks for it. */
  configure(settings: object): Promise<void>;
}

export async function openPartnerPlace(kind: StoreKind = STORE_KIND): Promise<PartnerPlace> {
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await openPlace());
  const directory = join(place.state, 'partner');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let storeAddress = `sqlite:${join(directory, 'partner.sqlite')}`;
  let postgres = null;
  if (kind === 'postgres') {
    const store = await storePlace(kind);
    opened.defer(store.remove);
    storeAddress = store.address;
    postgres = { file: join(place.directory, 'postgres') };
    await writeFile(postgres.file, storeAddress, { mode: 0o600 });
  }
  const configure: PartnerPlace['configure'] = async (settings) => {
    const file = join(directory, 'partner.json');
    await writeFile(file, JSON.stringify({ postgres, ...settings }), { mode: 0o600 });
  };
  await configure({});
  const owned = opened.move();
  return {
    ...place,
    storeAddress,
    keyFile: join(directory, 'partner.key'),
    configure,
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}
