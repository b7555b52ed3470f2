/**
 * An operation of the state machine as one value, beside the function that applies it: its kind and number, its fields,
 * the access that it needs, what it counts as, and how its answer is stored. Encoding, dispatch, rights and usage follow.
 */

import type { ApplyContext } from "./apply-context.ts";
import { CLUSTER_VERSIONS } from "./cluster.ts";
import { count, type Field, type FieldsOf, recordOf } from "./fields.ts";
import type { AnswerForm, Outcome } from "./outcome.ts";
import type { Access, Principal, RequestIdentity, RequiredAccess } from "./principal.ts";
import type { RecordReader } from "./record.ts";
import type { Result, StoredResult } from "./results.ts";
import type { Steps } from "./steps.ts";
import type { StateReader } from "./store.ts";
import { ONE_REQUEST, type UsageCounts } from "./usage-counts.ts";

interface Kind {
  readonly kind: string;
}

/** How an operation is divided that may take longer than one turn. */
interface Division<Asked> {
  /** Reads the fields. Absent from a definition whose fields are few. */
  readonly read: (reader: RecordReader) => Steps<Asked>;
  /** Whether few bytes can be much work. */
  readonly isHidden: boolean;
}

/** What the author of an operation writes, besides what depends on its caller. */
interface Definition<Asked extends Kind> {
  readonly kind: Asked["kind"];
  /** In entries of the log. No other operation ever has it. */
  readonly number: number;
  /** The fields besides the kind, in the order in which they are encoded. */
  readonly fields: FieldsOf<Omit<Asked, "kind">> | Field<Asked>;
  /** Absent if it never takes longer than one turn of the event loop should (S44). */
  readonly division?: Pick<Division<Asked>, "isHidden"> & Partial<Division<Asked>>;
  /**
   * Whether it may make the state larger; absent = no. Members refuse such operations while the disk is nearly full
   * (P45).
   */
  readonly grows?: true | ((operation: Asked) => boolean);
  /** Rows that apply needs more than for most operations, as far as the state shows now; absent = none. */
  readonly rows?: (reader: StateReader, operation: Asked) => number;
}

/** How an answer is stored for retries. */
interface StoredForm<Applied extends StoredResult> {
  /** In stored answers. No other answer ever has it. */
  readonly number: number;
  /** The fields besides the kind and the revision. */
  readonly fields: FieldsOf<Omit<Applied, "kind" | "revision">>;
  /** The answer without the values in it, if it has any: one that is too large is stored so. */
  readonly withoutValues?: (answer: Applied) => Applied;
}

/** An operation, as far as it is the same for all callers. */
export interface OperationKind<Asked extends Kind> {
  readonly kind: Asked["kind"];
  readonly number: number;
  readonly field: Field<Asked>;
  /** Null if it is always decoded at once, and applied at once. */
  readonly division: Division<Asked> | null;
  readonly grows: (operation: Asked) => boolean;
  readonly rows: (reader: StateReader, operation: Asked) => number;
  /** Null if its answer is not stored. */
  readonly answer: AnswerForm | null;
}

/** An operation of a client. */
export interface ClientOperationKind<Asked extends Kind> extends OperationKind<Asked> {
  readonly caller: "client";
  /**
   * Whether a request may lack an id, as those by the older routes of HTTP do. Without one it runs again if it is sent
   * again, unless it recognises that itself.
   */
  readonly mayLackId: boolean;
  /** All that the caller needs; null = only a valid principal. */
  readonly accesses: (operation: Asked, principal: Principal) => readonly (RequiredAccess | null)[];
  /** The operation without what its member made for it: the same in every attempt of a request. */
  readonly asked: (operation: Asked) => Asked;
  readonly usage: (result: Result) => UsageCounts;
  /** The cluster version since which members propose it. */
  readonly since: number;
  /** Returns the result, perhaps in steps; raises the refusal. */
  readonly apply: (context: ApplyContext, operation: Asked, principal: Principal) => StoredResult | Steps<StoredResult>;
  /**
   * Applies a request whose retries continue where it is instead of getting a stored answer, and returns the outcome;
   * null for any other.
   */
  readonly applyRequest: ((context: ApplyContext, command: AskedBy<Asked>) => Outcome) | null;
}

