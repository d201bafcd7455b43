/** What goes wrong between a program and an S3 store: one deed of the proxy each. */
import type { Answer, Asked, Deed, Fault } from './fault-proxy.ts';

type Fits = Fault['fits'];

export const anything: Fits = () => true;
export const isList: Fits = ({ key, method, query }) =>
  method === 'GET' && key === '' && query.has('list-type');
export const isGet: Fits = ({ key, method }) => method === 'GET' && key !== '';
export const isPut: Fits = ({ method }) => method === 'PUT';

/** Of requests for objects of the repository, below any prefix: `packs/`. */
export function below(folder: string, fits: Fits = anything): Fits {
  return (asked) => asked.key.includes(`/${folder}`) && fits(asked);
}

/** Lists of one folder. */
export function listOf(folder: string): Fits {
  return (asked) => isList(asked) && (asked.query.get('prefix') ?? '').includes(`/${folder}`);
}

export function refusal(status: number, code: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml', date: new Date().toUTCString(), ...headers },
    body: Buffer.from(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>planned</Message></Error>`),
  };
}

export const answerWith =
  (answer: Answer): Deed =>
  () =>
    answer;

/** A page of a proxy, with the status of success or not. */
export const page = (status: number): Deed =>
  answerWith({
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(`<!DOCTYPE html><html><body>${'Please sign in. '.repeat(40)}</body></html>`),
  });

/** Does as it should, and the connection is gone. */
export const loseReply: Deed = async (asked, pass) => {
  await pass(asked);
  return 'close' as const;
};

/** Of an object or a part of it that comes: anything else is passed on as it is. */
function ofBody(change: (answer: Answer) => ReturnType<Deed>): Deed {
  return async (asked, pass) => {
    const answer = await pass(asked);
    return answer.body.byteLength > 1 && answer.status < 300 ? await change(answer) : answer;
  };
}

const resized = (answer: Answer, body: Buffer): Answer => ({
  ...answer,
  body,
  headers: { ...answer.headers, 'content-length': body.byteLength },
});

export const cutShort = ofBody((answer) => ({ answer, midway: 'close' }));
export const stopInBody = ofBody((answer) => ({ answer, midway: 'silence' }));
export const trickle = ofBody((answer) => ({ answer, midway: 'trickle' }));

/** The length fits what comes, which is not all. */
export const shortened = ofBody((answer) =>
  resized(answer, answer.body.subarray(0, Math.ceil(answer.body.byteLength / 2))),
);
export const lengthened = ofBody((answer) =>
  resized(answer, Buffer.concat([answer.body, Buffer.alloc(7, 'x')])),
);
/** More than the length says. */
export const overlong = ofBody((answer) => ({
  ...answer,
  body: Buffer.concat([answer.body, Buffer.alloc(7, 'x')]),
  headers: { ...answer.headers, 'content-length': answer.body.byteLength },
}));

const withRange = (asked: Asked, range: string | undefined): Asked => {
  const { range: _, ...headers } = asked.headers;
  return { ...asked, headers: range === undefined ? headers : { ...headers, range } };
};

/** All of the object in place of a part. */
export const whole: Deed = async (asked, pass) =>
  await pass(asked.headers.range === undefined ? asked : withRange(asked, undefined));

/** The part that begins one byte later. */
export const otherPart: Deed = async (asked, pass) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '') ?? [];
  if (from === undefined || to === undefined) return await pass(asked);
  return await pass(withRange(asked, `bytes=${Number(from) + 1}-${Number(to) + 1}`));
};

/** Says that it was stored, and keeps only so much of it. */
export const keepPart = (share: number): Deed => {
  return async (asked, pass) => {
    const kept = asked.body.subarray(0, Math.floor(asked.body.byteLength * share));
    // The store would notice.
    const { 'content-md5': _, 'x-amz-checksum-sha256': __, ...headers } = asked.headers;
    return await pass({ ...asked, body: kept, headers });
  };
};

/** Says that it was stored, and forgets it. */
export const drop: Deed = answerWith({ status: 200, headers: { etag: '"dropped"' }, body: Buffer.alloc(0) });

/** Says that it was removed, and leaves it. */
export const keepDeleted: Deed = answerWith({ status: 204, headers: {}, body: Buffer.alloc(0) });

const CONTENTS = /<Contents>.*?<\/Contents>/gs;

export interface Listing {
  readonly contents: readonly string[];
  readonly truncated: boolean;
}

/** Of a list with success: what stands in it. The count fits what is left. */
export function changeList(change: (listing: Listing) => Listing): Deed {
  return async (asked, pass) => {
    const answer = await pass(asked);
    const text = answer.body.toString();
    const contents = text.match(CONTENTS) ?? [];
    const truncated = /<IsTruncated>true/.test(text);
    const changed = change({ contents, truncated });
    if (changed.contents.join('') === contents.join('') && changed.truncated === truncated) return answer;
    const counted = text
      .replaceAll(CONTENTS, '')
      .replace(/<KeyCount>\d+<\/KeyCount>/, `<KeyCount>${changed.contents.length}</KeyCount>`)
      .replace(/<IsTruncated>\w+</, `<IsTruncated>${changed.truncated}<`)
      .replace('</ListBucketResult>', `${changed.contents.join('')}</ListBucketResult>`);
    return resized(answer, Buffer.from(counted));
  };
}

export const emptyList = changeList((listing) => ({ ...listing, contents: [] }));
export const unsortedList = changeList(({ contents, ...rest }) => ({
  ...rest,
  contents: contents.toReversed(),
}));
export const doubledList = changeList(({ contents, ...rest }) => ({
  ...rest,
  contents: contents.flatMap((one) => [one, one]),
}));
/** Every second object is not there. */
export const partialList = changeList(({ contents, ...rest }) => ({
  ...rest,
  contents: contents.filter((_, index) => index % 2 === 1),
}));
/** Ends after the first object, and says that this was all. */
export const endedList = changeList(({ contents }) => ({ contents: contents.slice(0, 1), truncated: false }));

/** Bytes are missing at the end of the list, and its length fits. */
export const cutList: Deed = async (asked, pass) => {
  const answer = await pass(asked);
  return resized(answer, answer.body.subarray(0, Math.floor(answer.body.byteLength * 0.6)));
};

/** What a list of that folder said the first time it was asked for, again and again. */
export function staleList(): Deed {
  const first = new Map<string, Answer>();
  return async (asked, pass) => {
    const now = await pass(asked);
    const said = first.get(asked.path);
    if (said === undefined) first.set(asked.path, now);
    return said === undefined || said.body.equals(now.body) ? now : said;
  };
}

function inSmallPages(asked: Asked, length: number): Asked {
  const url = new URL(asked.path, 'http://store');
  url.searchParams.set('max-keys', `${length}`);
  return { ...asked, path: `${url.pathname}${url.search}` };
}

/** A page is cut off there, and it says that this was all. */
export function firstPageOnly(length: number): Deed {
  return async (asked, pass) => {
    const answer = await pass(inSmallPages(asked, length));
    const text = answer.body.toString();
    if (!text.includes('<IsTruncated>true')) return await pass(asked);
    const ended = text
      .replace('<IsTruncated>true', '<IsTruncated>false')
      .replace(/<NextContinuationToken>.*?<\/NextContinuationToken>/s, '');
    return resized(answer, Buffer.from(ended));
  };
}

/** The first page comes, the next does not. */
export function errorInTheMiddle(length: number): Deed {
  return async (asked, pass) => {
    if (asked.query.has('continuation-token')) return refusal(500, 'InternalError');
    const answer = await pass(inSmallPages(asked, length));
    return answer.body.includes('<IsTruncated>true') ? answer : await pass(asked);
  };
}

const isLook = ({ key, method }: Pick<Asked, 'key' | 'method'>): boolean =>
  key !== '' && (method === 'GET' || method === 'HEAD');

/** Of data and what speaks of them; leases that stay keep the next prune away until they run out, as they should. */
const isRemoval = ({ key, method }: Pick<Asked, 'key' | 'method'>): boolean =>
  method === 'DELETE' && /\/(?:packs|index|snapshots|trash)\//.test(key);

/**
 * Times are out of joint: what was put is not seen in the next `looks` looks and lists; what was deleted stays; or it
 * comes back after as many requests.
 */
export function reordered(kind: 'late' | 'stay' | 'return', looks: number): readonly Fault[] {
  if (kind === 'stay') return [{ fits: isRemoval, rate: 0.6, deed: keepDeleted }];
  return kind === 'late' ? seenLate(looks) : comingBack(looks);
}

function seenLate(looks: number): readonly Fault[] {
  const hidden = new Map<string, number>();
  const isHidden = (key: string): boolean => (hidden.get(key) ?? 0) > 0;
  return [
    {
      fits: (asked) => {
        if (isPut(asked) && !hidden.has(asked.key)) hidden.set(asked.key, looks);
        return isLook(asked) && isHidden(asked.key);
      },
      deed: ({ key }) => {
        hidden.set(key, (hidden.get(key) ?? 0) - 1);
        return refusal(404, 'NoSuchKey');
      },
    },
    {
      fits: isList,
      deed: changeList(({ contents, ...rest }) => ({
        ...rest,
        contents: contents.filter((one) => {
          const key = /<Key>(.*?)<\/Key>/.exec(one)?.[1] ?? '';
          if (!isHidden(key)) return true;
          hidden.set(key, (hidden.get(key) ?? 0) - 1);
          return false;
        }),
      })),
    },
  ];
}

function comingBack(later: number): readonly Fault[] {
  const gone = new Map<string, { readonly asked: Asked; readonly body: Buffer; left: number }>();
  return [
    {
      fits: isRemoval,
      rate: 0.6,
      deed: async (asked, pass) => {
        const { body, status } = await pass({ ...asked, method: 'GET' });
        if (status === 200) gone.set(asked.key, { asked, body, left: later });
        return { ...(await pass({ ...asked })) };
      },
    },
    {
      fits: () => {
        for (const one of gone.values()) one.left -= 1;
        return [...gone.values()].some(({ left }) => left <= 0);
      },
      deed: async (asked, pass) => {
        for (const [key, { asked: removal, body, left }] of gone) {
          if (left > 0) continue;
          gone.delete(key);
          await pass({ ...removal, method: 'PUT', body });
        }
        return await pass(asked);
      },
    },
  ];
}
