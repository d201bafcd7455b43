/** What the browser fetches before anybody is signed in. */
import { PAGE_DOCUMENT } from './page-document.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';

export interface PageFile {
  readonly path: string;
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M16 2 28 6v9c0 7.5-5 12.6-12 15C9 27.6 4 22.5 4 15V6z" fill="#2f6f62"/>
<path d="m10 16 4.5 4.5L22.5 12" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;

export const PAGE_FILES: readonly PageFile[] = [
  { path: '/', type: 'text/html', text: PAGE_DOCUMENT },
  { path: '/page.css', type: 'text/css', text: PAGE_STYLE },
  { path: '/page.js', type: 'text/javascript', text: PAGE_SCRIPT },
  { path: '/page.svg', type: 'image/svg+xml', text: ICON },
];
