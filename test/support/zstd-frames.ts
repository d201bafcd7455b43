/** Frames that zstd-napi wrote, for machines that have no binary of it. */
import { readFileSync } from 'node:fs';

export interface StoredFrame {
  readonly level: number;
  readonly content: Buffer;
  readonly frame: Buffer;
}

type Content = { readonly text: string } | { readonly repeated: string; readonly bytes: number };

interface Fixture {
  readonly frames: readonly { readonly level: number; readonly content: Content; readonly frame: string }[];
}

export function zstdFrames(): readonly StoredFrame[] {
  const { frames }: Fixture = JSON.parse(
    readFileSync(new URL('../fixtures/zstd-frames.json', import.meta.url), 'utf8'),
  );
  return frames.map(({ level, content, frame }) => ({
    level,
    content: 'text' in content ? Buffer.from(content.text) : Buffer.alloc(content.bytes, content.repeated),
    frame: Buffer.from(frame, 'base64'),
  }));
}
