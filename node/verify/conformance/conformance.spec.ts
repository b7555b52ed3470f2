/**
 * The contract on a cluster like users start it: every entry once, through one member after the other. Entries that must
 * run alone, most of which wait, and those about accounts are in `conformance-further.spec.ts`.
 */

import { describeContract, testCasesInTurns } from "./contract-specs.ts";
import { accountTables, tables } from "./tables/index.ts";

const quick = tables.filter((table) => table.alone !== true && !accountTables.includes(table));

describeContract("the contract, at a cluster of three members", testCasesInTurns(quick));
