/**
 * The contract on a cluster like users start it: every entry through every member, and those about operations once more
 * over HTTP with JSON, through one member after the other.
 */

import { describeContract, MEMBERS } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { operationTables, tables } from "./tables/index.ts";

const overHttp = testCasesOf(operationTables, 1, "connect").map((testCase, at) => ({
  ...testCase,
  member: at % MEMBERS,
}));

describeContract("the contract, at a cluster of three members", [...testCasesOf(tables, MEMBERS), ...overHttp]);
