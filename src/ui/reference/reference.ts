/** The script of the API reference: search, links that open what they name, and requests that are tried. */
import { accessOf } from './access.ts';
import { searchIn } from './search.ts';
import { tryIn } from './try-request.ts';

const access = accessOf(document);
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) tryIn(form, access);
searchIn(document);

/** Opens the operation, or the section, that the address names, also when somebody follows a link to it. */
function openNamed(): void {
  const named = document.getElementById(location.hash.slice(1));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}
addEventListener('hashchange', openNamed);
openNamed();
