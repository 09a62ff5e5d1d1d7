// What every LearnedRules adapter must do: two processes over one store know the same.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseNoVarySearch } from '../../src/core/http/no-vary-search.ts';
import {
  encodeLearned,
  LEARNED_KEEP_MS,
  LEARNED_PATHS_MAX,
  type LearnedRule,
  learnedName,
} from '../../src/core/learned/learned-rule.ts';
import type { LearnedRules } from '../../src/pipeline/ports.ts';

export interface LearnedRulesSubject {
  /** Two processes over the same store. */
  readonly one: LearnedRules;
  readonly other: LearnedRules;
  /** A process that starts now. */
  readonly start: () => Promise<LearnedRules>;
  /** Writes values by their names, as another release or a hand might. */
  readonly plant: (values: Readonly<Record<string, string>>) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const DONE = { state: 'done', value: undefined };

/** A rule of a path of site.test, as its origin would teach it. */
export function makeRule(path: string, changes: Partial<LearnedRule> = {}): LearnedRule {
  const header = changes.header ?? 'params=("sid")';
  const variance = parseNoVarySearch([header]);
  if (variance === null) throw new Error(`${header} says nothing`);
  const address = `https://site.test${path}`;
  return { hostId: 1, address, header, variance, from: `${address}?sid=1`, at: 5, ...changes };
}

export const nameOf = ({ hostId, address }: LearnedRule): string => learnedName(hostId, address);

export function describeLearnedRules(open: () => Promise<LearnedRulesSubject>): void {
  describe('LearnedRules', () => {
    let subject: LearnedRulesSubject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.dispose());

    const known = async (rules: LearnedRules): Promise<readonly LearnedRule[]> => {
      expect(await rules.refresh()).toEqual(DONE);
      return [...rules.current().values()].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    };

    it('knows nothing at first', async () => {
      expect(await known(subject.one)).toEqual([]);
    });

    it('tells everybody what one has learned, now and after a start', async () => {
      const rules = [makeRule('/a'), makeRule('/b', { header: 'key-order', hostId: 2 })];
      for (const rule of rules) expect(await subject.one.learn(rule)).toEqual(DONE);
      expect(subject.one.current().get(nameOf(makeRule('/a')))).toEqual(rules[0]);
      expect(await known(subject.other)).toEqual(rules);
      expect([...(await subject.start()).current().values()]).toHaveLength(2);
    });

    it('replaces a rule by what was said later', async () => {
      await subject.one.learn(makeRule('/a'));
      await subject.other.learn(makeRule('/a', { header: 'params', at: 6 }));
      expect(await known(subject.one)).toEqual([makeRule('/a', { header: 'params', at: 6 })]);
    });

    it('forgets one rule and keeps the others', async () => {
      for (const path of ['/a', '/a/b', '/b']) await subject.one.learn(makeRule(path));
      expect(await subject.other.forget(1, 'https://site.test/a')).toEqual(DONE);
      expect(await subject.other.forget(1, 'https://site.test/never')).toEqual(DONE);
      expect(await known(subject.one)).toEqual([makeRule('/a/b'), makeRule('/b')]);
    });

    it('leaves out what it can’t read', async () => {
      await subject.plant({
        [nameOf(makeRule('/a'))]: '{"header":"params=?0","from":"x","at":1}',
        [nameOf(makeRule('/b'))]: 'no JSON',
        'no name': encodeLearned(makeRule('/c')),
      });
      await subject.one.learn(makeRule('/d'));
      expect(await known(subject.other)).toEqual([makeRule('/d')]);
    });

    it('keeps a bounded number for a host, those that were said lately first', async () => {
      const full = Array.from({ length: LEARNED_PATHS_MAX }, (_unused, place) =>
        makeRule(`/${place}`, { at: LEARNED_KEEP_MS + place }),
      );
      await subject.plant(
        Object.fromEntries(full.map((rule) => [nameOf(rule), encodeLearned(rule)])),
      );
      await subject.one.learn(makeRule('/other', { hostId: 2 }));
      await subject.one.learn(makeRule('/soon', { at: 2 * LEARNED_KEEP_MS }));
      expect(await known(subject.one)).toHaveLength(LEARNED_PATHS_MAX + 1);
      await subject.one.learn(makeRule('/late', { at: 2 * LEARNED_KEEP_MS + 1 }));
      const names = new Set((await known(subject.other)).map(nameOf));
      expect(names.size).toBe(LEARNED_PATHS_MAX + 1);
      expect(names.has(nameOf(makeRule('/late')))).toBe(true);
      for (const path of ['/soon', '/0']) expect(names.has(nameOf(makeRule(path)))).toBe(false);
    });
  });
}
