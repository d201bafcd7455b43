/** A WebDAV answer that has come as a whole. */
import { EndlessAnswer, HollowAnswer } from '../../src/destination/bounds.ts';
import { multistatusReader, type DavEntry } from '../../src/destination/webdav/multistatus.ts';

/**
 * Undefined when the text is no complete answer.
 * @param piece so many characters come at once
 */
export function parseMultistatus(text: string, piece = text.length): readonly DavEntry[] | undefined {
  const entries: DavEntry[] = [];
  const reader = multistatusReader((entry) => entries.push(entry));
  try {
    for (let at = 0; at < text.length; at += piece) reader.push(text.slice(at, at + piece));
    return reader.isWhole() ? entries : undefined;
  } catch (error) {
    if (error instanceof EndlessAnswer || error instanceof HollowAnswer) return undefined;
    throw error;
  }
}
