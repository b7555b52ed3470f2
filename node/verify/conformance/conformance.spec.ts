/**
 * The contract on a cluster like users start it: every entry once, through one member after the other. Entries that must
 * run alone, most of which wait, are in `conformance-further.spec.ts`.
 */

import { describeContract, testCasesInTurns } from "./contract-specs.ts";
import { tables } from "./tables/index.ts";

const together = tables.filter(({ alone }) => alone !== true);

describeContract("the contract, at a cluster of three members", testCasesInTurns(together));
