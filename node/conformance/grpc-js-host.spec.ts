/**
 * The contract on a cluster whose members serve gRPC with the fallback library: every entry once, through one member
 * after the other.
 */

import { describeContract, MEMBERS } from "./contract-specs.ts";
import { trialsOf } from "./run.ts";
import { tables } from "./tables/index.ts";

const trials = trialsOf(tables, 1).map((trial, at) => ({ ...trial, member: at % MEMBERS }));

describeContract("the contract, at a cluster with --grpc-host grpc-js", trials, { QUOIN_GRPC_HOST: "grpc-js" });
