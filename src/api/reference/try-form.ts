/**
 * The form with which a request is tried from the reference page. It is markup alone: src/ui/reference shows it, and
 * sends what was typed.
 */
import type { Json } from './api-document.ts';
import { entries, field, list, type Reader, text } from './document-reader.ts';

export interface TriedOperation {
  readonly id: string;
  readonly method: string;
  /** With the prefix that the server has. */
  readonly path: string;
  /** Of the operation and of its path. */
  readonly parameters: readonly Json[];
  /** What `requestBody` has for JSON; null when there is no body. */
  readonly body: Json;
  /** Whether the request is sent with the token or key that was entered on the page. */
  readonly access: 'none' | 'optional' | 'needed';
}

export function tryForm(read: Reader, operation: TriedOperation): string {
  const { id, method, path, parameters, body, access } = operation;
  const inputs = parameters
    .map((one) => read(one))
    .filter((one) => read(one, 'name') !== 'X-Request-Id')
    .map((one) => input(read, id, one));
  // What replaces a whole is begun with what is there: an example sent as it stands would delete everything else.
  const replaces = parameters.some((one) => read(one, 'name') === 'If-Match');
  const changes =
    method === 'get' ? '' : '<p class="note warning">This is a real request. Its changes are permanent.</p>';
  return `<form class="try" hidden data-method="${text(method.toUpperCase())}" data-path="${text(path)}" data-access="${access}">
<h3>Try it</h3>${changes}
<div class="inputs">${inputs.join('')}</div>${body === null ? '' : bodyInput(id, body, replaces)}
<p class="row"><button type="submit" class="main-action">Send</button> ${
    replaces ? '<button type="button" data-fill>Fill in what is there now</button> ' : ''
  }<button type="button" data-stop hidden>Stop</button></p>
<pre data-curl></pre>
<div data-reply aria-live="polite"></div>
</form>`;
}

function input(read: Reader, id: string, parameter: Json): string {
  const name = text(read(parameter, 'name'));
  const place = text(read(parameter, 'in'));
  const isRequired = read(parameter, 'required') === true;
  const field = `id="${id}-${name}" name="${name}" data-in="${place}"${isRequired ? ' required' : ''}`;
  const choices = list(read(parameter, 'schema', 'enum'));
  const control =
    choices.length === 0
      ? `<input ${field} placeholder="${text(sampleOf(read, parameter))}" autocomplete="off" spellcheck="false">`
      : `<select ${field}><option></option>${choices.map((one) => `<option>${text(one)}</option>`).join('')}</select>`;
  return `<div class="field"><label for="${id}-${name}">${name} <span class="quiet">${place}${
    isRequired ? ', required' : ''
  }</span></label>${control}</div>`;
}

/** Shown in the empty field: the example of the parameter, else its default. */
function sampleOf(read: Reader, parameter: Json): Json {
  return read(parameter, 'example') ?? read(parameter, 'schema', 'default');
}

function bodyInput(id: string, body: Json, isEmpty: boolean): string {
  const [first] = entries(field(body, 'examples'));
  const sample = first === undefined ? {} : field(first[1], 'value');
  const lines = JSON.stringify(sample, undefined, 2);
  return `<div class="field body"><label for="${id}-body">Body <span class="quiet">JSON</span></label>
<textarea id="${id}-body" data-body rows="${Math.min(12, lines.split('\n').length + 1)}" spellcheck="false"${isEmpty ? ' required' : ''}>${isEmpty ? '' : text(lines)}</textarea></div>`;
}
