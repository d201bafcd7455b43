import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../language/language.ts';
import { goTo } from '../../route.ts';
import { hrefOfPlace, type Place } from './place.ts';

/** Milliseconds without another letter until the search begins. */
const PAUSE_MS = 120;

export function SearchField({ place }: { readonly place: Place }): JSX.Element {
  const [typed, setTyped] = useState(place.q);
  const timer = useRef<number | undefined>(undefined);
  const latest = useRef(place);
  latest.current = place;
  // The address may change by itself: back, or a link.
  useEffect(() => {
    if (timer.current === undefined) setTyped(place.q);
  }, [place.q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (q: string): void => {
    setTyped(q);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      // Going back leads out of the search, not through its letters.
      const isFirst = latest.current.q === '';
      goTo(hrefOfPlace({ ...latest.current, q: q.trim() }), isFirst ? 'push' : 'replace');
    }, PAUSE_MS);
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
      {typed === '' ? null : (
        <div class="scopes" role="group" aria-label={t.restore.searchWhere}>
          {[false, true].map((isWithin) => (
            <button
              key={String(isWithin)}
              type="button"
              class="plain"
              aria-pressed={place.isWithin === isWithin}
              onClick={() => goTo(hrefOfPlace({ ...place, isWithin }), 'replace')}
            >
              {isWithin ? t.restore.inThisBackup : t.restore.inAllBackups}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
