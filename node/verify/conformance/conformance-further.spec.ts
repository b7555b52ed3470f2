/**
 * The contract on a cluster like users start it, beyond `conformance.spec.ts`: its entries through the other members,
 * the entries that are not in it, and those about operations once more over HTTP with JSON, through one member after the
 * other.
 */

import { describeContract, MEMBERS, testCasesInTurns } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { accountTables, operationTables, tables } from "./tables/index.ts";

const slow = tables.filter((table) => table.alone === true || accountTables.includes(table));
const quick = tables.filter((table) => !slow.includes(table));
const others = testCasesOf(quick, MEMBERS).filter(({ member }, at) => member !== Math.floor(at / MEMBERS) % MEMBERS);
const overHttp = testCasesInTurns(
  operationTables.filter((table) => !slow.includes(table)),
  "connect",
);

describeContract("the contract, at the other members", [...others, ...testCasesInTurns(slow), ...overHttp]);