/** An operation of a client that needs one kind of access in its namespace. */
export interface NamespacedOperationKind<Asked extends Kind> extends ClientOperationKind<Asked> {
  readonly access: Access;
}

/** An operation that the cluster proposes itself: its leader, a member about itself, or a member for others. */
export interface ClusterOperationKind<Asked extends Kind> extends OperationKind<Asked> {
  readonly caller: "cluster";
  /** Whether someone waits for the outcome; then refusals are answers. */
  readonly isAnswered: boolean;
  /** Returns the result; null, perhaps in steps, if no one waits for it. */
  readonly apply: (context: ApplyContext, operation: Asked) => Result | null | Steps<null>;
}

/** A request and who sent it. */
export interface AskedBy<Asked extends Kind> {
  readonly principal: Principal;
  readonly request: RequestIdentity;
  readonly operation: Asked;
}

/** The operation that the value describes. */
export type OperationOf<Of extends { readonly field: Field<unknown> }> = ReturnType<Of["field"]["read"]>;

interface Namespaced extends Kind {
  readonly namespace: string;
}

/** What operations in a namespace have that are executed once. */
interface AnsweredDefinition<Asked extends Kind, Applied extends StoredResult> extends Definition<Asked> {
  /** Absent if every cluster version that this release can run has it. */
  readonly since?: number;
  readonly answer: StoredForm<Applied>;
  readonly apply: (context: ApplyContext, operation: Asked, principal: Principal) => Applied | Steps<Applied>;
}

/** @param definition with the access that it needs in its namespace, and what each answer counts as. */
export function clientOperation<Asked extends Namespaced, Applied extends StoredResult>(
  definition: AnsweredDefinition<Asked, Applied> & { readonly access: Access; readonly usage: UsageCounts },
): NamespacedOperationKind<Asked> {
  const { access, usage } = definition;
  return { ...operationByContent({ ...definition, accessOf: () => access, usageOf: () => usage }), access };
}

/** The same if the access depends on the fields of the operation, or what an answer counts as on the answer. */
export function operationByContent<Asked extends Namespaced, Applied extends StoredResult>(
  definition: AnsweredDefinition<Asked, Applied> & {
    readonly accessOf: (operation: Asked) => Access;
    readonly usageOf: (result: Applied) => UsageCounts;
  },
): ClientOperationKind<Asked> {
  const { since = CLUSTER_VERSIONS.min, apply } = definition;
  const answer = answerForm(definition.kind as Applied["kind"], definition.answer);
  return { ...shared(definition), ...inNamespace(definition), since, answer, apply, applyRequest: null };
}

/** The same for a request whose retries continue where it is. */
export function continuedOperation<Asked extends Namespaced>(
  definition: Definition<Asked> & {
    readonly access: Access;
    readonly usage: UsageCounts;
    readonly applyRequest: (context: ApplyContext, command: AskedBy<Asked>) => Outcome;
  },
): NamespacedOperationKind<Asked> {
  const apply = (): never => {
    throw new TypeError("a request that continues is applied as a request");
  };
  const since = CLUSTER_VERSIONS.min;
  const { access, usage, applyRequest } = definition;
  const inOne = inNamespace<Asked, StoredResult>({ accessOf: () => access, usageOf: () => usage });
  return { ...shared(definition), ...inOne, access, since, answer: null, apply, applyRequest };
}

/** What follows from the access in a namespace. */
function inNamespace<Asked extends Namespaced, Applied extends StoredResult>({
  accessOf,
  usageOf,
}: {
  readonly accessOf: (operation: Asked) => Access;
  readonly usageOf: (result: Applied) => UsageCounts;
}) {
  return {
    caller: "client",
    mayLackId: false,
    accesses: (operation: Asked) => [{ access: accessOf(operation), namespace: operation.namespace }],
    asked: (operation: Asked) => operation,
    usage: usageOf as (result: Result) => UsageCounts,
  } as const;
}

