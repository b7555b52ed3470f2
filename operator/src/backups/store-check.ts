/**
 * Checks whether members can use a store: its Secrets exist and have valid contents. It does not talk to the store:
 * only members find out, for example, that a bucket is missing. Messages never contain values from a Secret.
 */
import { X509Certificate } from "node:crypto";
import type { V1Secret } from "@kubernetes/client-node";
import { BackupError, parseKeys } from "@quoin/backup";
import type { CoordinationBackupStore } from "../generated/coordination-backup-store.ts";
import { isKubeError, type Reads, type Wire } from "../kube/index.ts";
import { CA_FILE, CREDENTIALS_FILE, KEYS_FILE } from "../render/index.ts";

export interface StoreProblem {
  readonly reason: string;
  readonly message: string;
}

interface SecretUse {
  /** The field that names the Secret. */
  readonly field: string;
  readonly reference: { readonly name: string } | undefined;
  /** Key that the Secret must have. */
  readonly key: string;
  readonly judge: (content: Buffer, where: string) => StoreProblem | null;
}

/**
 * @returns the first problem; null if there is none
 * @throws KubeError
 */
export async function storeProblemOf(reads: Reads, store: CoordinationBackupStore): Promise<StoreProblem | null> {
  const { directory, s3, encryption } = store.spec;
  const namespace = store.metadata.namespace ?? "default";
  const uses: SecretUse[] = [
    {
      field: "spec.encryption.keysSecretRef",
      reference: encryption?.keysSecretRef,
      key: KEYS_FILE,
      judge: judgeKeys,
    },
    {
      field: "spec.s3.credentialsSecretRef",
      reference: s3?.credentialsSecretRef,
      key: CREDENTIALS_FILE,
      judge: judgeCredentials,
    },
    { field: "spec.s3.caSecretRef", reference: s3?.caSecretRef, key: CA_FILE, judge: judgeAuthorities },
  ];
  if (directory !== undefined) {
    const claim = await reads.get({ kind: "PersistentVolumeClaim", namespace, name: directory.claimName });
    if (claim === null) {
      const message = `spec.directory.claimName: there is no PersistentVolumeClaim ${directory.claimName}: create it`;
      return { reason: "ClaimMissing", message };
    }
  }
  for (const use of uses) {
    const problem = await problemOf(reads, namespace, use);
    if (problem !== null) {
      return problem;
    }
  }
  return null;
}

async function problemOf(reads: Reads, namespace: string, use: SecretUse): Promise<StoreProblem | null> {
  const { field, reference, key, judge } = use;
  if (reference === undefined) {
    return null;
  }
  const where = `${key} of Secret ${reference.name}`;
  try {
    const secret = await reads.get<Wire<V1Secret>>({ kind: "Secret", namespace, name: reference.name });
    if (secret === null) {
      return {
        reason: "SecretMissing",
        message: `${field}: there is no Secret ${reference.name}: create it, with ${key}`,
      };
    }
    const content = secret.data?.[key];
    return content === undefined
      ? { reason: "SecretIncomplete", message: `${field}: Secret ${reference.name} has no ${key}: add it` }
      : judge(Buffer.from(content, "base64"), where);
  } catch (error) {
    if (!isKubeError(error, "forbidden")) {
      throw error;
    }
    return { reason: "SecretUnreadable", message: `${field}: the operator may not read Secret ${reference.name}` };
  }
}

function judgeKeys(content: Buffer, where: string): StoreProblem | null {
  try {
    parseKeys(content, where);
    return null;
  } catch (error) {
    if (!(error instanceof BackupError)) {
      throw error;
    }
    return { reason: "KeyMalformed", message: error.message };
  }
}

function judgeCredentials(content: Buffer, where: string): StoreProblem | null {
  const text = content.toString("utf8");
  const missing = ["aws_access_key_id", "aws_secret_access_key"].find((name) => !hasValue(text, name));
  const message = `${where} has no ${missing}: write it as an AWS credentials file with a section [default]`;
  return missing === undefined ? null : { reason: "CredentialsMalformed", message };
}

function hasValue(text: string, name: string): boolean {
  return text.split("\n").some((line) => {
    const [left = "", right = ""] = line.split("=", 2);
    return left.trim().toLowerCase() === name && right.trim() !== "";
  });
}

function judgeAuthorities(content: Buffer, where: string): StoreProblem | null {
  try {
    new X509Certificate(content);
    return null;
  } catch {
    return { reason: "CaMalformed", message: `${where} is not a PEM certificate` };
  }
}
