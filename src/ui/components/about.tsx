import type { JSX } from 'preact';
import { visible } from './own-text.tsx';

/** What a button is about, where several are called the same: read out behind its words, and not seen. */
export function About({ children }: { readonly children: string }): JSX.Element {
  return <span class="unseen"> {visible(children)}</span>;
}
