import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import { draftOf, type RestoreDraft } from '../../../src/ui/pages/restore/restore-draft.ts';
import { RestorePlan } from '../../../src/ui/pages/restore/restore-plan.tsx';

const FOLDER = textRef('/home/ana/Documents');

function shown(draft: RestoreDraft): readonly string[] {
  const text = render(<RestorePlan draft={draft} />);
  return text.split(/<[^>]*>/).filter((part) => part !== '');
}

test.each([
  [
    'a deleted file',
    draftOf('ab', [textRef('/home/ana/Documents/plan.odt')], FOLDER),
    ['What', '/home/ana/Documents/plan.odt', 'Where', '/home/ana/Documents'],
  ],
  [
    'files of several folders',
    draftOf('ab', ['/a/1', '/b/2', '/c/3', '/d/4', '/e/5'].map(textRef), FOLDER),
    ['What', '/a/1', '/b/2', '/c/3', 'and 2 more', 'Where', 'Back where they were'],
  ],
  [
    'a folder to another place',
    { ...draftOf('ab', [], FOLDER), isInPlace: false, target: ' /tmp/back ' },
    ['What', '/home/ana/Documents', 'Where', '/tmp/back'],
  ],
  [
    'everything',
    { ...draftOf('ab', [], FOLDER), what: 'all' },
    ['What', 'Everything in this snapshot', 'Where', 'Back where they were'],
  ],
] as const)('before anything is written, the check names what and where: %s', (_, draft, words) => {
  expect(shown(draft)).toEqual(words);
});
