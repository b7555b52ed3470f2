import { MUTANTS } from "./catalogue.ts";
import { describeKilled } from "./killed-specs.ts";

describeKilled("the killer in the record, further", MUTANTS.slice(MUTANTS.length / 2));
