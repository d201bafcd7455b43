import { describe, expect, it } from 'vitest';
import { kindOf } from '../../../src/ui/pages/restore/preview.tsx';

const bytes = (latin1: string): Uint8Array => new Uint8Array(Buffer.from(latin1, 'latin1'));

describe('kindOf', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n....', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a....', 'image/gif'],
    ['RIFF\x10\x00\x00\x00WEBPVP8 ', 'image/webp'],
    ['\x00\x00\x00\x1cftypavif', 'image/avif'],
    ['BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00', 'image/bmp'],
  ])('knows a picture by its first bytes: %j', (head, type) => {
    expect(kindOf(bytes(head), true)).toEqual({ kind: 'image', type });
  });

  it.each([
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    '<html>',
    'BM is no picture',
  ])('takes %j for text', (text) => {
    expect(kindOf(bytes(text), true)).toEqual({ kind: 'text', text });
  });

  it('takes a text whose last character is cut off for text', () => {
    expect(kindOf(bytes('caf\xc3'), false)).toEqual({ kind: 'text', text: 'caf' });
    expect(kindOf(bytes('caf\xc3'), true)).toEqual({ kind: 'other' });
  });

  it.each(['a\x00b', 'caf\xe9 au lait', '%PDF-1.7\n\xbf\xf7'])('takes %j for neither', (content) => {
    expect(kindOf(bytes(content), true)).toEqual({ kind: 'other' });
  });
});
