/** Answers that never end, in every way that HTTP has, and answers that never come. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Asked, Misbehave, Subject } from './front.ts';

/** How a kind of store tells of what it has. */
export interface Speech {
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly status: number;
  /** How a list begins. */
  readonly begin: string;
  /** One object in it, which is never the same. */
  object(asked: Asked, index: number): string;
  /** A part that says nothing, and one that others can be in. */
  readonly hollow: string;
  readonly nested: readonly [open: string, close: string];
  readonly end: string;
  /** Folders, and the end. */
  folders(asked: Asked): string;
  /** How it ends, with more to come or a folder below; undefined where lists have no pages. */
  more(asked: Asked, index: number): string;
}

export interface Manner {
  readonly on: readonly Subject[];
  readonly by: (speech: Speech) => Misbehave;
  /** Seconds after which at the latest the program has to have given up, by what the documents say. */
  readonly bound: number;
}

/** All that a command reads of a repository. */
const READING: readonly Subject[] = ['list', 'look', 'object', 'pack'];

/** What is read at most comes within seconds. */
const AT_ONCE = 10;
/** A call on which nothing moves for a minute has failed; nobody answers within some four minutes, and one call more. */
export const SILENT = 300;
/** A store that says that it cannot is asked for 15 minutes; while a place is opened, for half of one. */
const REFUSING = 960;

const PIECE = 64 * 1024;

/** Writes for as long as anybody reads. */
function pour(to: ServerResponse | Socket, piece: () => Buffer): void {
  to.on('error', () => {});
  const more = (): void => {
    while (!to.destroyed) if (!to.write(piece())) return void to.once('drain', more);
  };
  more();
}

/** A piece every so often. */
function drip(to: ServerResponse | Socket, piece: string, ms: number): void {
  to.on('error', () => {});
  const timer = setInterval(() => {
    if (to.destroyed) clearInterval(timer);
    else to.write(piece);
  }, ms);
}

function head(
  speech: Speech,
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(speech.status, { ...speech.headers, 'Content-Type': speech.type, ...headers });
}

function lines(asked: Asked, speech: Speech): () => Buffer {
  let index = 0;
  return () => {
    let text = '';
    while (text.length < PIECE) text += speech.object(asked, (index += 1));
    return Buffer.from(text);
  };
}

function longNames(speech: Speech, length: number): Misbehave {
  const filling = 'x'.repeat(length);
  let index = 0;
  return (asked, response) => {
    head(speech, response);
    let text = speech.begin;
    for (let count = 0; count < 1_000; count += 1)
      text += speech.object(asked, (index += 1)).replace(/\d{9}/, (number) => `${number}${filling}`);
    response.end(text + speech.more(asked, index));
  };
}

