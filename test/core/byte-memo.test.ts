// What is remembered is bounded, and never another's.
import { describe, expect, test } from 'vitest';
import { addToHash, createByteMemo, HASH_START } from '../../src/core/byte-memo.ts';
import { remember } from '../../src/core/remember.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const hashOf = (bytes: Uint8Array): number => bytes.reduce(addToHash, HASH_START);

describe('by bytes', () => {
  test('a text is found wherever it stands', () => {
    const memo = createByteMemo<string>();
    memo.keep(hashOf(encode('color')), encode('color'), 'known');
    const bytes = encode('?color=1');
    expect(memo.find(hashOf(encode('color')), bytes, 1, 6)).toBe('known');
    expect(memo.find(hashOf(encode('colo')), bytes, 1, 5)).toBeUndefined();
  });

  test('texts of one hash are told apart; the oldest of three is forgotten', () => {
    const memo = createByteMemo<string>();
    for (const text of ['a', 'b', 'c']) memo.keep(7, encode(text), text);
    const find = (text: string) => memo.find(7, encode(text), 0, 1);
    expect([find('a'), find('b'), find('c'), find('d')]).toEqual([undefined, 'b', 'c', undefined]);
  });

  test('a long text is not kept', () => {
    const memo = createByteMemo<string>();
    const bytes = encode('x'.repeat(200));
    memo.keep(1, bytes, 'long');
    expect(memo.find(1, bytes, 0, bytes.length)).toBeUndefined();
  });
});

describe('by text', () => {
  test('each text is judged once, long ones each time', () => {
    const judged: string[] = [];
    const judge = remember((text) => {
      judged.push(text);
      return text.length > 1 ? text : null;
    });
    const long = 'x'.repeat(300);
    expect(['a', 'bb', 'a', 'bb', long, long].map(judge)).toEqual([
      null,
      'bb',
      null,
      'bb',
      long,
      long,
    ]);
    expect(judged).toEqual(['a', 'bb', long, long]);
  });

  test('ten thousand texts are answered right', () => {
    const judge = remember((text) => Number(text));
    const texts = Array.from({ length: 10_000 }, (_unused, place) => String(place));
    expect([...texts, ...texts].map(judge)).toEqual([...texts, ...texts].map(Number));
  });
});
