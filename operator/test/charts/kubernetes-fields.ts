/**
 * The fields that Kubernetes knows, from the models of its client, which are generated from the API server's own
 * description.
 */
import * as models from "@kubernetes/client-node";

interface Model {
  getAttributeTypeMap(): readonly { readonly baseName: string; readonly type: string }[];
}

const CLASSES: ReadonlyMap<string, unknown> = new Map(Object.entries(models));
/** Kubernetes' own groups, by version. */
const BUILT_IN =
  /^(v1|(apps|policy|batch)\/v1|(rbac\.authorization|networking|storage|events|coordination|apiextensions)\.k8s\.io\/v1)$/;

function modelOf(name: string): Model | null {
  const found = CLASSES.get(name);
  return typeof found === "function" && "getAttributeTypeMap" in found ? (found as unknown as Model) : null;
}

/** @returns paths of fields that Kubernetes does not know; null if it is not one of Kubernetes' own kinds */
export function unknownFields(object: { readonly apiVersion: string; readonly kind: string }): string[] | null {
  if (!BUILT_IN.test(object.apiVersion)) {
    return null;
  }
  const name = `V1${object.kind}`;
  return modelOf(name) === null ? [`kind ${object.kind}`] : [...unknownFieldsIn(object, name, "")];
}

function* unknownFieldsIn(value: unknown, type: string, at: string): Generator<string> {
  const element = /^Array<(.+)>$/.exec(type)?.[1];
  if (element !== undefined) {
    for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
      yield* unknownFieldsIn(item, element, `${at}[${index}]`);
    }
    return;
  }
  const fields = modelOf(type)?.getAttributeTypeMap();
  if (fields === undefined) {
    return;
  }
  if (typeof value !== "object" || value === null) {
    yield `${at} is no ${type}`;
    return;
  }
  for (const [name, child] of Object.entries(value)) {
    const field = fields.find(({ baseName }) => baseName === name);
    if (field === undefined) {
      yield `${at}.${name}`;
    } else {
      yield* unknownFieldsIn(child, field.type, `${at}.${name}`);
    }
  }
}
