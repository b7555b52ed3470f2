/** Connects to a member before a request is sent, within a time limit. */

import { connectivityState } from "@grpc/grpc-js";
import { QuoinError } from "../errors/index.ts";
import { noAnswer } from "./connection-failure.ts";
import type { Target } from "./target.ts";

/**
 * How long an attempt waits for a connection, in milliseconds. Otherwise a host that never answers would use up the
 * whole deadline, although another member could have answered.
 */
const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Waits until the channel is connected, or has failed: sending then fails at once with the reason. A channel that does
 * neither in time is abandoned. It may wait for ever, although a new connection would succeed at once.
 *
 * @param remainingMs the time limit, in milliseconds.
 * @throws QuoinError UNAVAILABLE after the timeout; CANCELLED by the signal.
 */
export async function connect(target: Target, remainingMs: number, signal: AbortSignal | undefined): Promise<void> {
  if (currentState(target, false) === connectivityState.READY) {
    return;
  }
  const abandonAtMs = Date.now() + CONNECT_TIMEOUT_MS;
  const deadline = Math.min(abandonAtMs, Date.now() + remainingMs);
  let state = currentState(target, true);
  while (state === connectivityState.IDLE || state === connectivityState.CONNECTING) {
    await changeOfState(target, state, { deadline, abandonAtMs }, signal);
    state = currentState(target, true);
  }
}

/**
 * The state of the channel. It may have been closed while the operation waited: by the client, or because another
 * member leads. Check that before connecting, because grpc-js would reopen the channel.
 *
 * @throws QuoinError UNAVAILABLE, not executed, if the channel is closed.
 */
function currentState(target: Target, connect: boolean): connectivityState {
  const channel = target.channel.getChannel();
  if (channel.getConnectivityState(false) === connectivityState.SHUTDOWN) {
    throw new QuoinError({
      code: "UNAVAILABLE",
      outcome: "not-executed",
      message: `the connection to ${target.endpoint} is closed`,
    });
  }
  return channel.getConnectivityState(connect);
}

function changeOfState(
  target: Target,
  state: connectivityState,
  { deadline, abandonAtMs }: { readonly deadline: number; readonly abandonAtMs: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      throw neverSent(signal);
    }
    const onAbort = () => reject(neverSent(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    target.channel.getChannel().watchConnectivityState(state, deadline, (timeout) => {
      signal?.removeEventListener("abort", onAbort);
      if (timeout === undefined) {
        resolve();
        return;
      }
      if (Date.now() >= abandonAtMs) {
        target.abandon();
      }
      reject(noAnswer(false, target.endpoint, "no connection in time"));
    });
  });
}

/** The error of a call that was cancelled before it was sent. */
export function neverSent(signal: AbortSignal | undefined): QuoinError {
  return new QuoinError({
    code: "CANCELLED",
    outcome: "not-executed",
    message: "the operation was cancelled before it was sent",
    cause: signal?.reason,
  });
}
