/**
 * Gives the library's own answer to a missed deadline the details and trailers that every error of the contract has.
 *
 * The library ends a call at the deadline that the client set, from a timer of its own: before our timer, or before the
 * request has come in whole. What it answers then has a code and nothing else.
 */

import { type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { deadlineExceeded } from "./deadline.ts";
import { errorStatus } from "./status.ts";

/** @param leaderEndpoint host:port of the leader, or null if none is known. */
export function deadlineInterceptor(leaderEndpoint: () => string | null): ServerInterceptor {
  return (_method, call) => {
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (answer) => {
      const isBare = answer.code === status.DEADLINE_EXCEEDED && (answer.metadata ?? null) === null;
      sendStatus(isBare ? errorStatus(deadlineExceeded(), "no", leaderEndpoint()) : answer);
    };
    // The call itself: a wrapper around it would cost every message another round of callbacks.
    return call as ServerInterceptingCall;
  };
}
