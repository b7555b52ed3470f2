/**
 * The contract on a cluster like users start it, beyond `conformance.spec.ts`: its entries through the other members,
 * those that must run alone, and those about operations once more over HTTP with JSON, through one member after the
 * other.
 */

import { describeContract, MEMBERS, testCasesInTurns } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { operationTables, tables } from "./tables/index.ts";

const alone = tables.filter((table) => table.alone === true);
const together = tables.filter((table) => !alone.includes(table));
const others = testCasesOf(together, MEMBERS).filter(({ member }, at) => member !== Math.floor(at / MEMBERS) % MEMBERS);
const overHttp = testCasesInTurns(
  operationTables.filter((table) => !alone.includes(table)),
  "connect",
);

describeContract("the contract, at the other members", [...others, ...testCasesInTurns(alone), ...overHttp]);
