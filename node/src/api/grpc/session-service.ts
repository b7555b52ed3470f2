/** SessionService on a server. */

import { serviceDefinitions } from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import type { SessionMethods } from "../methods/index.ts";

export function sessionService(port: PortContext<Caller>, methods: SessionMethods): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.SessionService, {
    createSession: (call, request, reply) => methods.createSession(call, request, reply),
    renewSessions: {
      // A client that cannot renew a session loses everything that belongs to it.
      isUnlimited: () => true,
      handle: (call, request, reply) => methods.renewSessions(call, request, reply),
    },
    endSession: { isUnlimited: () => true, handle: (call, request, reply) => methods.endSession(call, request, reply) },
    describeSession: (call, request, reply) => methods.describeSession(call, request, reply),
    listSessions: (call, request, reply) => methods.listSessions(call, request, reply),
  });
}
