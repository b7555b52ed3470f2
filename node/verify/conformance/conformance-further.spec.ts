/**
 * The contract on a cluster like users start it, beyond `conformance.spec.ts`: every entry through the other members,
 * and those about operations once more over HTTP with JSON, through one member after the other.
 */

import { describeContract, MEMBERS, testCasesInTurns } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { operationTables, tables } from "./tables/index.ts";

const others = testCasesOf(tables, MEMBERS).filter(({ member }, at) => member !== Math.floor(at / MEMBERS) % MEMBERS);

describeContract("the contract, at the other members", [...others, ...testCasesInTurns(operationTables, "connect")]);
