/** As much of a browser's document as components of the page need to be drawn, pressed and typed into, without a browser. */
import { type ComponentChild, render } from 'preact';
import { act } from 'preact/test-utils';
import { vi } from 'vitest';

class SmallNode extends EventTarget {
  readonly nodeType: number;
  parentNode: SmallElement | null = null;

  constructor(nodeType: number) {
    super();
    this.nodeType = nodeType;
  }

  get nextSibling(): SmallNode | null {
    const beside = this.parentNode?.childNodes ?? [];
    return beside[beside.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return '';
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }
}

class SmallText extends SmallNode {
  data: string;

  constructor(data: string) {
    super(3);
    this.data = data;
  }

  override get textContent(): string {
    return this.data;
  }
}

export class SmallElement extends SmallNode {
  readonly localName: string;
  readonly namespaceURI: string;
  readonly childNodes: SmallNode[] = [];
  readonly attributes = new Map<string, string>();
  readonly style: Record<string, string> = {};
  // What Preact sets as properties.
  value = '';
  checked = false;
  disabled = false;
  open = false;
  selected = false;

  constructor(localName: string, namespace: string) {
    super(1);
    this.localName = localName;
    this.namespaceURI = namespace;
  }

  get firstChild(): SmallNode | null {
    return this.childNodes[0] ?? null;
  }

  override get textContent(): string {
    return this.childNodes.map(({ textContent }) => textContent).join('');
  }

  insertBefore(node: SmallNode, next: SmallNode | null): void {
    node.remove();
    const at = next === null ? this.childNodes.length : this.childNodes.indexOf(next);
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
  }

  removeChild(node: SmallNode): void {
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentNode = null;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  /** Nothing is laid out here, so nothing is looked for by where it is. */
  querySelector(): null {
    return null;
  }

  focus(): void {}
  showModal(): void {}
  close(): void {}

  /** Itself and everything in it, in the order in which it is read. */
  *elements(): Generator<SmallElement> {
    yield this;
    for (const child of this.childNodes) if (child instanceof SmallElement) yield* child.elements();
  }
}

const HTML = 'http://www.w3.org/1999/xhtml';

export interface SmallPage extends Disposable {
  readonly text: string;
  all(localName: string): readonly SmallElement[];
  /** By its `name`. @throws {Error} when there is none */
  field(name: string): SmallElement;
  /** By what stands on it. @throws {Error} when there is none */
  button(words: string): SmallElement;
  press(button: SmallElement): Promise<void>;
  /** What the field then holds is what was typed. */
  type(field: SmallElement, text: string): Promise<void>;
  choose(field: SmallElement, value: string): Promise<void>;
  /** Of a checkbox. */
  tick(field: SmallElement, isTicked: boolean): Promise<void>;
  /** Draws something else in the same place. */
  show(shown: ComponentChild): Promise<void>;
  /** Until what is under way and takes no time is drawn. */
  settle(): Promise<void>;
}

/** Shows it in a document of its own. Globals are stubs of vitest: a test ends them with `vi.unstubAllGlobals`. */
export async function smallPage(shown: ComponentChild): Promise<SmallPage> {
  const root = new SmallElement('body', HTML);
  vi.stubGlobal('document', {
    createElementNS: (namespace: string, name: string) => new SmallElement(name, namespace),
    createTextNode: (text: string) => new SmallText(text),
    documentElement: {},
    querySelector: () => null,
    getElementById: () => root,
    activeElement: null,
  });
  vi.stubGlobal('HTMLElement', SmallElement);
  const heard = new EventTarget();
  vi.stubGlobal('addEventListener', heard.addEventListener.bind(heard));
  vi.stubGlobal('removeEventListener', heard.removeEventListener.bind(heard));
  vi.stubGlobal('window', { setTimeout });
  // Nothing is told by itself.
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      close(): void {}
    },
  );
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 5; round += 1)
      await act(async () => await new Promise((resolve) => setImmediate(resolve)));
  };
  const draw = (what: ComponentChild): void => {
    void act(() => render(what, root as unknown as Element));
  };
  const found = (what: string, wanted: (element: SmallElement) => boolean): SmallElement => {
    const element = [...root.elements()].find(wanted);
    if (element === undefined) throw new Error(`no ${what} in: ${root.textContent}`);
    return element;
  };
  const happens = async (element: SmallElement, event: string): Promise<void> => {
    await act(() => void element.dispatchEvent(new Event(event)));
    await settle();
  };
  const page: SmallPage = {
    get text() {
      return root.textContent;
    },
    all: (localName) => [...root.elements()].filter((element) => element.localName === localName),
    field: (name) => found(`field ${name}`, ({ attributes }) => attributes.get('name') === name),
    button: (words) =>
      found(
        `button ${words}`,
        ({ localName, textContent }) => localName === 'button' && textContent.startsWith(words),
      ),
    press: async (button) => await happens(button, 'click'),
    type: async (field, text) => {
      field.value = text;
      await happens(field, 'input');
    },
    choose: async (field, value) => {
      field.value = value;
      await happens(field, 'change');
    },
    tick: async (field, isTicked) => {
      field.checked = isTicked;
      await happens(field, 'change');
    },
    show: async (what) => {
      draw(what);
      await settle();
    },
    settle,
    [Symbol.dispose]: () => draw(null),
  };
  await page.show(shown);
  return page;
}
