/** Kubernetes objects as they are on the wire: the client library's types, but with times as text. */
import type { V1ObjectMeta } from "@kubernetes/client-node";

export type Wire<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? Wire<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Wire<Value[Key]> }
      : Value;

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Wire<V1ObjectMeta>;
}

/** A list, or one page of it. */
export interface KubeList<Item> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly Item[];
}

/**
 * A line of a watch. In a bookmark only the resource version counts; an error carries a Status instead of an object.
 */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject & { readonly code?: number; readonly message?: string };
}
