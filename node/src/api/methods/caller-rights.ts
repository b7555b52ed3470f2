/** What the caller of a method may do, by the applied state and the limits of the token. */

import {
  ALL_NAMESPACES,
  CoordinationError,
  type Reason,
  type RequiredAccess,
  readUser,
  type StateReader,
} from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import type { Call } from "./call.ts";

/** Whether the caller has the access. Throws every refusal but the one with this reason, which means no. */
export function isAllowed(call: Call, need: RequiredAccess, reason: Reason): boolean {
  const refusal = attempt(() => call.recheck(need));
  if (refusal instanceof Error && !(refusal instanceof CoordinationError && refusal.reason === reason)) {
    throw refusal;
  }
  return refusal === undefined;
}

/** Whether the caller may read in the namespace. The token may allow fewer namespaces than its user has. */
export function mayRead(call: Call, namespace: string): boolean {
  return isAllowed(call, { access: "read", namespace }, "NAMESPACE_DENIED");
}

/** The namespaces of the caller's user; null = all. */
export function allowedNamespaces(state: StateReader, { principal }: Call): readonly string[] | null {
  const namespaces = readUser(state, principal.subject)?.namespaces ?? [];
  return namespaces.includes(ALL_NAMESPACES) ? null : namespaces;
}
