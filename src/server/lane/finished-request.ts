// What log and metrics are told of a request that the lane has answered.
import type { FinishedRequest } from '../gateway/visit.ts';
import type { LaneRequest } from './lane-plans.ts';

export function finishedRequest(
  request: LaneRequest,
  answered: Pick<FinishedRequest, 'record' | 'requestId' | 'status' | 'isAborted' | 'bypass'>,
): FinishedRequest {
  const { record, requestId, status, isAborted, bypass } = answered;
  return {
    record,
    requestId,
    method: 'GET',
    clientAddress: request.address,
    userAgent: request.head.userAgent ?? '',
    status,
    durationMs: performance.now() - request.startedAtMs,
    isAborted,
    bypass,
  };
}
