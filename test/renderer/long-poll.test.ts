// What makes a request a long poll, as tables: the signs one by one, and the course of a request.
import { describe, expect, test } from 'vitest';
import {
  type AnswerHead,
  createLoadingRequests,
  type LoadingRequests,
} from '../../src/renderer/page/loading-requests.ts';
import { isOthersTalk, isStreamHead, questionOf } from '../../src/renderer/page/long-poll.ts';

const PAGE = 'https://www.shop.test/p';

describe('the same question', () => {
  const get = (url: string, headers = {}): string | null =>
    questionOf({ method: 'GET', url, headers });
  const post = (postData: string, url = '/api'): string | null =>
    questionOf({
      method: 'POST',
      url: `https://a.test${url}`,
      headers: {},
      hasPostData: true,
      postData,
    });
  test.each([
    ['itself', get('https://a.test/poll'), get('https://a.test/poll'), true],
    [
      'a parameter against caches',
      get('https://a.test/p?a=1&_=5'),
      get('https://a.test/p?a=1&_=6'),
      true,
    ],
    ['one more of them', get('https://a.test/p?rnd=0.3'), get('https://a.test/p?_=1&rnd=2'), true],
    [
      'another time',
      get('https://a.test/p?t=1764500000000'),
      get('https://a.test/p?ts=1764500001.5'),
      true,
    ],
    [
      'Engine.IO',
      get('https://a.test/p?EIO=4&transport=polling&t=OaBcDeF&sid=x'),
      get('https://a.test/p?EIO=4&transport=polling&t=OaBcDeG&sid=x'),
      true,
    ],
    [
      'a word of that name',
      get('https://a.test/p?t=menu'),
      get('https://a.test/p?t=article'),
      false,
    ],
    ['another number', get('https://a.test/p?t=1'), get('https://a.test/p?t=2'), false],
    ['a word', get('https://a.test/p?rnd=menu'), get('https://a.test/p?rnd=article'), false],
    [
      'other rows',
      get('https://a.test/p', { Range: '0-9' }),
      get('https://a.test/p', { Range: '10-19' }),
      false,
    ],
    [
      'fields in another order',
      get('https://a.test/p', { A: '1', B: '2' }),
      get('https://a.test/p', { B: '2', A: '1' }),
      true,
    ],
    ['another page', get('https://a.test/p?page=1'), get('https://a.test/p?page=2'), false],
    ['another path', get('https://a.test/p'), get('https://a.test/q'), false],
    ['another host', get('https://a.test/p'), get('https://b.test/p'), false],
    ['another method', get('https://a.test/api'), post('', '/api'), false],
    ['the same body', post('{"q":1}'), post('{"q":1}'), true],
    ['another body', post('{"q":1}'), post('{"q":2}'), false],
  ])('%s', (_name, first, second, isSame) => expect(first === second).toBe(isSame));
  test.each([
    ['a body that is not told', { method: 'POST', url: PAGE, headers: {}, hasPostData: true }],
    ['a long one', { method: 'GET', url: `${PAGE}?${'a'.repeat(20_000)}`, headers: {} }],
    ['no URL', { method: 'GET', url: 'x', headers: {} }],
  ])('none: %s', (_name, asked) => expect(questionOf(asked)).toBe(null));
});

describe('a head that begins a stream', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ 'Content-Type': 'application/x-ndjson' }, true],
    [{ 'content-type': 'application/jsonl; charset=utf-8' }, true],
    [{ 'content-type': 'application/json-seq' }, true],
    [{ 'content-type': 'application/stream+json' }, true],
    [{ 'content-type': 'application/grpc-web+proto' }, true],
    [{ 'content-type': 'text/plain' }, false],
    [{ 'content-type': 'application/javascript;charset=UTF-8' }, false],
    [{ 'content-type': 'multipart/x-mixed-replace; boundary=x' }, true],
    [{ 'content-type': 'application/x-ndjson', 'Content-Length': '10' }, false],
    [{ 'content-type': 'application/json' }, false],
    [{ 'content-type': 'application/ld+json' }, false],
    [{ 'content-type': 'text/html' }, false],
    [{ 'content-type': 'text/x-component' }, false],
    [{ 'content-type': 'text/plainer' }, false],
    [{}, false],
  ])('%j: %s', (headers, isStream) => expect(isStreamHead(headers)).toBe(isStream));
});

