// The requests of a page that are under way, with what each has shown so far, and which of them
// count: all that a page waits for, long polls only for a while.
import { RENDER_LIMITS } from '../limits.ts';
import {
  type AskedRequest,
  isLongPoll,
  isOthersTalk,
  isStreamHead,
  type PollSigns,
  questionOf,
} from './long-poll.ts';

export interface Loading {
  readonly url: string;
  /** Script or data: a page without it is not the page. */
  readonly isContent: boolean;
}

export interface LoadingRequests {
  readonly open: (networkId: string, asked: Asked) => void;
  /** The head of its answer has come. */
  readonly answer: (networkId: string, head: AnswerHead) => void;
  /** Something of the body has come. */
  readonly receive: (networkId: string) => void;
  /** @param isWhole false: it broke off, or never came */
  readonly close: (networkId: string, isWhole: boolean) => void;
  /** Those that count at a time of `performance.now()`. */
  readonly counted: (now: number) => readonly Loading[];
}

/** What Chromium tells when a request begins. */
export interface Asked {
  readonly type: string;
  readonly request: AskedRequest;
  readonly initiator: {
    readonly stack?: { readonly callFrames: readonly { readonly url: string }[] };
  };
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface Known extends Loading, PollSigns {
  readonly isData: boolean;
  readonly since: number;
  readonly question: string | null;
  /** When the head of its answer came; null: not yet, or it is no success. */
  readonly goodAt: number | null;
}

const DATA: ReadonlySet<string> = new Set(['Fetch', 'XHR']);

/** @param longPollAfterMs how old a long poll is when it no longer counts */
export function createLoadingRequests(pageUrl: string, longPollAfterMs: number): LoadingRequests {
  const loading = new Map<string, Known>();
  const answered = new Set<string>();

  const learn = (networkId: string, news: Partial<Known>): void => {
    const request = loading.get(networkId);
    if (request !== undefined) loading.set(networkId, { ...request, ...news });
  };
  return {
    open: (networkId, { type, request, initiator }) => {
      const isData = DATA.has(type);
      const question = isData ? questionOf(request) : null;
      loading.set(networkId, {
        url: request.url,
        isContent: isData || type === 'Script',
        isData,
        since: performance.now(),
        question,
        goodAt: null,
        isAskedAgain: question !== null && answered.has(question),
        isOthersTalk: isData && isOthersTalk(request.url, scriptUrlsOf(initiator), pageUrl),
        isStream: false,
        hasBody: false,
      });
    },
    answer: (networkId, { status, headers }) => {
      const isGood = status >= 200 && status < 300;
      const goodAt = isGood ? performance.now() : null;
      learn(networkId, { goodAt, isStream: isGood && isStreamHead(headers) });
    },
    receive: (networkId) => learn(networkId, { hasBody: true }),
    close: (networkId, isWhole) => {
      const { question = null, goodAt = null } = loading.get(networkId) ?? {};
      loading.delete(networkId);
      if (question === null || goodAt === null || !isWhole) return;
      if (answered.size < RENDER_LIMITS.questionsMax) answered.add(question);
      // A script may ask again as soon as it has seen the head.
      for (const [id, other] of loading) {
        if (other.question === question && other.since >= goodAt) learn(id, { isAskedAgain: true });
      }
    },
    counted: (now) =>
      [...loading.values()].filter((request) => {
        const isOld = request.isData && now - request.since >= longPollAfterMs;
        return !isOld || !isLongPoll(request);
      }),
  };
}

/** Whose code made a request; code of `eval` has no URL. */
function scriptUrlsOf({ stack }: Asked['initiator']): readonly string[] {
  return (stack?.callFrames ?? []).map(({ url }) => url).filter((url) => url !== '');
}
