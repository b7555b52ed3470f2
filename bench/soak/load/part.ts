/** A part of the load: what it does, and whether everything is there at the end. */

import { type Client, isQuoinError, type QuoinReason } from "@quoin/client";
import type { Action, Calls } from "../pace/index.ts";

export interface Part {
  /** Makes what the actions need, before any fault. */
  prepare(): Promise<void>;
  readonly actions: readonly Action[];
  /** Raises a SoakError unless each acknowledged change is there, when nothing runs any more. */
  verify(): Promise<void>;
}

export interface PartContext {
  readonly calls: Calls;
  /** One of several clients, which are asked in turn. */
  readonly client: () => Client;
}

/** Text of this length that begins like this. No other place has the same. */
export function textOf(beginning: string, length: number): string {
  return `${beginning} `.padEnd(length, "The quick brown fox jumps over the lazy dog. ");
}

/** The answer; null if the call is refused with this reason. */
export async function answerUnless<Answer>(reason: QuoinReason, call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (isQuoinError(error, reason)) {
      return null;
    }
    throw error;
  }
}
