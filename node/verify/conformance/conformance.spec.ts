/** The contract on a cluster like users start it: every entry through every member. */

import { describeContract, MEMBERS } from "./contract-specs.ts";
import { testCasesOf } from "./run.ts";
import { tables } from "./tables/index.ts";

describeContract("the contract, at a cluster of three members", testCasesOf(tables, MEMBERS));
