/** A call whose request has come, as its handler sees it: what it answers goes through the host to the client. */
import type { Replayed } from "../../state/index.ts";
import type { CallStatus } from "./status.ts";

export interface AnsweredCall<Response> {
  /** As the client set it, on the clock of Date.now(); Infinity if it set none. */
  readonly deadline: number;
  /** What the intake has found in the headers of a call of a guarded method. */
  readonly admission: unknown;
  /** Whether the client has the whole answer, or is not there any more. */
  readonly isOver: boolean;
  /** Called once the call is over. */
  onOver: (() => void) | null;
  /** Answers a unary call, with OK. */
  answer(response: Response, replayed: Replayed): void;
  /**
   * Sends an encoded message of a stream; calls `taken`, in a later turn, once it does not wait here any more. Never if the
   * stream ends before.
   */
  send(message: Uint8Array, taken: () => void): void;
  /** Ends the call, behind what was sent. */
  end(status: CallStatus): void;
}

/** What answers the calls of a method. The request is its encoded message. */
export type CallHandler<Response> = (call: AnsweredCall<Response>, request: Buffer) => void;
