/** What clients of all kinds have in common: the rules for their options, and the default deadline. */

import { timeout, unchecked } from "../options/index.ts";
import { channelRule } from "./channel.ts";

/** The rules for the options of every client. Credentials and TLS options are checked where they are used. */
export const clientRules = {
  credentials: unchecked,
  tls: unchecked,
  timeoutMs: timeout,
  channel: channelRule,
  runtime: unchecked,
};

/** Deadline of operations without their own, in milliseconds: that of the service. */
export const DEFAULT_TIMEOUT_MS = 5_000;
