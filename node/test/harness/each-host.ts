/** For specs that must hold for every gRPC host. */
import { DEFAULT_GRPC_HOST, GRPC_HOSTS, type GrpcHostName } from "../../src/api/calls/index.ts";

/** Describes the suite once for each gRPC host. */
export function onEachHost(title: string, specs: (this: Mocha.Suite, host: GrpcHostName) => void): void {
  for (const host of GRPC_HOSTS) {
    describe(host === DEFAULT_GRPC_HOST ? title : `${title} (on ${host})`, function () {
      specs.call(this, host);
    });
  }
}
