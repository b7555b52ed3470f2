/**
 * The contract on a cluster like users start it, beyond `conformance.spec.ts`: the entries that are not in it, and those
 * about operations once more, over HTTP with JSON and at the next member. So each of these entries meets a follower.
 */

import { describeContract, MEMBERS, testCasesInTurns } from "./contract-specs.ts";
import { accountTables, operationTables, tables } from "./tables/index.ts";

const slow = tables.filter((table) => table.alone === true || accountTables.includes(table));
const quick = tables.filter((table) => !slow.includes(table));
const overHttp = testCasesInTurns(quick)
  .filter(({ table }) => operationTables.includes(table))
  .map((testCase) => ({ ...testCase, member: (testCase.member + 1) % MEMBERS, protocol: "connect" as const }));

describeContract("the contract, at another member", [...testCasesInTurns(slow), ...overHttp]);
