/** Search in the API reference: shows the operations that contain every word, wherever in their description. */

export function searchIn(page: Document): void {
  const field = page.querySelector<HTMLInputElement>('[data-search]');
  const found = page.querySelector('[data-found]');
  if (field === null || found === null) return;
  const operations = [...page.querySelectorAll<HTMLDetailsElement>('details.operation')].map((details) => ({
    details,
    link: page.querySelector<HTMLElement>(`[data-for="${details.id}"]`),
    text: searchable(details),
  }));
  const rows = [...page.querySelectorAll<HTMLElement>('#errors ~ * tbody tr')].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  field.hidden = false;

  const search = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text: string): boolean => words.every((word) => text.includes(word));
    for (const { details, link, text } of operations) {
      details.hidden = !has(text);
      if (link !== null) link.hidden = details.hidden;
    }
    for (const { row, text } of rows) row.hidden = !has(text);
    for (const group of page.querySelectorAll<HTMLElement>('[data-group]'))
      group.hidden = group.querySelector('details.operation:not([hidden]), tbody tr:not([hidden])') === null;
    found.textContent = words.length === 0 ? '' : countOf(operations, rows);
  };
  field.addEventListener('input', search);
  page.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping) return;
    event.preventDefault();
    field.focus();
  });
}

function countOf(
  operations: readonly { readonly details: HTMLElement }[],
  rows: readonly { readonly row: HTMLElement }[],
): string {
  const requests = operations.filter(({ details }) => !details.hidden).length;
  const codes = rows.filter(({ row }) => !row.hidden).length;
  if (requests === 0 && codes === 0) return 'Nothing here has all of these words.';
  return requests === 1 ? '1 request found.' : `${requests} requests found.`;
}

/** What is typed into its form is no part of it. */
function searchable(details: HTMLDetailsElement): string {
  return [...details.children]
    .filter((child) => !child.matches('form'))
    .map((child) => child.textContent)
    .join(' ')
    .toLowerCase();
}
