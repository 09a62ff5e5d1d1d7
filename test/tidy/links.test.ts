// Every relative link of every Markdown file leads somewhere.
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { isThere, listFiles, readFile } from './files.ts';

const LINK = /\]\(([^)\s]+)\)/g;
const ABSOLUTE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

test.each(listFiles().filter((file) => file.endsWith('.md')))('%s', (file) => {
  const dead = [...withoutCode(readFile(file)).matchAll(LINK)]
    .map(([, target]) => target ?? '')
    .filter((target) => !ABSOLUTE.test(target) && !leadsSomewhere(file, target));
  expect(dead).toEqual([]);
});

function leadsSomewhere(file: string, target: string): boolean {
  const [path = '', fragment] = target.split('#');
  const destination = path === '' ? file : posix.join(posix.dirname(file), decodeURI(path));
  if (!isThere(destination)) return false;
  if (fragment === undefined || !destination.endsWith('.md')) return true;
  return anchorsOf(readFile(destination)).includes(fragment.toLowerCase());
}

/** Headings as their anchors: lower case, spaces as hyphens, punctuation gone. */
function anchorsOf(markdown: string): readonly string[] {
  return [...withoutCode(markdown).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
}
