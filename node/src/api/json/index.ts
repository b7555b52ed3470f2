/** Messages of the contract in JSON, by the proto3 JSON mapping. This folder does not depend on HTTP. */

export { decodeJson, fromJsonObject } from "./decode-json.ts";
export { encodeJson } from "./encode-json.ts";
export { contractRegistry, type FieldPlan, type MessagePlan, messagePlan, textName } from "./message-plan.ts";
export { parseBounded } from "./parse-bounded.ts";
