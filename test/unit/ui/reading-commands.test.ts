import { describe, expect, test } from 'vitest';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import {
  contentCommand,
  findCommands,
  listCommand,
  repositoriesOf,
  versionsCommands,
} from '../../../src/ui/pages/restore/reading-commands.ts';

const ID = '0123456789abcdef0123';
const HERE = { snapshot: ID, destination: undefined };
const AWAY = { snapshot: ID, destination: 'usb disk' };
const BOTH = [undefined, 'usb disk'];

describe('the commands of what is looked at', () => {
  test('name the destination of a snapshot that is not in the default one', () => {
    expect(listCommand(HERE, textRef('/home/a b'))).toBe(`holdfast ls 0123456789ab '/home/a b' --long`);
    expect(listCommand(AWAY, textRef('/home'))).toBe(`holdfast ls -r 'usb disk' 0123456789ab /home --long`);
    expect(contentCommand(HERE, textRef('/a'), 'a')).toBe('holdfast cat 0123456789ab /a > a');
    expect(contentCommand(AWAY, textRef('/a'), 'a')).toBe(`holdfast cat -r 'usb disk' 0123456789ab /a > a`);
  });

  test('search one snapshot where it is', () => {
    expect(findCommands('thesis', HERE, BOTH)).toEqual([
      `holdfast find '*thesis*' --ignore-case --snapshot 0123456789ab`,
    ]);
    expect(findCommands('*.odt', AWAY, BOTH)).toEqual([
      `holdfast find -r 'usb disk' '*.odt' --ignore-case --snapshot 0123456789ab`,
    ]);
  });

  test('search all destinations, as the page does', () => {
    expect(findCommands('thesis', undefined, BOTH)).toEqual([
      `holdfast find '*thesis*' --ignore-case`,
      `holdfast find -r 'usb disk' '*thesis*' --ignore-case`,
    ]);
    expect(versionsCommands(textRef('/a'), BOTH)).toEqual([
      'holdfast versions /a',
      `holdfast versions -r 'usb disk' /a`,
    ]);
  });

  test('have the default destination first, without its name', () => {
    const destinations = [
      { name: 'nas', is_default: false },
      { name: 'disk', is_default: true },
    ];
    expect(repositoriesOf(destinations)).toEqual([undefined, 'nas']);
    expect(repositoriesOf([])).toEqual([undefined]);
  });
});
