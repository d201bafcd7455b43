import { visible } from '../../components/own-text.tsx';

/** The text of a file: lines and tabs stay, what else cannot be seen is written out. */
export function visibleText(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}
