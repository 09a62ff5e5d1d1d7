// Whose turn it is among several upstreams, and how long a failing one is left out.
import { describe, expect, it } from 'vitest';
import { createUpstreamPicker } from '../../../src/core/http/pick-upstream.ts';

describe('createUpstreamPicker', () => {
  it('lets equals take turns', () => {
    const picker = createUpstreamPicker(['a', 'b', 'c']);
    const firsts = Array.from({ length: 6 }, () => picker.candidates(0, 'none')[0]);
    expect(new Set(firsts.slice(0, 3))).toEqual(new Set(['a', 'b', 'c']));
    expect(firsts.slice(3)).toEqual(firsts.slice(0, 3));
  });

  it('puts the least loaded first', () => {
    const picker = createUpstreamPicker(['a', 'b']);
    picker.begin('a');
    expect(picker.candidates(0, 'none')).toEqual(['b', 'a']);
    expect(picker.candidates(0, 'none')).toEqual(['b', 'a']);
    picker.end('a', 'ok', 0);
    picker.begin('b');
    expect(picker.candidates(0, 'none')).toEqual(['a', 'b']);
  });

  it('leaves a failing one out, longer each time, until it answers', () => {
    const picker = createUpstreamPicker(['a']);
    const fail = (now: number): void => {
      picker.begin('a');
      picker.end('a', 'failed', now);
    };
    fail(0);
    expect(picker.candidates(499, 'none')).toEqual([]);
    expect(picker.candidates(499, 'all')).toEqual(['a']);
    expect(picker.candidates(500, 'none')).toEqual(['a']);
    fail(500);
    expect(picker.candidates(1_499, 'none')).toEqual([]);
    expect(picker.candidates(1_500, 'none')).toEqual(['a']);
    picker.begin('a');
    picker.end('a', 'ok', 1_500);
    fail(2_000);
    expect(picker.candidates(2_500, 'none')).toEqual(['a']);
  });

  it('leaves one that is absent out for a moment, however often', () => {
    const picker = createUpstreamPicker(['a']);
    for (let now = 0; now < 60_000; now += 500) {
      expect(picker.candidates(now, 'none')).toEqual(['a']);
      picker.begin('a');
      picker.end('a', 'absent', now);
      expect(picker.candidates(now + 499, 'none')).toEqual([]);
    }
  });

  it('counts failures of one moment as one', () => {
    const picker = createUpstreamPicker(['a']);
    for (let i = 0; i < 100; i += 1) {
      picker.begin('a');
      picker.end('a', 'failed', 0);
    }
    expect(picker.candidates(500, 'none')).toEqual(['a']);
  });

  it('never leaves one out for more than half a minute', () => {
    const picker = createUpstreamPicker(['a']);
    let now = 0;
    for (let i = 0; i < 100; i += 1) {
      picker.begin('a');
      picker.end('a', 'failed', now);
      now += 30_000;
      expect(picker.candidates(now, 'none')).toEqual(['a']);
    }
  });

  it('offers the one due back first when all are out', () => {
    const picker = createUpstreamPicker(['a', 'b']);
    picker.begin('a');
    picker.begin('b');
    picker.end('b', 'failed', 0);
    picker.end('a', 'failed', 100);
    expect(picker.candidates(200, 'all')).toEqual(['b', 'a']);
  });

  it('being busy is no failure', () => {
    const picker = createUpstreamPicker(['a']);
    picker.begin('a');
    picker.end('a', 'busy', 0);
    expect(picker.candidates(0, 'none')).toEqual(['a']);
  });

  it('has nothing to offer without servers', () => {
    expect(createUpstreamPicker([]).candidates(0, 'all')).toEqual([]);
  });
});
