/** What the pages have in common. */

export { NamespacePicker, useNamespace } from "./namespace.tsx";
export { PageHead } from "./page-head.tsx";
export type { PageProps } from "./page-props.ts";
export { SessionLink } from "./session-link.tsx";
