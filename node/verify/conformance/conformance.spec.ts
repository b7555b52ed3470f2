/** The contract on a cluster like users start it: every entry once, through one member after the other. */

import { describeContract, testCasesInTurns } from "./contract-specs.ts";
import { tables } from "./tables/index.ts";

describeContract("the contract, at a cluster of three members", testCasesInTurns(tables));