describe('talk of others', () => {
  test.each<[string, readonly string[], boolean]>([
    ['https://poll.chat.test/x', ['https://cdn.chat.test/w.js'], true],
    ['https://poll.chat.test/x', ['https://wrap.test/w.js', 'https://cdn.chat.test/w.js'], true],
    ['https://poll.chat.test/x', ['https://cdn.chat.test/w.js', PAGE], false],
    ['https://poll.chat.test/x', [PAGE], false],
    ['https://poll.chat.test/x', ['https://cdn.test/app.js'], false],
    ['https://poll.chat.test/x', [], false],
    ['https://api.shop.test/x', ['https://cdn.chat.test/w.js'], false],
    ['https://api.shop.test/x', ['https://static.shop.test/a.js'], false],
    ['https://127.0.0.1/x', ['https://1.2.0.1/w.js'], false],
    ['https://[::1]/x', ['https://[::1]/w.js'], true],
  ])('%s by %j: %s', (url, scripts, isTalk) => {
    expect(isOthersTalk(url, scripts, PAGE)).toBe(isTalk);
  });
});

describe('what counts', () => {
  const LIMIT_MS = 10_000;
  const URL_ASKED = 'https://www.shop.test/api';
  const GOOD: AnswerHead = { status: 200, headers: { 'content-type': 'application/json' } };
  const STREAM: AnswerHead = { status: 200, headers: { 'content-type': 'application/x-ndjson' } };
  const ask = (loading: LoadingRequests, id: string, type = 'Fetch'): void =>
    loading.open(id, {
      type,
      request: { method: 'GET', url: URL_ASKED, headers: {} },
      initiator: {},
    });
  const answerWhole = (loading: LoadingRequests, id: string, status = 200): void => {
    loading.answer(id, { ...GOOD, status });
    loading.receive(id);
    loading.close(id, true);
  };

  test.each<[string, (loading: LoadingRequests) => void, boolean]>([
    ['a first question', (loading) => ask(loading, '1'), true],
    [
      'its head has come',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', STREAM);
      },
      true,
    ],
    [
      'JSON drips',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', GOOD);
        loading.receive('1');
      },
      true,
    ],
    [
      'a stream goes on',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', STREAM);
        loading.receive('1');
      },
      false,
    ],
    [
      'asked again after an answer',
      (loading) => {
        ask(loading, '1');
        answerWhole(loading, '1');
        ask(loading, '2');
      },
      false,
    ],
    [
      'asked again after a head that had the rest',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', GOOD);
        ask(loading, '2');
        loading.close('1', true);
      },
      false,
    ],
    [
      'asked again after a head that broke off',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', GOOD);
        ask(loading, '2');
        loading.close('1', false);
      },
      true,
    ],
    [
      'asked again after an error',
      (loading) => {
        ask(loading, '1');
        answerWhole(loading, '1', 503);
        ask(loading, '2');
      },
      true,
    ],
    [
      'asked again after a break',
      (loading) => {
        ask(loading, '1');
        loading.answer('1', GOOD);
        loading.close('1', false);
        ask(loading, '2');
      },
      true,
    ],
    [
      'asked twice at once',
      (loading) => {
        ask(loading, '1');
        ask(loading, '2');
        answerWhole(loading, '1');
      },
      true,
    ],
    [
      'a script, asked again',
      (loading) => {
        ask(loading, '1', 'Script');
        answerWhole(loading, '1');
        ask(loading, '2', 'Script');
      },
      true,
    ],
  ])('%s', (_name, happen, isCounted) => {
    const loading = createLoadingRequests(PAGE, LIMIT_MS);
    happen(loading);
    const now = performance.now();
    expect(loading.counted(now)).toHaveLength(1);
    expect(loading.counted(now + LIMIT_MS)).toHaveLength(isCounted ? 1 : 0);
  });
});
