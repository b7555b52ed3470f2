/** Loopback ports that serve the members' admin service; each forwards to the process that has it at the moment. */
import { type handleUnaryCall, Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { serviceDefinitions } from "@quoin/proto";
import type { Any } from "../api-server/index.ts";
import { MemberRefusal } from "./quorum.ts";

/** Methods of ClusterAdminService on one process. They return messages, and throw refusals. */
export type AdminMethods = Record<string, (request: Any, requestId: string) => object>;

export class AdminPorts {
  readonly #servers: { readonly server: Server; readonly port: number; occupant: AdminMethods | null }[] = [];

  async open(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const place: { server: Server; port: number; occupant: AdminMethods | null } = {
        server: new Server(),
        port: 0,
        occupant: null,
      };
      place.server.addService(
        serviceDefinitions.ClusterAdminService,
        handlersOf(() => place.occupant),
      );
      place.port = await new Promise<number>((resolve, reject) => {
        place.server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
          error === null ? resolve(port) : reject(error),
        );
      });
      this.#servers.push(place);
    }
  }

  /** @returns the port */
  occupy(methods: AdminMethods): number {
    const free = this.#servers.find(({ occupant }) => occupant === null);
    if (free === undefined) {
      throw new Error("more processes than ports");
    }
    free.occupant = methods;
    return free.port;
  }

  leave(methods: AdminMethods): void {
    for (const place of this.#servers) {
      place.occupant = place.occupant === methods ? null : place.occupant;
    }
  }

  close(): void {
    for (const { server } of this.#servers) {
      server.forceShutdown();
    }
  }
}

type Handler = handleUnaryCall<Any, Any>;

function handlersOf(occupant: () => AdminMethods | null): Record<string, Handler> {
  const names = ["getStatus", "listMembers", "bootstrap", "addMember", "promoteMembers", "removeMembers", "resetOwner"];
  return Object.fromEntries(
    [...names, "transferLeadership", "putSettings", "startBackup", "getBackupStatus", "listBackups"].map((name) => {
      const handler: Handler = (call, done) => {
        try {
          const method = occupant()?.[name];
          if (method === undefined || call.metadata.get("authorization")[0] === undefined) {
            throw new MemberRefusal("UNAVAILABLE", "");
          }
          done(null, method(call.request, String(call.metadata.get("request-id")[0])));
        } catch (error) {
          done(failure(error));
        }
      };
      return [name, handler];
    }),
  );
}

function failure(error: unknown) {
  if (!(error instanceof MemberRefusal)) {
    return { code: status.INTERNAL, details: String(error) };
  }
  const metadata = new Metadata();
  metadata.set("error-reason", error.reason);
  return { code: status[error.code], details: error.reason, metadata };
}
