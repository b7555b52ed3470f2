/**
 * Everything that the console draws goes through `shownText`, because nearly every text may contain a name: of a key, a
 * lock, a holder, a user. Values are the exception: an element with a value is a `pre`, a `textarea`, or has the
 * attribute `data-value`.
 */

import { type ComponentChildren, Fragment, options, type VNode } from "preact";
import { shownText } from "../text/index.ts";

const VALUES: ReadonlySet<unknown> = new Set(["pre", "textarea"]);
/** Attributes that people read or hear. */
const SHOWN_ATTRIBUTES = ["title", "aria-label", "placeholder"];

type Properties = Record<string, unknown> & { children?: ComponentChildren };

/** Lets every element that is made from now on show its texts with escapes. Call it once, before anything is drawn. */
export function showNamesEscaped(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    escapeTexts(node as VNode<Properties>);
    before?.(node);
  };
}

function escapeTexts({ type, props }: VNode<Properties>): void {
  const isElement = typeof type === "string";
  if (!(isElement || type === Fragment) || VALUES.has(type) || props["data-value"] !== undefined) {
    return;
  }
  if (props.children !== undefined) {
    props.children = escaped(props.children);
  }
  for (const name of isElement ? SHOWN_ATTRIBUTES : []) {
    const text = props[name];
    if (typeof text === "string") {
      props[name] = shownText(text);
    }
  }
}

function escaped(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") {
    return shownText(children);
  }
  return Array.isArray(children) ? children.map(escaped) : children;
}
