import { MUTANTS } from "./catalogue.ts";
import { describeKilled } from "./killed-specs.ts";

describeKilled("the killer in the record", MUTANTS.slice(0, MUTANTS.length / 2));
