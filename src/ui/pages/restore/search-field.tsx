import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../language/language.ts';
import { goTo, readRoute } from '../../parts/route.ts';
import { hrefOfPlace, type Place, placeOfSearch, readPlace, type Scope, SCOPES } from './place.ts';

/** Least milliseconds between two searches. The first letter after a pause is searched for at once. */
const EVERY_MS = 100;

export function SearchField({ place }: { readonly place: Place }): JSX.Element {
  const [typed, setTyped] = useState(place.q);
  const timer = useRef<number | undefined>(undefined);
  /** When the last search began, and for what. */
  const began = useRef(Number.NEGATIVE_INFINITY);
  const asked = useRef(place.q);
  // The address may also change by Back or by a link.
  useEffect(() => {
    if (timer.current === undefined && place.q !== asked.current) setTyped(place.q);
    asked.current = place.q;
  }, [place.q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (q: string): void => {
    setTyped(q);
    clearTimeout(timer.current);
    const wait = Math.max(0, began.current + EVERY_MS - performance.now());
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      // Reads the address rather than the rendered place: a result may have been opened since.
      const found = placeOfSearch(location.hash, asked.current, q.trim());
      if (found === undefined) {
        asked.current = readPlace(readRoute(location.hash)).q;
        setTyped(asked.current);
        return;
      }
      began.current = performance.now();
      // Back leads out of the search, and not through its letters.
      const isFirst = asked.current === '';
      asked.current = found.q;
      goTo(hrefOfPlace(found), isFirst ? 'push' : 'replace');
    }, wait);
  };
  return (
    <div class="search" role="search">
      <label for="restore-search" class="unseen">
        {t.restore.search}
      </label>
      <input
        id="restore-search"
        type="search"
        value={typed}
        placeholder={t.restore.searchHint}
        autocomplete="off"
        spellcheck={false}
        maxLength={1024}
        onInput={({ currentTarget }) => search(currentTarget.value)}
      />
      <div class="scopes" role="group" aria-label={t.restore.searchWhere}>
        {SCOPES.filter((one) => typed !== '' || one === 'deleted').map((one) => (
          <button
            key={one}
            type="button"
            class="plain"
            aria-pressed={place.scope === one}
            onClick={() => goTo(hrefOfPlace({ ...place, scope: chosen(place, one) }), 'replace')}
          >
            {t.restore.scopes[one]}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Without a search there is one button, which also leads back to the folder. */
function chosen({ q, scope }: Place, pressed: Scope): Scope {
  return q === '' && scope === pressed ? 'all' : pressed;
}
