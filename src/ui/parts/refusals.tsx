/** Shows which sources are not backed up although the user asked for it, and why. */
import type { JSX } from 'preact';
import { Path } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';
import type { Refusal } from './back-up.ts';

export function Refusals({ of: refusals }: { readonly of: readonly Refusal[] }): JSX.Element {
  // Groups equal reasons, as a fault of the agent is the same for all sources.
  const groups = Map.groupBy(refusals, ({ error: { code, message } }) => `${code} ${message}`);
  return (
    <>
      {[...groups].map(([reason, alike]) => (
        <Problem key={reason} error={alike[0]?.error}>
          <ul class="plain-list">
            {alike.map(({ path }) => (
              <li key={path}>
                <Path>{path}</Path>
              </li>
            ))}
          </ul>
        </Problem>
      ))}
    </>
  );
}
