/**
 * The contract on a cluster whose members serve gRPC with the fallback library: every entry about the operations and
 * calls once, through one member after the other. Routes of HTTP do not differ.
 */

import { describeContract, testCasesInTurns } from "./contract-specs.ts";
import { calls, operationTables } from "./tables/index.ts";

describeContract(
  "the contract, at a cluster with --grpc-host grpc-js",
  testCasesInTurns([...operationTables, ...calls]),
  { QUOIN_GRPC_HOST: "grpc-js" },
);
