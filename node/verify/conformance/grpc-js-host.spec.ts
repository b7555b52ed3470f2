/**
 * The contract on a cluster whose members serve gRPC with the fallback library: every entry once, through one member
 * after the other.
 */

import { describeContract, testCasesInTurns } from "./contract-specs.ts";
import { tables } from "./tables/index.ts";

describeContract("the contract, at a cluster with --grpc-host grpc-js", testCasesInTurns(tables), {
  QUOIN_GRPC_HOST: "grpc-js",
});