const noise = Buffer.alloc(PIECE, 'holdfast');
/** Header lines without an end. */
const FILLER = Buffer.from('X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1_024));

/** Speaks on the connection itself, as Node writes no such answers. */
function bare(speak: (socket: Socket, asked: Asked, speech: Speech) => void): Manner['by'] {
  return (speech) =>
    (asked, { socket }) => {
      if (socket !== null) speak(socket, asked, speech);
    };
}

export const MANNERS: Readonly<Record<string, Manner>> = {
  'list-body': {
    on: ['list'],
    bound: AT_ONCE,
    by: (speech) => (asked, response) => {
      head(speech, response);
      response.write(speech.begin);
      pour(response, lines(asked, speech));
    },
  },
  'list-pages': {
    on: ['list'],
    bound: 60,
    by: (speech) => {
      let index = 0;
      return (asked, response) => {
        head(speech, response);
        let text = speech.begin;
        for (let count = 0; count < 1_000; count += 1) text += speech.object(asked, (index += 1));
        response.end(text + speech.more(asked, index));
      };
    },
  },
  'list-empty-pages': {
    on: ['list'],
    bound: 60,
    by: (speech) => {
      let index = 0;
      return (asked, response) => {
        head(speech, response);
        response.end(speech.begin + speech.more(asked, (index += 1_000)));
      };
    },
  },
  /** Names that are as long as a page lets them be. */
  'list-long-names': { on: ['list'], bound: 60, by: (speech) => longNames(speech, 7_000) },
  /** Names that a store takes, and no repository has. */
  'list-wide-names': { on: ['list'], bound: 60, by: (speech) => longNames(speech, 1_000) },
  /** As many parts of an answer as go into one, which say nothing. */
  'list-hollow': {
    on: ['list'],
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      head(speech, response);
      response.end(speech.begin + speech.hollow.repeat(8_000_000 / speech.hollow.length) + speech.end);
    },
  },
  'list-nested': {
    on: ['list'],
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      head(speech, response);
      const [open, close] = speech.nested;
      const times = 7_000_000 / (open.length + close.length);
      response.end(speech.begin + open.repeat(times) + close.repeat(times) + speech.end);
    },
  },
  /** As many folders as are asked about at once, each without end. */
  'folders-body': {
    on: ['list'],
    bound: AT_ONCE,
    by: (speech) => {
      let asked = 0;
      return (question, response) => {
        head(speech, response);
        response.write(speech.begin);
        asked += 1;
        if (asked > 1) return pour(response, lines(question, speech));
        response.end(speech.folders(question));
      };
    },
  },
  'list-one-name': {
    on: ['list'],
    bound: AT_ONCE,
    by: (speech) => (asked, response) => {
      head(speech, response);
      const [before = ''] = speech.object(asked, 1).split('000000001');
      response.write(speech.begin + before);
      pour(response, () => noise);
    },
  },
  'refusal-body': {
    on: READING,
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      response.writeHead(403, { ...speech.headers, 'Content-Type': speech.type });
      pour(response, () => noise);
    },
  },
  'look-body': {
    on: ['look'],
    bound: AT_ONCE,
    by: (speech) => (asked, response) => {
      head(speech, response);
      if (asked.method === 'HEAD') return void response.end();
      response.write(speech.begin);
      pour(response, lines(asked, speech));
    },
  },
  'object-body': {
    on: ['object'],
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      response.writeHead(200, { ...speech.headers, 'Content-Type': 'application/octet-stream' });
      pour(response, () => noise);
    },
  },
  'object-huge': {
    on: ['object'],
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      const length = `${2 ** 40}`;
      response.writeHead(206, {
        ...speech.headers,
        'Content-Type': 'application/octet-stream',
        'Content-Length': length,
        'Content-Range': `bytes 0-${2 ** 40 - 1}/${length}`,
      });
      pour(response, () => noise);
    },
  },
  'pack-body': {
    on: ['pack'],
    bound: AT_ONCE,
    by: (speech) => (_asked, response) => {
      response.writeHead(206, { ...speech.headers, 'Content-Type': 'application/octet-stream' });
      pour(response, () => noise);
    },
  },
  'pack-drip': {
    on: ['pack'],
    bound: SILENT,
    by: (speech) => (asked, response) => {
      const [, from = '0', to = '0'] =
        /(\d+)-(\d+)/.exec(String(asked.headers['x-ms-range'] ?? asked.headers.range)) ?? [];
      response.writeHead(206, {
        ...speech.headers,
        'Content-Length': `${Number(to) - Number(from) + 1}`,
        'Content-Range': `bytes ${from}-${to}/40000000`,
        'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
        ETag: '"e"',
      });
      drip(response, 'x', 1_000);
    },
  },
  header: {
    on: READING,
    bound: AT_ONCE,
    by: bare((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, () => FILLER);
    }),
  },
  information: {
    on: READING,
    bound: AT_ONCE,
    by: bare((socket) => {
      const line = Buffer.from('HTTP/1.1 102 Processing\r\nX-Filler: aaaaaaaa\r\n\r\n'.repeat(200));
      pour(socket, () => line);
    }),
  },
  'chunk-extension': {
    on: READING,
    bound: AT_ONCE,
    by: bare((socket) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-amz-request-id: 1\r\nx-ms-request-id: 1\r\n\r\n1;',
      );
      pour(socket, () => noise);
    }),
  },
  trailer: {
    on: READING,
    bound: AT_ONCE,
    by: bare((socket, asked, speech) => {
      const text = speech.begin + speech.object(asked, 1);
      const head = `Transfer-Encoding: chunked\r\nContent-Type: ${speech.type}\r\nx-amz-request-id: 1\r\nx-ms-request-id: 1`;
      socket.write(
        `HTTP/1.1 ${speech.status} OK\r\n${head}\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n`,
      );
      pour(socket, () => FILLER);
    }),
  },
  drip: {
    on: READING,
    bound: SILENT,
    by: (speech) => (_asked, response) => {
      head(speech, response);
      response.write(speech.begin);
      drip(response, ' ', 1_000);
    },
  },
  'header-drip': {
    on: READING,
    bound: SILENT,
    by: bare((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'X-F: a\r\n', 1_000);
    }),
  },
  silent: { on: [...READING, 'other'], bound: SILENT, by: () => () => {} },
  'list-silent': { on: ['list'], bound: SILENT, by: () => () => {} },
  'object-silent': { on: ['object'], bound: SILENT, by: () => () => {} },
  'pack-silent': { on: ['pack'], bound: SILENT, by: () => () => {} },
  'put-silent': { on: ['other'], bound: SILENT, by: () => () => {} },
  half: {
    on: READING,
    bound: SILENT,
    by: (speech) => (asked, response) => {
      head(speech, response, { 'Content-Length': '5000' });
      response.write(speech.begin + speech.object(asked, 1));
    },
  },
  503: {
    on: [...READING, 'other'],
    bound: REFUSING,
    by: () => refuse(503, 'SlowDown'),
  },
  429: {
    on: [...READING, 'other'],
    bound: REFUSING,
    by: () => refuse(429, 'TooManyRequests'),
  },
};

function refuse(status: number, code: string): Misbehave {
  return ({ method }, response) => {
    response.writeHead(status, {
      'Content-Type': 'application/xml',
      'x-amz-request-id': '1',
      'x-ms-request-id': '1',
    });
    response.end(
      method === 'HEAD'
        ? ''
        : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>Please wait</Message></Error>`,
    );
  };
}
