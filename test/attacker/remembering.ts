/**
 * Lets the product answer from memory what it has computed before. Some twenty processes of a seed open the same objects
 * again and again: without this it is half of all time. Imported before anything of the product.
 */
import { registerHooks } from 'node:module';

const REMEMBERED: ReadonlyMap<string, string> = new Map(
  [
    ['codec/curves.ts', 'curves.ts'],
    ['codec/kdf.ts', 'kdf.ts'],
    ['format/cbor.ts', 'cbor.ts'],
    ['repository/objects/objects.ts', 'objects.ts'],
  ].map(([of, by]) => [
    new URL(`../../src/${String(of)}`, import.meta.url).href,
    new URL(`remembered/${String(by)}`, import.meta.url).href,
  ]),
);

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const url = REMEMBERED.get(resolved.url);
    return url === undefined || context.parentURL === url ? resolved : { ...resolved, url };
  },
});
