import { CoordinationError } from "../state/index.ts";

/** The refusal of a field; `problem` is a predicate such as "must be an e-mail address". */
export function badField(field: string, problem: string): CoordinationError {
  return new CoordinationError("BAD_FIELD", `${field} ${problem}`, { details: new Map([["field", field]]) });
}
