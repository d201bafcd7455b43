import { visible } from '../../components/own-text.tsx';

/** The text of a file with lines and tabs kept, and other invisible characters written out. */
export function visibleText(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}
