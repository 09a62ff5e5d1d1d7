// What differs between the foreign render services: how a page is asked for, and what in the
// answer says that it is a page.
import type { HeaderList } from '../../../core/http/header-list.ts';
import type { PageJob } from '../../../pipeline/ports.ts';

export interface ForeignCall {
  readonly method: 'GET' | 'POST';
  /** Below the service's base path. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: string | null;
}

/** The head of a service's answer. */
export interface ForeignHead {
  readonly status: number;
  readonly headers: HeaderList;
}

/** How the page in an answer is to be read; its fields are those of our own contract. */
export interface ForeignPage {
  readonly status: number;
  readonly location: string | null;
  readonly headers: HeaderList;
}

export interface Dialect {
  readonly buildCall: (job: PageJob, token: string | null) => ForeignCall;
  /** null: nothing in the answer shows that it is a page of this service. */
  readonly readHead: (head: ForeignHead, job: PageJob) => ForeignPage | null;
  /** A cheap question and whether its status means that renders can be asked for. */
  readonly readyPath: (token: string | null) => string;
  readonly isReadyStatus: (status: number) => boolean;
}