/** An operation of a client whose requests may lack an id. What it needs depends on its fields and its caller. */
export function operationWithOptionalId<Asked extends Kind, Applied extends StoredResult>(
  definition: Definition<Asked> & {
    readonly accesses: ClientOperationKind<Asked>["accesses"];
    /** What an answer counts as; absent = one request. */
    readonly usage?: (result: Applied) => UsageCounts;
    readonly answer: StoredForm<Applied>;
    /** Absent if its member makes nothing for it. */
    readonly asked?: ClientOperationKind<Asked>["asked"];
    readonly apply: (context: ApplyContext, operation: Asked, principal: Principal) => Applied | Steps<Applied>;
  },
): ClientOperationKind<Asked> {
  const { accesses, apply, usage = () => ONE_REQUEST, asked = (operation) => operation } = definition;
  return {
    ...shared(definition),
    caller: "client",
    mayLackId: true,
    accesses,
    asked,
    since: CLUSTER_VERSIONS.min,
    answer: answerForm(definition.kind as Applied["kind"], definition.answer),
    usage: usage as (result: Result) => UsageCounts,
    apply,
    applyRequest: null,
  };
}

/** An operation for which someone waits. */
export function clusterOperation<Asked extends Kind, Applied extends Result>(
  definition: Definition<Asked> & {
    /** Absent if its answer is not stored. */
    readonly answer?: StoredForm<Extract<Applied, StoredResult>>;
    readonly apply: (context: ApplyContext, operation: Asked) => Applied;
  },
): ClusterOperationKind<Asked> {
  const { kind, apply, answer } = definition;
  const form = answer === undefined ? null : answerForm(kind as Extract<Applied, StoredResult>["kind"], answer);
  return { ...shared(definition), caller: "cluster", isAnswered: true, answer: form, apply };
}

/** A step that the cluster makes by itself. It is never refused. */
export function clusterStep<Asked extends Kind>(
  definition: Definition<Asked> & { readonly apply: (context: ApplyContext, operation: Asked) => void },
): ClusterOperationKind<Asked> {
  const apply = (context: ApplyContext, operation: Asked): null => {
    definition.apply(context, operation);
    return null;
  };
  return { ...shared(definition), caller: "cluster", isAnswered: false, apply };
}

/** The same for one that may pause. */
export function pausingClusterStep<Asked extends Kind>(
  definition: Definition<Asked> & { readonly apply: (context: ApplyContext, operation: Asked) => Steps<null> },
): ClusterOperationKind<Asked> {
  const { apply } = definition;
  return { ...shared({ ...definition, division: { isHidden: true } }), caller: "cluster", isAnswered: false, apply };
}

export function answerForm<Applied extends StoredResult>(
  kind: Applied["kind"],
  { number, fields, withoutValues = (answer) => answer }: StoredForm<Applied>,
): AnswerForm {
  const all = { revision: count, ...fields } as unknown as FieldsOf<Omit<Applied, "kind">>;
  return {
    kind,
    number,
    field: recordOf<Applied, Kind>(all, { kind }) as unknown as Field<StoredResult>,
    withoutValues,
  };
}

function shared<Asked extends Kind>(definition: Definition<Asked>) {
  const { kind, number, fields, grows, rows = () => 0 } = definition;
  const field = isField(fields) ? fields : recordOf<Asked, Kind>(fields, { kind });
  const division = definition.division === undefined ? null : { read: readAtOnce(field), ...definition.division };
  const canGrow = typeof grows === "function" ? grows : () => grows === true;
  return { kind, number, field, division, rows, grows: canGrow, answer: null };
}

function readAtOnce<Asked>(field: Field<Asked>): Division<Asked>["read"] {
  // biome-ignore lint/correctness/useYield: few fields are read within one step.
  return function* (reader) {
    return field.read(reader);
  };
}

function isField<Asked extends Kind>(fields: Definition<Asked>["fields"]): fields is Field<Asked> {
  return "read" in fields && typeof fields.read === "function";
}
