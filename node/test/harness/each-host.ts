/** Specs of what must be the same whatever serves gRPC. */
import { DEFAULT_GRPC_HOST, GRPC_HOSTS, type GrpcHostName } from "../../src/api/calls/index.ts";

/** Describes it once for each host of gRPC. */
export function onEachHost(title: string, specs: (this: Mocha.Suite, host: GrpcHostName) => void): void {
  for (const host of GRPC_HOSTS) {
    describe(host === DEFAULT_GRPC_HOST ? title : `${title} (on ${host})`, function () {
      specs.call(this, host);
    });
  }
}
