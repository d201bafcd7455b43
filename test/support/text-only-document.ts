/**
 * Just enough of a browser's document to run the page's script: elements hold text and other elements. Whatever would
 * turn text into markup or code throws.
 */
import { createContext, Script } from 'node:vm';

const FORBIDDEN = ['innerHTML', 'outerHTML', 'srcdoc', 'insertAdjacentHTML', 'setHTML', 'onclick', 'onerror'];

export class TextElement {
  readonly tag: string;
  readonly children: TextElement[] = [];
  readonly listeners = new Map<string, () => unknown>();
  className = '';
  hidden = true;
  #text = '';

  constructor(tag: string) {
    this.tag = tag;
    for (const name of FORBIDDEN) {
      Object.defineProperty(this, name, {
        get: () => fail(name),
        set() {
          fail(name);
        },
      });
    }
  }

  /** A piece of text, as documents have them beside elements. */
  static of(text: string): TextElement {
    const element = new TextElement('#text');
    element.textContent = text;
    return element;
  }

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join('');
  }

  set textContent(text: string) {
    this.children.length = 0;
    this.#text = text;
  }

  append(...children: readonly unknown[]): void {
    for (const child of children) {
      if (child instanceof TextElement) this.children.push(child);
      else this.children.push(TextElement.of(String(child)));
    }
  }

  replaceChildren(...children: readonly unknown[]): void {
    this.textContent = '';
    this.append(...children);
  }

  setAttribute(name: string, value: string): void {
    if (!/^aria-[a-z]+$/.test(name) || value !== 'Progress') fail(`the attribute ${name}`);
  }

  addEventListener(kind: string, listener: () => unknown): void {
    this.listeners.set(kind, listener);
  }

  /** Of this element and all below it. */
  tags(): readonly string[] {
    return [this.tag, ...this.children.flatMap((child) => child.tags())];
  }
}

function fail(what: string): never {
  throw new Error(`the page uses ${what}`);
}

export interface PageRun {
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: string }[];
  /** What was put in the place of the address. */
  readonly history: readonly string[];
  at(id: string): TextElement;
}

type Answer = (method: string, path: string) => { readonly status: number; readonly body: unknown };

/** Runs the script once, with these answers to its requests, until it waits for its next turn. */
export async function runPage(script: string, hash: string, answer: Answer): Promise<PageRun> {
  const elements = new Map<string, TextElement>();
  const requests: { method: string; path: string; body: string }[] = [];
  const history: string[] = [];
  const at = (id: string): TextElement => {
    const known = elements.get(id) ?? new TextElement(id);
    elements.set(id, known);
    return known;
  };
  const { promise: waits, resolve } = Promise.withResolvers<undefined>();
  const page = new TextElement('document');
  const context = createContext({
    document: Object.assign(page, {
      getElementById: at,
      createElement: (tag: string) => new TextElement(tag),
      createElementNS: () => fail('createElementNS'),
      write: () => fail('document.write'),
    }),
    location: { hash, pathname: '/' },
    history: {
      replaceState: (_state: unknown, _title: string, path: string) => {
        if (requests.length > 0) fail('the address after a request');
        history.push(path);
      },
      pushState: () => fail('pushState'),
    },
    URLSearchParams,
    fetch: async (path: string, { method, body }: { readonly method: string; readonly body?: string }) => {
      requests.push({ method, path, body: body ?? '' });
      const { status, body: reply } = answer(method, path);
      // The script is through when it has an answer that it cannot go on from.
      if (status === 401 && method === 'GET') setImmediate(() => resolve(undefined));
      return { status, json: async () => structuredClone(reply) };
    },
    setTimeout: () => resolve(undefined),
    clearTimeout: () => undefined,
  });
  new Script(script, { filename: 'page.js' }).runInContext(context, { timeout: 5_000 });
  await waits;
  return { requests, history, at };
}
