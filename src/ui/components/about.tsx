import type { JSX } from 'preact';
import { visible } from './own-text.tsx';

/** What a button is about, if several have the same text: read out after the text, and not visible. */
export function About({ children }: { readonly children: string }): JSX.Element {
  return <span class="unseen"> {visible(children)}</span>;
}
