import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import type { DestinationTest } from '../../../src/api/schemas/page/protect.ts';
import { TestReport } from '../../../src/ui/parts/destination-form.tsx';

const slow = { check: 'clock', status: 'warning', message: 'Its clock is wrong', hint: '' } as const;

function shown(findings: DestinationTest['findings']): string {
  const test = {
    usable: true,
    findings,
    write_speed: 1_000_000,
    read_speed: 2_000_000,
    clock_skew_seconds: null,
  };
  const page = render(<TestReport tried={{ test, isNew: false }} />);
  return page.slice(0, page.indexOf('<details>')).replaceAll(/<[^>]*>/g, ' ');
}

test('what "But:" announces follows it, before the speeds', () => {
  expect(shown([slow])).toMatch(/But:.*Its clock is wrong.*Writing:/s);
});

test('the speeds follow the good news at once', () => {
  expect(shown([])).toMatch(/It works\.\s+Writing:/);
});
