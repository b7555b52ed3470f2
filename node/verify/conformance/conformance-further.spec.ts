/**
 * The contract on a cluster like users start it, beyond `conformance.spec.ts`: its entries through the next member, the
 * entries that are not in it, and those about operations once more over HTTP with JSON, through one member after the
 * other. So each entry meets a follower, and each method meets all members several times.
 */

import { describeContract, MEMBERS, testCasesInTurns } from "./contract-specs.ts";
import { accountTables, operationTables, tables } from "./tables/index.ts";

const slow = tables.filter((table) => table.alone === true || accountTables.includes(table));
const quick = tables.filter((table) => !slow.includes(table));
const again = testCasesInTurns(quick).map((testCase) => ({ ...testCase, member: (testCase.member + 1) % MEMBERS }));
const overHttp = testCasesInTurns(
  operationTables.filter((table) => !slow.includes(table)),
  "connect",
);

describeContract("the contract, at another member", [...again, ...testCasesInTurns(slow), ...overHttp]);
