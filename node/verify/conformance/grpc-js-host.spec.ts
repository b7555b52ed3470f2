/**
 * The contract on a cluster whose members serve gRPC with the fallback library: every entry once, through one member
 * after the other.
 */

import { describeContract, MEMBERS } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { tables } from "./tables/index.ts";

const testCases = testCasesOf(tables, 1).map((testCase, at) => ({ ...testCase, member: at % MEMBERS }));

describeContract("the contract, at a cluster with --grpc-host grpc-js", testCases, { QUOIN_GRPC_HOST: "grpc-js" });
