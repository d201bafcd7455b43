/**
 * Search in the API reference: shows what contains every word. First the rules and the error codes, since whoever looks
 * for one finds there which requests give it; then the operations, wherever in their description the words are.
 */

export function searchIn(page: Document): void {
  const field = page.querySelector<HTMLInputElement>('[data-search]');
  const found = page.querySelector('[data-found]');
  if (field === null || found === null) return;
  const operations = [...page.querySelectorAll<HTMLDetailsElement>('details.operation')].map((details) => ({
    element: details,
    link: page.querySelector<HTMLElement>(`[data-for="${details.id}"]`),
    text: searchable(details),
  }));
  const parts = (selector: string): readonly Part[] =>
    [...page.querySelectorAll<HTMLElement>(selector)].map((element) => ({
      element,
      text: element.textContent.toLowerCase(),
    }));
  const rules = parts('#rules > p, #rules tbody tr');
  const codes = parts('#errors ~ * tbody tr');
  const settings = parts('#settings tbody tr');
  const about = page.querySelector<HTMLDetailsElement>('#rules');
  const appendix = page.querySelector<HTMLDetailsElement>('#settings');
  const errors = page.querySelector('#errors')?.closest('section') ?? null;
  const lead = page.querySelector<HTMLElement>('[data-lead]');
  const access = page.querySelector('[data-access-part]');
  field.hidden = false;

  const search = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isSearch = words.length > 0;
    for (const { element, text } of [...operations, ...rules, ...codes, ...settings])
      element.hidden = !words.every((word) => text.includes(word));
    for (const { element, link } of operations) if (link !== null) link.hidden = element.hidden;
    for (const group of page.querySelectorAll<HTMLElement>('[data-group]'))
      group.hidden = group.querySelector(FOUND) === null;
    for (const contents of page.querySelectorAll<HTMLElement>('nav ul')) {
      contents.hidden = contents.querySelector('li:not([hidden])') === null;
      if (contents.previousElementSibling instanceof HTMLElement)
        contents.previousElementSibling.hidden = contents.hidden;
    }
    for (const [details, inside] of [
      [about, rules],
      [appendix, settings],
    ] as const) {
      if (details === null) continue;
      details.hidden = inside.every(({ element }) => element.hidden);
      details.open = isSearch && !details.hidden;
    }
    if (isSearch) about?.after(errors ?? '');
    else errors?.parentElement?.append(errors);
    // What was found is seen at once. A token can still be entered, below.
    if (lead !== null) lead.hidden = isSearch;
    if (access !== null) {
      if (isSearch) access.parentElement?.append(access);
      else lead?.after(access);
    }
    found.textContent = isSearch ? countOf({ rules, codes, settings, operations }) : '';
  };
  field.addEventListener('input', search);
  page.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping) return;
    event.preventDefault();
    field.focus();
  });
}

/** What a search can leave in a section: rows within a request are shown with it. */
const FOUND = 'details.operation:not([hidden]), tbody tr:not([hidden], details.operation tr)';

interface Part {
  readonly element: HTMLElement;
  /** In lower case. */
  readonly text: string;
}

const KINDS = [
  ['rules', 'rule', 'rules'],
  ['codes', 'error code', 'error codes'],
  ['settings', 'setting', 'settings'],
  ['operations', 'request', 'requests'],
] as const;

function countOf(shown: Readonly<Record<(typeof KINDS)[number][0], readonly Part[]>>): string {
  const counts = KINDS.flatMap(([kind, one, several]) => {
    const count = shown[kind].filter(({ element }) => !element.hidden).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  if (counts.length === 0) return 'Nothing here has all of these words.';
  return `Found: ${counts.join(', ')}.`;
}

/** What is typed into its form is no part of it, nor is what nearly every request can be answered. */
function searchable(details: HTMLDetailsElement): string {
  const copy = details.cloneNode(true) as HTMLDetailsElement;
  for (const part of copy.querySelectorAll('form, [data-common]')) part.remove();
  // Cells stand beside each other without a blank.
  return [...copy.querySelectorAll('summary, p, td, h3, pre')]
    .map((part) => part.textContent)
    .join(' ')
    .toLowerCase();
}
