/** Packs a start script that exceeds §8. The image needs sh, base64, gzip and mktemp. */
import { gzipSync } from 'node:zlib';
import { LIMITS } from '../../contract/limits.ts';
import { countCharacters } from '../../contract/text/characters.ts';
import { RequestError } from '../errors.ts';

/**
 * The script as it is if it fits, else packed. It runs by the interpreter of its `#!` line, else by sh.
 * @throws RequestError with both lengths if it is still too long
 */
export function fitOnstart(script: string): string {
  const length = countCharacters(script);
  if (length <= LIMITS.onstartLength) return script;
  const packed = selfExtracting(script);
  const packedLength = countCharacters(packed);
  if (packedLength <= LIMITS.onstartLength) return packed;
  throw new RequestError('instances.create', [
    {
      field: 'onstart',
      message:
        `at most ${LIMITS.onstartLength} characters; this one has ${length}, and ${packedLength} compressed: ` +
        'put it into the image, or have a short script download it',
    },
  ]);
}

function selfExtracting(script: string): string {
  const data = gzipSync(script, { level: 9 }).toString('base64');
  return [
    '#!/bin/sh',
    'f=$(mktemp) || exit 1',
    `printf %s '${data}' | base64 -d | gzip -dc >"$f" || exit 1`,
    `${interpreter(script)} "$f"`,
    's=$?',
    'rm -f "$f"',
    'exit $s',
  ].join('\n');
}

/** Taken from the `#!` line if that is a plain path with plain arguments. */
function interpreter(script: string): string {
  return /^#!\s*(\/[\w/.+-]+(?: [\w.+-]+)*)[ \t\r]*\n/.exec(script)?.[1] ?? 'sh';
}
