export type { DeleteNamespace, DeleteNamespaceResult } from "./namespace-deletion.ts";
export { deleteNamespaceOperation, eraseNamespacesOperation, hasNamespaceErasures } from "./namespace-deletion.ts";
