import { expect, test } from 'vitest';
import { createLiveScreen } from '../../../../src/cli/fleet/watch-fleet.ts';

const ESCAPE = '\u001B[';

/** What a terminal shows of such text: it scrolls, overwrites, clears and moves its cursor as xterm does. */
function terminal(rows: number) {
  const lines: string[] = Array.from({ length: rows }, () => '');
  let row = 0;
  let column = 0;
  let isCursorHidden = false;

  function obey(command: string): void {
    const letter = command.at(-1);
    if (letter === 'A') row = Math.max(0, row - Number(command.slice(0, -1)));
    else if (letter === 'H') row = column = 0;
    else if (letter === 'K') lines[row] = lines[row]?.slice(0, column) ?? '';
    else if (command === '2J') lines.fill('');
    else if (letter === 'J') lines.fill('', row + (column === 0 ? 0 : 1));
    else isCursorHidden = letter === 'l';
  }

  function show(character: string): void {
    if (character === '\r') column = 0;
    else if (character === '\n') {
      column = 0;
      if (row < rows - 1) row++;
      else {
        lines.shift();
        lines.push('');
      }
    } else {
      const line = lines[row] ?? '';
      lines[row] = line.slice(0, column) + character + line.slice(column + 1);
      column++;
    }
  }

  return {
    write(text: string): void {
      for (const [index, part] of text.split(ESCAPE).entries()) {
        const command = index === 0 ? '' : (/^[?\d;]*[A-Za-z]/.exec(part)?.[0] ?? '');
        if (command !== '') obey(command);
        for (const character of part.slice(command.length)) show(character);
      }
    },
    shown: () => lines.join('\n').trimEnd().split('\n'),
    isCursorHidden: () => isCursorHidden,
  };
}

const SIZE = { columns: 20, rows: 6 };

test('a frame stands where the last one stood, also when it is longer or shorter', () => {
  const screen = createLiveScreen();
  const term = terminal(6);
  for (const lines of [['a', 'b'], ['c'], ['d', 'e', 'f'], ['g', 'h']]) {
    term.write(screen.frame(lines, SIZE));
    expect(term.shown()).toEqual(lines);
    expect(term.isCursorHidden()).toBe(true);
  }
  term.write(screen.end());
  expect(term.shown()).toEqual(['g', 'h']);
  expect(term.isCursorHidden()).toBe(false);
});

test('what does not fit the terminal is counted, and never scrolls', () => {
  const screen = createLiveScreen();
  const term = terminal(6);
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
  for (let frame = 0; frame < 3; frame++) {
    term.write(screen.frame(lines, SIZE));
    expect(term.shown()).toEqual(['line 0', 'line 1', 'line 2', 'line 3', '… 5 more lines']);
  }
});

test('is drawn from the top only where the terminal has changed, and where there is something to go back over', () => {
  const screen = createLiveScreen();
  const size = { columns: 20, rows: 3 };
  expect(screen.end()).toBe('');
  expect(screen.frame([], size)).toBe('\u001B[?25l\u001B[J');
  expect(screen.frame(['a'], size)).toBe('a\u001B[K\n\u001B[J');
  expect(screen.frame(['a', 'b'], size)).toBe('\u001B[1A\ra\u001B[K\nb\u001B[K\n\u001B[J');
  expect(screen.frame(['a', 'b', 'c'], size)).toBe('\u001B[2A\ra\u001B[K\n… 2 more lines\u001B[K\n\u001B[J');
  expect(screen.frame(['a'], { ...size, columns: 21 }).indexOf(`${ESCAPE}2J${ESCAPE}Ha`)).toBe(0);
  expect(screen.frame(['a', 'b'], { columns: 21, rows: 1 })).toContain('\r… 2 more lines');
  expect(screen.end()).toBe('\u001B[?25h');
});
