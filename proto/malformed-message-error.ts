/**
 * The error for bytes that are not a message of the contract. It says what is wrong and, if known, in which field. It
 * never contains a value of the message, because a value may be a secret.
 */

/**
 * - `wire`: the bytes do not follow the protobuf encoding (cut off, an impossible length, tag or group).
 * - `utf8`: a string field is not valid UTF-8.
 * - `int64-range`: an int64 field lies outside ±(2^53 − 1) (rule S17).
 * - `depth`: too many messages lie within each other.
 * - `fields`: there are more fields than a request may have.
 */
export type MalformedMessageProblem = "wire" | "utf8" | "int64-range" | "depth" | "fields";

const DESCRIPTIONS: Readonly<Record<MalformedMessageProblem, string>> = {
  wire: "is cut off or malformed",
  utf8: "is not valid UTF-8",
  "int64-range": "is outside ±(2^53 - 1)",
  depth: "lies within too many messages",
  fields: "has too many fields",
};

/** Thrown by decodeRequest; the API answers it as INVALID_ARGUMENT / BAD_FIELD. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
  /** Full name of the message, such as `coordination.v1.PutKeyRequest`. */
  readonly typeName: string;
  readonly problem: MalformedMessageProblem;
  /** Path of the field in its protobuf names, such as `guard.lock_name`; undefined when no single field is wrong. */
  readonly field: string | undefined;

  constructor(typeName: string, problem: MalformedMessageProblem, field: string | undefined) {
    super(field === undefined ? `the message ${DESCRIPTIONS[problem]}` : `field ${field} ${DESCRIPTIONS[problem]}`);
    this.typeName = typeName;
    this.problem = problem;
    this.field = field;
  }
}
